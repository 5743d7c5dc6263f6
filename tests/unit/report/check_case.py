#!/usr/bin/env python3
"""Checks the case of every bundled data set, and of captures that are cut, against docs/case.schema.json.
Arguments: program, source folder. Exit 77: python3-jsonschema is absent."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import referencing
except ImportError:
    print("skipped: install python3-jsonschema to check documents against their schemas")
    sys.exit(77)

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
docs, bundled = source / "docs", source / "datasets" / "profile" / "slow_rank"
found = []


def load_validator():
    names = ("case.schema.json", "verdict.schema.json", "perception.schema.json")
    schemas = {name: json.loads((docs / name).read_text()) for name in names}
    jsonschema.Draft202012Validator.check_schema(schemas[names[0]])
    registry = referencing.Registry().with_resources(
        (name, referencing.Resource.from_contents(schema)) for name, schema in schemas.items())
    return jsonschema.Draft202012Validator(schemas[names[0]], registry=registry)


validator = load_validator()


def case_of(*words):
    command = [program, *map(str, words), "--format", "json"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        found.append(f"{words}: exit code {done.returncode}: {done.stderr[-300:]}")
    return json.loads(done.stdout)


def check(name, case, words):
    for error in validator.iter_errors(case):
        found.append(f"{name}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    total = sum(part["ns"] for part in case["account"])
    if total != case["job"]["spanNs"]:
        found.append(f"{name}: the account sums to {total} ns, not {case['job']['spanNs']}")
    if case["account"] and abs(sum(part["share"] for part in case["account"]) - 1.0) > 1e-3:
        found.append(f"{name}: the shares of the account do not sum to 1")
    if not case["capture"] and case["account"] and case["job"]["spanNs"] != case["job"]["toNs"] - case["job"]["fromNs"]:
        found.append(f"{name}: spanNs is not toNs - fromNs")
    line = subprocess.run([program, *map(str, words), "--format", "line"], check=False, stdout=subprocess.PIPE)
    if line.stdout.decode().rstrip("\n") != case["headline"]:
        found.append(f"{name}: --format line says {line.stdout!r}")


def checked(name, *words):
    case = case_of(*words)
    check(name, case, words)
    return case


def refuses_damage(case, parts):
    """A schema that accepts everything proves nothing: what is left out or added is found."""
    for part, optional in parts:
        for key in [k for k in part if k not in optional]:
            value = part.pop(key)
            if validator.is_valid(case):
                found.append(f"the schema does not miss {key}")
            part[key] = {"no": "such value"}
            if validator.is_valid(case) and key not in ("facts", "process"):
                found.append(f"the schema accepts any type for {key}")
            part[key] = value
        part["unknownKey"] = 1
        if validator.is_valid(case):
            found.append("the schema accepts unknown keys")
        del part["unknownKey"]


def check_damage():
    case = case_of(bundled)
    capture = case["capture"]
    parts = [case, case["job"], case["job"]["sources"][0], case["culprits"][0], case["account"][0], case["losses"][0],
             case["whatIf"][0], case["coverage"], capture]
    parts += [capture[key][0] for key in ("ranks", "steps", "stages", "groups", "files")]
    parts += [capture["ranks"][0]["place"]]
    refuses_damage(case, [(part, ()) for part in parts] + [(case["findings"][0], ("seenSteps", "stepsJudged"))])
    case = case_of(source / "datasets" / "faults" / "hang", "--now", "2025-06-15T16:07:11Z")
    refuses_damage(case, [(case["hang"], ()), (case["engine"], ()), (case["localisation"], ("schemaVersion",))])
    case = case_of(source / "datasets" / "faults" / "slow_rank")
    refuses_damage(case, [(case["ruledOut"][0], ()), (case["replay"], ()), (case["topology"], ())])


def property_names(schema):
    """Names of the properties of the case, at any depth."""
    names, rest = set(), [schema]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            names.update(part.get("properties", {}))
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)
    return names


def check_manuals():
    """Every key of the case, and every code that a judge can tell, is explained."""
    text = (docs / "users" / "case.md").read_text()
    names = property_names(validator.schema)
    found.extend(f"docs/users/case.md does not explain {name}" for name in sorted(names) if f"`{name}`" not in text)
    text = (docs / "users" / "profile.md").read_text()
    table = (source / "src" / "judge" / "codes.def").read_text()
    told = re.findall(r'^FINDING_CODE\(\w+, "(\w+)"', table, re.M)
    found.extend(f"docs/users/profile.md does not explain {code}" for code in told if f"`{code}`" not in text)
    if len(told) < 20:
        found.append(f"too few codes were found in codes.def: {told}")


def check_captures():
    checked("captures", bundled)
    checked("one rank", "profile", bundled, "--ranks", 3)
    with tempfile.TemporaryDirectory() as scratch:
        bare = pathlib.Path(scratch) / "set"
        for folder in bundled.iterdir():
            output = bare / folder.name / "ASCEND_PROFILER_OUTPUT"
            output.mkdir(parents=True)
            shutil.copy(folder / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv", output)
        checked("steps alone", "profile", bare)
        for file in bare.glob("*/*/step_trace_time.csv"):
            file.write_text(file.read_text()[:250])
        checked("cut", "profile", bare)


def check_jobs():
    verdicts = set()
    for truth in sorted(source.glob("datasets/faults/*/truth.json")):
        now = json.loads(truth.read_text())["now_ns"]
        verdicts.add(checked(truth.parent.name, truth.parent, "--now", now)["verdict"])
        case = checked(f"{truth.parent.name} without a present", truth.parent)
        if case["job"]["name"] != truth.parent.name or case["job"]["now"] != case["job"]["to"]:
            found.append(f"{truth.parent.name}: job {case['job']}")
    if len(verdicts) < 4:
        found.append(f"the bundled jobs have too few kinds of verdicts: {verdicts}")


os.environ["TZ"] = "UTC"
check_manuals()
check_damage()
check_captures()
check_jobs()
print("\n".join(found))
sys.exit(1 if found else 0)
