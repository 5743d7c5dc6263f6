#!/usr/bin/env python3
"""Checks the parameter tables of docs/users/detectors.md against the detectors; --write puts them right.

usage: detectors_md.py PRINT_TABLES docs/users/detectors.md [--write]
"""
import re
import subprocess
import sys

BLOCK = re.compile(r"<!-- parameters of (\w+) -->\n.*?<!-- end -->\n", re.S)


def main():
    program, path = sys.argv[1], sys.argv[2]
    is_write = sys.argv[3:] == ["--write"]
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    tables = {match.group(1): match.group(0) for match in BLOCK.finditer(printed)}
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    wanted = BLOCK.sub(lambda match: tables.get(match.group(1), ""), text)
    present = {match.group(1) for match in BLOCK.finditer(wanted)}
    for name in tables:
        if name not in present:
            wanted += f"\n## {name}\n{tables[name]}"
    if is_write:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(wanted)
        return 0
    headings = set(re.findall(r"^## (\w+)$", text, re.M))
    missing = [name for name in tables if name not in headings]
    if wanted != text or missing:
        print(f"{path} does not agree with the detectors; run: {sys.argv[0]} {program} {path} --write")
        return 1
    print(f"{path}: detectors={len(tables)}")
    return 0


sys.exit(main())
