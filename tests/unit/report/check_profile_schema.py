#!/usr/bin/env python3
"""Checks results of failslow profile against docs/profile.schema.json. Arguments: program, source folder. Exit 77:
python3-jsonschema is absent."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: install python3-jsonschema to check documents against their schemas")
    sys.exit(77)

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
bundled = source / "datasets" / "profile" / "slow_rank"
found = []


def load_schema():
    """The verdict's keys are those of the other schema: its parts are put in, for validators that open no files."""
    schema = json.loads((source / "docs" / "profile.schema.json").read_text())
    other = json.loads((source / "docs" / "verdict.schema.json").read_text())
    schema["$defs"] = other["$defs"]
    keys = schema["properties"]["verdict"]["properties"]
    for key, value in keys.items():
        if value.get("$ref") == f"verdict.schema.json#/properties/{key}":
            keys[key] = other["properties"][key]
    return schema


schema = load_schema()
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)


def result_of(*words):
    done = subprocess.run([program, "profile", *map(str, words), "--format", "json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def check(name, document):
    for error in validator.iter_errors(document):
        found.append(f"{name}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")


def refuses_damage(document):
    """A schema that accepts everything proves nothing: what is left out or added is found."""
    parts = [document, document["verdict"], document["coverage"], document["engine"]]
    parts += [document[key][0] for key in ("ranks", "steps", "stages", "groups", "findings", "files")]
    parts += [document["verdict"]["culprits"][0], document["ranks"][0]["place"]]
    optional = {"peer", "stage", "untilStep"}  # of a culprit
    for part in parts:
        for key in [k for k in part if not (part is parts[-2] and k in optional)]:
            value = part.pop(key)
            if validator.is_valid(document):
                found.append(f"the schema does not miss {key}")
            part[key] = {"no": "such value"}
            if validator.is_valid(document) and key != "facts":
                found.append(f"the schema accepts any type for {key}")
            part[key] = value
        part["unknownKey"] = 1
        if validator.is_valid(document):
            found.append("the schema accepts unknown keys")
        del part["unknownKey"]


def check_codes():
    """Every code that a judge can tell is explained."""
    text = (source / "docs" / "users" / "profile.md").read_text()
    table = (source / "src" / "judge" / "codes.def").read_text()
    told = re.findall(r'^FINDING_CODE\(\w+, "(\w+)"', table, re.M)
    found.extend(f"docs/users/profile.md does not explain {code}" for code in told if f"`{code}`" not in text)
    if len(told) < 20:
        found.append(f"too few codes were found in codes.def: {told}")


check_codes()
whole = result_of(bundled)
check("whole", whole)
refuses_damage(whole)
check("one rank", result_of(bundled, "--ranks", 3))
with tempfile.TemporaryDirectory() as scratch:
    bare = pathlib.Path(scratch) / "set"
    for folder in bundled.iterdir():
        output = bare / folder.name / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        shutil.copy(folder / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv", output)
    check("steps alone", result_of(bare))
    for file in bare.glob("*/*/step_trace_time.csv"):
        file.write_text(file.read_text()[:250])
    check("cut", result_of(bare))
print("\n".join(found))
sys.exit(1 if found else 0)
