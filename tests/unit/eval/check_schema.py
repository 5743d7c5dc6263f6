#!/usr/bin/env python3
"""Checks results.json of a small evaluation against docs/eval.schema.json. Arguments: program, source
folder. Exit 77: python3-jsonschema is absent."""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: install python3-jsonschema to check documents against their schemas")
    sys.exit(77)

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
schema = json.loads((source / "docs" / "eval.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
with tempfile.TemporaryDirectory() as scratch:
    subprocess.run([program, "eval", "quick", "--filter", "ranks=8,magnitude=0|20", "--limit", "6", "--quiet",
                    "--output", scratch], check=True)
    document = json.loads((pathlib.Path(scratch) / "results.json").read_text())
found = [f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(document)]
# A schema that accepts everything proves nothing.
for key in document:
    if validator.is_valid({k: v for k, v in document.items() if k != key}):
        found.append(f"the schema does not miss {key}")
if validator.is_valid({**document, "unknownKey": 1}):
    found.append("the schema accepts unknown keys")
print("\n".join(found))
sys.exit(1 if found else 0)
