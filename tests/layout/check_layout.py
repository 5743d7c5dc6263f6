#!/usr/bin/env python3
"""Folders of src/ include each other in one order (order.txt), so that there are no circles, and no folder holds too
much. Argument: source folder. Lists every offence with its place; exit code 1 if there is one."""
import pathlib
import re
import sys

FILES_MAX = 80  # of one folder, without those in it
SHARE_MAX = 0.15  # of all lines
root = pathlib.Path(sys.argv[1]) / "src"
order = [line.split()[0] for line in (pathlib.Path(__file__).parent / "order.txt").read_text().splitlines()
         if line and not line.startswith("#")]
place = {name: i for i, name in enumerate(order)}
faults, lines, files = [], {}, {}
for path in sorted(root.rglob("*.[ch]")):
    folder = path.parent.relative_to(root).as_posix()
    if folder not in place:
        faults.append(f"{path}: folder {folder} is not in tests/layout/order.txt")
        continue
    text = path.read_text().splitlines()
    lines[folder] = lines.get(folder, 0) + len(text)
    files[folder] = files.get(folder, 0) + 1
    for number, line in enumerate(text, 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)/[^"/]+"', line)
        if found and found[1] not in place:
            faults.append(f"{path}:{number}: {line.strip()}: no folder of src/")
        elif found and place[found[1]] > place[folder]:
            faults.append(f"{path}:{number}: {folder} comes before {found[1]}: {line.strip()}")
total = sum(lines.values())
for folder in lines:
    if lines[folder] > SHARE_MAX * total:
        faults.append(f"src/{folder}: {lines[folder]} of {total} lines, more than {SHARE_MAX:.0%}")
    if files[folder] > FILES_MAX:
        faults.append(f"src/{folder}: {files[folder]} files, more than {FILES_MAX}")
for name in order:
    if name not in lines:
        faults.append(f"tests/layout/order.txt: there is no src/{name}")
print("\n".join(faults) or f"{len(order)} folders in one order, {total} lines")
sys.exit(bool(faults))
