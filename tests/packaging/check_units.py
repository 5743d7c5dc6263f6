#!/usr/bin/env python3
"""Checks each service in a folder: systemd knows its keys, and finds it little exposed.

Arguments: the folder. Exits with 77 (skipped) without systemd-analyze 250 or later.
"""
import pathlib
import re
import shutil
import subprocess
import sys

EXPOSURE_MAX = 3.0  # of 10; a service without any protection has 9.6
VERSION_MIN = 250  # analyses files that are not installed
# Of the host, not of the unit: the program and its manual are not installed where tests run.
OF_THE_HOST = ("is not executable", "'man ", "Unit failslow.service not found")


def output_of(*words):
    return subprocess.run(words, check=False, capture_output=True, text=True)


def faults_of(unit):
    faults = [f"{unit.name}: {line}" for line in output_of("systemd-analyze", "verify", str(unit)).stderr.splitlines()
              if unit.name in line and not any(text in line for text in OF_THE_HOST)]
    text = output_of("systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)).stdout
    level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", text)
    print(unit.name, level.group(1) if level else "no exposure level")
    if not level or float(level.group(1)) > EXPOSURE_MAX:
        faults.append(f"{unit.name}: the exposure level is over {EXPOSURE_MAX}:\n{text}")
    return faults


def main():
    version = re.search(r"systemd (\d+)", output_of("systemd-analyze", "--version").stdout) \
        if shutil.which("systemd-analyze") else None
    if not version or int(version.group(1)) < VERSION_MIN:
        print(f"skipped: needs systemd-analyze {VERSION_MIN} (apt-get install systemd)")
        sys.exit(77)
    units = sorted(pathlib.Path(sys.argv[1]).glob("*.service"))
    faults = [fault for unit in units for fault in faults_of(unit)]
    print("\n".join(faults))
    sys.exit(1 if faults or not units else 0)


if __name__ == "__main__":
    main()
