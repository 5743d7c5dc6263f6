#!/usr/bin/env python3
"""Checks that every table row of the documents is shown as one: no row stands alone behind an empty line.

usage: check_tables.py SOURCE_DIR
"""
import pathlib
import re
import sys

SEPARATOR = re.compile(r"\|(\s*:?-+:?\s*\|)+\s*$")


def stray_rows(path):
    """Numbers of the lines that begin a table without being followed by |---|."""
    lines = path.read_text(encoding="utf-8").splitlines()
    is_code, was_row = False, False
    for i, line in enumerate(lines):
        is_code ^= line.lstrip().startswith("```")
        is_row = not is_code and line.startswith("|")
        if is_row and not was_row and not (i + 1 < len(lines) and SEPARATOR.match(lines[i + 1])):
            yield i + 1
        was_row = is_row


def main():
    root = pathlib.Path(sys.argv[1])
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("packaging/*.md"),
                 *root.glob("datasets/*.md"), *root.glob("tests/*/*.md")]
    faults = [f"{path.relative_to(root)}:{number}: this row is in no table"
              for path in sorted(documents) for number in stray_rows(path)]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
