#!/usr/bin/env python3
"""Checks that links of the documents lead to files and headings, and that files of the sources that the text names
exist, with their folder or (C files, tables) by their name alone. Of documents as they are installed, links alone.

usage: check_links.py SOURCE_DIR
       check_links.py --installed CMAKE BUILD_DIR
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LINK = re.compile(r"\]\(([^()\s]+)\)")
SOURCE = re.compile(r"`((?:cmake|config|datasets|detectors|docs|include|packaging|scripts|src|tests)/[\w./-]+\.\w+)`")
BARE = re.compile(r"`(\w+\.(?:[ch]|def))`")
# A walk makes these files.
MADE = re.compile(r"^````?\w+ file=(\S+)", re.M)
# Files of these may be named without their folder.
FOLDERS = ("detectors", "include", "src", "tests")


def without_code(text):
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.M | re.S)


def anchors(path):
    """Names of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S),
                          re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults_of(path):
    for link in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: there is no such heading"


def faults_of_names(path, root):
    text = path.read_text(encoding="utf-8")
    for name in sorted(set(SOURCE.findall(text)) - set(MADE.findall(text))):
        if not (root / name).exists():
            yield f"{name}: there is no such file"
    for name in sorted(set(BARE.findall(text))):
        if not any(next(root.glob(f"{folder}/**/{name}"), None) for folder in FOLDERS):
            yield f"{name}: there is no such file"


def report(faults, documents):
    print("\n".join(faults))
    sys.exit(1 if faults or not documents else 0)


def check_installed(cmake, build):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([cmake, "--install", build, "--component", "documents"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": folder})
        root = pathlib.Path(folder).resolve()
        documents = sorted(root.rglob("*.md"))
        faults = [f"{path.relative_to(root)}: {fault}" for path in documents for fault in faults_of(path)]
    report(faults, documents)


def main():
    if sys.argv[1] == "--installed":
        check_installed(*sys.argv[2:])
    root = pathlib.Path(sys.argv[1]).resolve()
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("packaging/*.md"),
                 *root.glob("datasets/*.md"), *root.glob("tests/*/*.md")]
    faults = [f"{path.relative_to(root)}: {fault}" for path in sorted(documents)
              for fault in [*faults_of(path), *faults_of_names(path, root)]]
    report(faults, documents)


if __name__ == "__main__":
    main()
