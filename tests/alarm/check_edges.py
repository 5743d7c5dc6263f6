#!/usr/bin/env python3
"""Holds the begin and the end of an incident, as receivers get them, against docs/edge.schema.json.

usage: check_edges.py FAILSLOW DOCS

Exit code 77: python3-jsonschema is absent.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: install python3-jsonschema to check documents against their schemas")
    sys.exit(77)


def edges_of(failslow, folder):
    subprocess.run([failslow, "simulate", folder / "job", "tp=4", "dp=2", "steps=60", "fault=compute ranks=5 factor=1.5"],
                   check=True, stdout=subprocess.DEVNULL)
    (folder / "hook").write_text('#!/bin/sh\n{ cat; echo; } >>edges\n')
    (folder / "hook").chmod(0o755)
    (folder / "model_config.json").write_text(json.dumps({
        "root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
        "hang_forget_hours": 1, "command_hook": ["./hook"]}))
    for now in (1750000100, 1750090000):  # the job is slow, then it has ended
        subprocess.run([failslow, "detect", "--config", "model_config.json", "--now", str(now), "--quiet"], cwd=folder,
                       check=True)
    return [json.loads(line) for line in (folder / "edges").read_text().splitlines()]


def main():
    failslow, docs = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    schema = json.loads((docs / "edge.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    with tempfile.TemporaryDirectory(prefix="failslow-edges-") as folder:
        edges = edges_of(failslow, pathlib.Path(folder))
    assert [edge["edge"] for edge in edges] == ["open", "clear"], edges
    faults = [error.message for edge in edges for error in validator.iter_errors(edge)]
    # A schema that accepts everything proves nothing.
    for key in edges[0]:
        damaged = copy.deepcopy(edges[0])
        damaged[key] = {"no": "such value"}
        if validator.is_valid({k: v for k, v in edges[0].items() if k != key}):
            faults.append(f"the schema does not miss {key}")
        if key != "engine" and validator.is_valid(damaged):
            faults.append(f"the schema accepts any type for {key}")
    if validator.is_valid({**edges[0], "unknownKey": 1}):
        faults.append("the schema accepts unknown keys")
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
