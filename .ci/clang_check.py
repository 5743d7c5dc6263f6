#!/usr/bin/env python3
"""Lets clang look for what it warns of in every file that a build folder compiles, and generates no code.

usage: clang_check.py BUILD_DIR, configured for clang and with the generated headers built

clang takes longer to start than to read one of our files. So each process reads many: the driver knows one file by
name, and its front end gets the others by -Xclang.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

FILES_N = 24  # of one process


def batches(build):
    """Command lines: files whose flags are the same go together."""
    files_of = collections.defaultdict(list)
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        files_of[re.sub(r" -o \S+ -c \S+$", "", entry["command"])].append(entry["file"])
    for flags, files in files_of.items():
        for i in range(0, len(files), FILES_N):
            first, *others = files[i:i + FILES_N]
            yield [*shlex.split(flags), "-fsyntax-only", first, *(w for file in others for w in ("-Xclang", file))]


def main():
    build = pathlib.Path(sys.argv[1])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(pool.map(lambda words: subprocess.run(words, cwd=build, check=False).returncode, batches(build)))
    sys.exit(1 if any(codes) or not codes else 0)


if __name__ == "__main__":
    main()
