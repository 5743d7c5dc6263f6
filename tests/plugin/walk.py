#!/usr/bin/env python3
"""Follows docs/developers/contributing.md, "Add a detector", word for word in a copy of the tree.

usage: walk.py SOURCE_DIR CMAKE GENERATOR C_COMPILER

Every code block of the document whose first line is "```c file=PATH" is written to PATH, and one
that begins with "```c append=PATH" is appended to it. The copy is configured after each of the
first two steps (the second must fail: a detector without a test), then built and tested.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```c (file|append)=(\S+)\n(.*?)^```$", re.S | re.M)


def copy_tree(source, target):
    """Everything but version control and build folders."""
    def is_build(folder):
        return os.path.exists(os.path.join(folder, "CMakeCache.txt"))

    def ignore(folder, names):
        return [name for name in names if name == ".git" or is_build(os.path.join(folder, name))]

    shutil.copytree(source, target, ignore=ignore)


def run(command, is_expected_to_fail=False):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    output = result.stdout + result.stderr
    if (result.returncode != 0) != is_expected_to_fail:
        print(output[-4000:])
        sys.exit(f"walk: exit code {result.returncode} of: {' '.join(command)}")
    return output


def take_step(tree, kind, path, text):
    target = os.path.join(tree, path)
    if kind == "file" and os.path.exists(target):
        sys.exit(f"walk: the document overwrites a file: {path}")
    with open(target, "a" if kind == "append" else "w", encoding="utf-8") as stream:
        stream.write(text)


def main():
    source, cmake, generator, compiler = sys.argv[1:5]
    with open(os.path.join(source, "docs/developers/contributing.md"), encoding="utf-8") as stream:
        steps = BLOCK.findall(stream.read())
    paths = [path for _, path, _ in steps]
    if len(steps) != 3 or len(set(paths)) != 3:
        sys.exit(f"walk: the document must touch three files, it touches: {paths}")
    name = os.path.splitext(os.path.basename(paths[0]))[0]
    with tempfile.TemporaryDirectory() as folder:
        tree, build = os.path.join(folder, "tree"), os.path.join(folder, "build")
        copy_tree(source, tree)
        configure = [cmake, "-S", tree, "-B", build, "-G", generator, "-DCMAKE_BUILD_TYPE=Debug",
                     f"-DCMAKE_C_COMPILER={compiler}", "-DFSL_WERROR=ON"]
        take_step(tree, *steps[0])
        take_step(tree, *steps[1])
        output = run(configure, is_expected_to_fail=True)
        if f"tests/detectors/test_{name}.c" not in output:
            sys.exit(f"walk: a detector without a test is not refused clearly:\n{output}")
        take_step(tree, *steps[2])
        run(configure)
        run([cmake, "--build", build, "--target", f"test_{name}", "print_tables", "-j", "2"])
        run([os.path.join(build, "tests", f"test_{name}")])
        tables = run([os.path.join(build, "tests/plugin/print_tables")])
        if f"<!-- parameters of {name} -->" not in tables:
            sys.exit(f"walk: the registry does not know {name}")
    print(f"walk: detector={name}, files={', '.join(paths)}")


main()
