#!/usr/bin/env python3
"""Checks that key table, JSON Schemas, shipped files, docs/operations/configuration.md and the systemd units agree.

Arguments: the program, FSL_RESULT_DIR of its build (optional). Needs the jsonschema package; exits with 77 (skipped) without it.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = "/etc/systrace/result"  # FSL_RESULT_DIR, as the documents have it
FILES = ("model_config.json", "metric_config.json")
TYPES = {"bool": "boolean", "integer": "integer", "number": "number", "text": "string",
         "path": "string", "object": "object", "array": "array"}
faults = []


def fault(text):
    faults.append(text)


def resolve(schema, node):
    """Follows "$ref" inside the schema."""
    while "$ref" in node:
        target = schema
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def schema_keys(schema, holder):
    """Dotted paths of all described members; @holder stands for members with any name."""
    found = {}
    queue = [("", schema)]
    while queue:
        prefix, node = queue.pop()
        for name, member in node.get("properties", {}).items():
            member = resolve(schema, member)
            path = prefix + name
            found[path] = member
            queue.append((path + ".", member))
            items = member.get("items")
            if isinstance(items, dict):
                queue.append((path + "[].", resolve(schema, items)))
        others = node.get("additionalProperties")
        if isinstance(others, dict):
            queue.append((prefix + holder + ".", resolve(schema, others)))
    return found


def check_against_schema(row, node):
    key = f"{row['file']}: {row['key']}"
    types = node.get("type", [])
    types = types if isinstance(types, list) else [types]
    if row["used"] and TYPES[row["type"]] not in types:
        fault(f"{key}: the schema has type {types}, the table {row['type']}")
    if not row["used"] and types:
        fault(f"{key}: has no effect and may hold anything, but the schema wants {types}")
    if "default" in node and node["default"] != row["default"]:
        fault(f"{key}: default is {node['default']} in the schema, {row['default']} in the table")
    if (node.get("minimum"), node.get("maximum")) != (row.get("min"), row.get("max")) and \
            row["type"] in ("integer", "number"):
        fault(f"{key}: range differs between schema and table")
    choices = node.get("enum")
    if row["type"] == "text" and not set(row.get("choices", [])) <= set(choices or []):
        fault(f"{key}: allowed texts differ between schema and table")
    if not node.get("description", "").startswith(row["help"]):
        fault(f"{key}: description of the schema is not the help of the table")


def check_schema(name, rows, holder):
    # Members that group others, and shapes that the table gives as one row.
    groups = {"enable_detect_type", "fail_slow_ops", "replay", "chapter", "<metric>.aggregation",
              "<metric>.aggregation.funcs[].func_params"}
    schema = json.loads((ROOT / "config" / name.replace(".json", ".schema.json")).read_text())
    found = schema_keys(schema, holder)
    if name == "model_config.json":  # "detectors" holds one entry per detector
        found = {k: v for k, v in found.items() if not k.startswith("hccl_domain.")}
    table = {row["key"]: row for row in rows if row["file"] == name}
    for key in sorted(table.keys() - found.keys()):
        fault(f"{name}: {key}: is missing in the schema")
    for key in sorted(found.keys() - table.keys() - groups):
        fault(f"{name}: {key}: is in the schema, but no key of the program")
    for key in table.keys() & found.keys():
        check_against_schema(table[key], found[key])
    return schema


def check_shipped(schema, name, validator):
    for error in validator(schema).iter_errors(json.loads((ROOT / "config" / name).read_text())):
        fault(f"config/{name}: {error.json_path}: {error.message}")


def check_schema_refuses(schemas, validator):
    """A schema that accepts everything would pass the tests above."""
    wrong = {"model_config.json": [{"jobs": -1}, {"k_sigma": "2"}, {"no_such_key": 1},
                                   {"slow_node_detection_range_times": [1]},
                                   {"hccl_domain": {"tp": [[0, 0]]}}],
             "metric_config.json": [{"M": {"type": "disk"}}, {"M": {"time_detector": {}}},
                                    {"M": {"aggregation": {"funcs": [{"func": "percentile"}]}}}]}
    for name, documents in wrong.items():
        for document in documents:
            if validator(schemas[name]).is_valid(document):
                fault(f"the schema of {name} accepts {document}")


def check_manual(rows):
    """Every table row of docs/operations/configuration.md begins with | `key` | type | default |."""
    text = (ROOT / "docs" / "operations" / "configuration.md").read_text()
    documented = {}
    file = None
    for line in text.splitlines():
        file = line.removeprefix("## ") if line.startswith("## ") else file
        row = re.match(r"\| `([^`]+)` \| (\w+) \| (.+?) \|", line)
        if row and file in FILES:
            documented[file, row.group(1)] = row.group(2), row.group(3).strip("`")
    table = {(row["file"], row["key"]): (row["type"], json.dumps(row["default"]))
             for row in rows}
    for file, key in sorted(table.keys() - documented.keys()):
        fault(f"docs/operations/configuration.md: {file}: {key} is missing")
    for file, key in sorted(documented.keys() - table.keys()):
        fault(f"docs/operations/configuration.md: {file}: {key} is no key of the program")
    for place in table.keys() & documented.keys():
        if table[place] != documented[place]:
            fault(f"docs/operations/configuration.md: {place[1]}: says {documented[place]}, "
                  f"the program {table[place]}")


def check_unit(name, rows):
    """The service may write to the folders where results go by default, in packages and otherwise."""
    writable = []
    for line in (ROOT / "packaging" / "systemd" / name).read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "StateDirectory":
            writable += [pathlib.Path("/var/lib") / word for word in value.split()]
        elif key == "ReadWritePaths":
            writable += [pathlib.Path(word.removeprefix("-")) for word in value.split()]
    defaults = [row["default"] for row in rows if row["key"] in ("fail_slow_perception_path",
                                                                 "slow_node_detection_path")]
    for folder in [pathlib.Path(text) for text in defaults] + [pathlib.Path("/var/lib/failslow")]:
        if not any(path == folder or path in folder.parents for path in writable):
            fault(f"{name}: {folder} is read-only, add it to ReadWritePaths")


def main():
    try:
        from jsonschema import Draft202012Validator as validator
    except ImportError:
        print("skipped: needs Python's jsonschema (apt-get install python3-jsonschema)")
        sys.exit(77)
    text = subprocess.run([sys.argv[1], "config", "keys", "--format", "json"], check=True, capture_output=True,
                          text=True).stdout
    rows = json.loads(text.replace(sys.argv[2], RESULTS) if len(sys.argv) > 2 else text)
    schemas = {"model_config.json": check_schema("model_config.json", rows, "<detector>"),
               "metric_config.json": check_schema("metric_config.json", rows, "<metric>")}
    for name in FILES:
        validator.check_schema(schemas[name])
        check_shipped(schemas[name], name, validator)
    check_schema_refuses(schemas, validator)
    check_manual(rows)
    for unit in ("failslow.service", "failslow-watch.service"):
        check_unit(unit, rows)
    for text in faults:
        print(text)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
