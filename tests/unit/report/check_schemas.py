#!/usr/bin/env python3
"""Checks the documents that the unit tests of src/report left, and those of a run, against the JSON
Schemas in docs/. Exit 77: python3-jsonschema is absent."""

import argparse
import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: install python3-jsonschema to check documents against their schemas")
    sys.exit(77)

KINDS = ("verdict", "perception")
RUNS_MAX = 3  # a run takes a second or more under a sanitizer
OUR_KEY = "schemaVersion"


def load_validators(docs):
    validators = {}
    for kind in KINDS:
        schema = json.loads((docs / f"{kind}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[kind] = jsonschema.Draft202012Validator(schema)
    return validators


def faults(validator, document, name):
    found = []
    for error in validator.iter_errors(document):
        where = "/".join(str(part) for part in error.absolute_path)
        found.append(f"{name}: at /{where}: {error.message[:200]}")
    return found


def refuses_damage(validator, document, name):
    """A schema that accepts everything proves nothing: each key must be missed and each type checked."""
    found = []
    for key in document:
        damaged = {k: v for k, v in document.items() if k != key}
        if key != OUR_KEY and validator.is_valid(damaged):
            found.append(f"{name}: the schema does not miss {key}")
        damaged = copy.deepcopy(document)
        damaged[key] = {"no": "such value"}
        if validator.is_valid(damaged):
            found.append(f"{name}: the schema accepts any type for {key}")
    if validator.is_valid({**document, "unknownKey": 1}):
        found.append(f"{name}: the schema accepts unknown keys")
    return found


def property_names(schema):
    """Names of all properties that a schema knows, at any depth."""
    names, rest = set(), [schema]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            names.update(part.get("properties", {}))
            rest.extend(part.values())
        elif isinstance(part, list):
            rest.extend(part)
    return names


def check_manual(validators, docs):
    manual = (docs / "operations" / "verdict.md").read_text()
    found = []
    for kind, validator in validators.items():
        for name in sorted(property_names(validator.schema)):
            if f"`{name}`" not in manual:
                found.append(f"docs/operations/verdict.md does not explain {name} of {kind}.schema.json")
    return found


def check_samples(validators, samples):
    found, n_checked = [], 0
    for path in sorted(samples.glob("*.json")):
        kind = path.name.split(".")[-2]
        document = json.loads(path.read_text())
        found += faults(validators[kind], document, path.name)
        found += refuses_damage(validators[kind], document, path.name)
        n_checked += 1
    if n_checked == 0:
        found.append(f"no samples in {samples}: run the unit tests of src/report first")
    return found, n_checked


def check_reference(validators, shared):
    """What the reference engine wrote must be acceptable too: its keys, types and order are kept."""
    found, n_checked = [], 0
    for path in sorted(shared.glob("data/cases/*/expected_*.json")):
        answer = json.loads(path.read_text())
        for part, kind in (("verdict", "verdict"), ("perception", "perception")):
            document = answer.get(part)
            if not document:
                continue
            if part == "verdict":  # the reference's answers were stored without the time of writing
                document["timestamp"] = 0
            found += faults(validators[kind], document, f"{path.parent.name}/{path.name}")
            n_checked += 1
    return found, n_checked


def run_cases(source, shared):
    bundled = sorted(source.glob("datasets/**/model_config.json"))
    cases = sorted(shared.glob("data/cases/*/model_config.json"))
    return (bundled + cases)[:RUNS_MAX]


def check_run(validators, program, config):
    """Runs on a copy: a run must not write into its inputs, and if it does, not into ours."""
    name = config.parent.name
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "tree"
        shutil.copytree(config.parent, tree, copy_function=shutil.copyfile)
        for folder, _, _ in os.walk(tree):
            os.chmod(folder, 0o755)
        truth = tree / "truth.json"
        command = [program, "--config", tree / "model_config.json", "--format", "json"]
        command += ["--output", pathlib.Path(scratch) / "out"]
        if truth.exists():
            command += ["--now", str(json.loads(truth.read_text())["now_ns"])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            return [f"{name}: exit {done.returncode}: {done.stderr[-500:]}"]
        both = json.loads(done.stdout)
        found = []
        for part, kind in (("perception", "perception"), ("localisation", "verdict")):
            if both[part] is not None:
                found += faults(validators[kind], both[part], f"{name}: {part}")
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--samples", type=pathlib.Path, required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path)
    options = parser.parse_args()
    validators = load_validators(options.source / "docs")
    found = check_manual(validators, options.source / "docs")
    more, n_samples = check_samples(validators, options.samples)
    found += more
    more, n_reference = check_reference(validators, options.shared)
    found += more
    n_runs = 0
    if options.program and options.program.exists():
        for config in run_cases(options.source, options.shared):
            found += check_run(validators, options.program, config)
            n_runs += 1
    print(f"checked: samples={n_samples}, reference documents={n_reference}, runs={n_runs}")
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
