#!/usr/bin/env python3
"""Checks that links of the documents lead to files and headings, that installed documents lead to installed ones,
and that files of the sources that the text names exist, with their folder or (C files, tables) by their name alone.

usage: check_links.py SOURCE_DIR
"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^()\s]+)\)")
SOURCE = re.compile(r"`((?:cmake|config|datasets|detectors|docs|include|packaging|scripts|src|tests)/[\w./-]+\.\w+)`")
BARE = re.compile(r"`(\w+\.(?:[ch]|def))`")
# A walk makes these files.
MADE = re.compile(r"^````?\w+ file=(\S+)", re.M)
# Folders that CMake installs; links between them hold in both places.
INSTALLED = ("images", "operations", "users")
# Files of these may be named without their folder.
FOLDERS = ("detectors", "include", "src", "tests")


def without_code(text):
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.M | re.S)


def anchors(path):
    """Names of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S),
                          re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_installed(docs, path):
    return path.parent in [docs / folder for folder in INSTALLED] or path.parent == docs and path.suffix == ".json"


def faults_of(path, docs):
    for link in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: there is no such heading"
        elif is_installed(docs, path) and not is_installed(docs, target):
            yield f"{link}: an installed document leads to a file that is not installed"


def faults_of_names(path, root):
    text = path.read_text(encoding="utf-8")
    for name in sorted(set(SOURCE.findall(text)) - set(MADE.findall(text))):
        if not (root / name).exists():
            yield f"{name}: there is no such file"
    for name in sorted(set(BARE.findall(text))):
        if not any(next(root.glob(f"{folder}/**/{name}"), None) for folder in FOLDERS):
            yield f"{name}: there is no such file"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("packaging/*.md"),
                 *root.glob("datasets/*.md"), *root.glob("tests/*/*.md")]
    faults = [f"{path.relative_to(root)}: {fault}" for path in sorted(documents)
              for fault in [*faults_of(path, root / "docs"), *faults_of_names(path, root)]]
    print("\n".join(faults))
    sys.exit(1 if faults or not documents else 0)


if __name__ == "__main__":
    main()
