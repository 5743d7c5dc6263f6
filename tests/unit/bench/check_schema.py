#!/usr/bin/env python3
"""Checks the JSON of small benchmarks against docs/bench.schema.json. Arguments: program, source
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
schema = json.loads((source / "docs" / "bench.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
found = []


def measure(*words):
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "bench.json"
        result = subprocess.run([program, "bench", "--size", "1", "--ranks", "2", "--runs", "2", "--dir", scratch,
                                 "--format", "json", "--output", file, *words],
                                check=True, stdout=subprocess.PIPE, text=True)
        written = json.loads(file.read_text())
    if json.loads(result.stdout) != written:
        found.append(f"{words}: --output differs from --format json")
    return written


def check(document, part):
    """A schema that accepts everything proves nothing: what is left out or added is found."""
    found.extend(f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(document))
    for inner in (document, document[part]):
        for key in list(inner):
            value = inner.pop(key)
            if validator.is_valid(document):
                found.append(f"the schema does not miss {key}")
            inner[key] = value
        inner["unknownKey"] = 1
        if validator.is_valid(document):
            found.append("the schema accepts unknown keys")
        del inner["unknownKey"]


check(measure(), "comparison")
check(measure("--scale", "bytes"), "growth")
print("\n".join(found))
sys.exit(1 if found else 0)
