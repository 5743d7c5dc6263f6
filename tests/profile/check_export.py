#!/usr/bin/env python3
"""Exports captures of the reference data and compares with what msprof-analyze made of them.

usage: check_export.py FAILSLOW SHARED_DIR

Exit code 77 when the reference data is absent.
"""
import os
import subprocess
import sys
import tempfile

import compare_peer

DB = {"db-ratios", "db-names", "db-places", "db-paths"}
# Capture, what the other tool made of it, where that is wrong.
CASES = [
    ("insight-4rank-level2", "insight-4rank-level2/text", set()),
    # Made of the databases alone; the capture has text beside them, and that is read first.
    ("insight-4rank-level2", "insight-4rank-level2/db", DB | {"db-steps"}),
    ("insight-2rank-text/level1", "insight-2rank-text/level1", set()),
    ("insight-2rank-db/level1", "insight-2rank-db/level1", DB),
]


def check(failslow, data, case):
    capture, expected, ours_right = case
    theirs = os.path.join(data, "expected", expected)
    print(f"{capture} against {expected}")
    with tempfile.TemporaryDirectory() as output:
        subprocess.run([failslow, "profile", "-q", os.path.join(data, capture), "-o", output,
                        "--export", "msprof-analyze"], check=True)
        ours = os.path.join(output, "cluster_analysis_output")
        left = [name for name in os.listdir(ours) if ".tmp" in name or "-journal" in name]
        results = [compare_peer.compare_file(name, os.path.join(ours, name),
                                             os.path.join(theirs, name), ours_right)
                   for name in sorted(os.listdir(theirs))]
        return all(results) and not left


def main():
    failslow, shared = sys.argv[1:3]
    data = os.path.join(os.environ.get("FSL_SHARED_DIR") or shared, "data", "ascend")
    if not os.path.isdir(os.path.join(data, "expected")):
        print(f"no reference data: {data}")
        return 77
    results = [check(failslow, data, case) for case in CASES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
