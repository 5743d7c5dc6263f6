#!/usr/bin/env python3
"""Holds the begin and the end of an incident, as receivers get them, against docs/edge.schema.json, and what
`failslow history` prints of it against docs/history.schema.json.

usage: check_edges.py FAILSLOW DOCS

Exit code 77: python3-jsonschema is absent.
"""
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


def history_of(failslow, folder, *words):
    printed = subprocess.run([failslow, "history", "--config", "model_config.json", "--format", "json", *words], cwd=folder,
                             check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(printed)


def load_schema(path):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def accepted_damage(validator, document, part):
    """A schema that accepts everything proves nothing. @part: an object of the document."""
    found, whole = [], dict(part)
    for key in whole:
        for wrong in ({}, {key: {"no": "such value"}}):
            part.clear()
            part.update({k: v for k, v in whole.items() if k != key}, **wrong)
            if key != "engine" and validator.is_valid(document):
                found.append(f"the schema accepts {'a wrong' if wrong else 'no'} {key}")
    part.clear()
    part.update(whole, unknownKey=1)
    if validator.is_valid(document):
        found.append("the schema accepts unknown keys")
    part.pop("unknownKey")
    return found


def main():
    failslow, docs = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    validator, of_history = load_schema(docs / "edge.schema.json"), load_schema(docs / "history.schema.json")
    with tempfile.TemporaryDirectory(prefix="failslow-edges-") as name:
        folder = pathlib.Path(name)
        edges = edges_of(failslow, folder)
        past, none = history_of(failslow, folder), history_of(failslow, folder, "--job", "another")
        repeat = history_of(failslow, folder, "--repeat")
    assert [edge["edge"] for edge in edges] == ["open", "clear"], edges
    faults = [error.message for edge in edges for error in validator.iter_errors(edge)]
    faults += accepted_damage(validator, edges[0], edges[0])
    assert len(past["incidents"]) == 1 and not none["incidents"] and len(repeat["hosts"]) > 0, (past, none, repeat)
    for document, parts in ((past, past["incidents"]), (none, []), (repeat, repeat["hosts"])):
        faults += [error.message for error in of_history.iter_errors(document)]
        faults += accepted_damage(of_history, document, document)
        faults += accepted_damage(of_history, document, parts[0]) if parts else []
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
