#!/usr/bin/env python3
"""Checks that the program has what distributions ask of programs that read foreign files.

Arguments: the program, and its build type. FORTIFY needs optimisation, so it is asked of no other build.
"""
import subprocess
import sys

PROGRAM, BUILD_TYPE = sys.argv[1:3]


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options, PROGRAM], capture_output=True, text=True, check=True).stdout


header, dynamic = readelf("--file-header"), readelf("--dynamic")
segments, symbols = readelf("--segments"), readelf("--dyn-syms")
stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
claims = {
    "it runs at a random address (PIE)": "Type:" in header and "DYN" in header,
    "its tables are read-only from the start (RELRO, BIND_NOW)": "GNU_RELRO" in segments and "NOW" in dynamic,
    "its stack holds no code": " RWE" not in stack,
    "its functions notice an overwritten stack": "__stack_chk_fail" in symbols,
    "copies are bounded by the size of their target (FORTIFY)": BUILD_TYPE == "Debug" or "_chk@" in symbols.replace(
        "__stack_chk", ""),
}
missing = [claim for claim, holds in claims.items() if not holds]
if missing:
    sys.exit("does not hold of this build: " + "; ".join(missing))
print(f"{len(claims)} claims hold")
