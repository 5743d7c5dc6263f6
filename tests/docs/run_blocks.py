#!/usr/bin/env python3
"""Runs every ```sh block of the given documents, in order, in a copy of the project's folder.

usage: run_blocks.py SOURCE_DIR BUILD_DIR DOCUMENT...

A block fails the test if it ends with another exit code than 0, or than N if its first line is "# exit code N". A block
that an earlier document holds, too, is not run again.
scripts/test.sh is what runs this test and is therefore only looked up, not run.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TIMEOUT_S = 240


def blocks(path):
    """(line number, text) of each ```sh block."""
    with open(path, encoding="utf-8") as document:
        text = document.read()
    for match in re.finditer(r"^```sh\n(.*?)^```", text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 2, match.group(1)


def expected_exit_code(block):
    match = re.match(r"# exit code (\d+)", block)
    return int(match.group(1)) if match else 0


def lay_out(source, build, folder):
    """Links to everything, but data sets of their own: a command must not write into the source."""
    for name in os.listdir(source):
        if name in (".git", "datasets") or name.startswith("build"):
            continue
        os.symlink(os.path.join(source, name), os.path.join(folder, name))
    shutil.copytree(os.path.join(source, "datasets"), os.path.join(folder, "datasets"))
    os.symlink(build, os.path.join(folder, "build"))


def run(block, folder, build):
    script = re.sub(r"^scripts/test\.sh$", "test -x scripts/test.sh", block, flags=re.M)
    environment = dict(os.environ, FAILSLOW_BUILD=build, LC_ALL="C.UTF-8")
    return subprocess.run(["sh", "-eu", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)


def main():
    source, build, *documents = sys.argv[1:]
    n_run = n_failed = 0
    done = set()
    with tempfile.TemporaryDirectory(prefix="docs-", dir=build) as folder:
        lay_out(source, build, folder)
        for document in documents:
            new = [(line, block) for line, block in blocks(os.path.join(source, document)) if block not in done]
            done.update(block for _, block in new)
            for line, block in new:
                result = run(block, folder, build)
                n_run += 1
                if result.returncode != expected_exit_code(block):
                    n_failed += 1
                    print(f"{document}:{line}: exit code {result.returncode}\n{block}{result.stdout}")
    print(f"{n_run} blocks, {n_failed} failed")
    return 1 if n_failed or not n_run else 0


if __name__ == "__main__":
    sys.exit(main())
