#!/usr/bin/env python3
"""The thresholds of match, replay, blame and judge stand once, in limits.h of their folder. Argument: source folder.

Every threshold has a comment, one name over all folders, and a use; no other file of these folders defines a number that
decides. Numbers that are no choices (buffers, formats, formulas) are listed here with their file."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]) / "src"
FOLDERS = ("match", "replay", "blame", "judge")
ALLOWED = {
    ("match/instance.c", "BLOCK"), ("match/instance.c", "BLOCKS"),  # how much is written side by side
    ("match/pair.c", "CONTEXT"), ("match/pair.c", "LABELS"), ("match/pair.c", "CONTEXTS_N"),
    ("match/topology_comms.c", "NAME_MAX_COMPARED"),  # buffer
    ("replay/replay.c", "LANES_MAX"),  # numbers in a line of the cache
    ("replay/replay.h", "FSL_REPLAY_PARTS_ALL"),  # bits
    ("replay/op_graph.c", "PASSES"), ("replay/op_graph.c", "TRANSFERS"), ("replay/op_graph.c", "COLLECTIVES"),
    ("replay/op_graph.c", "OVER_REPLICAS"), ("replay/op_graph.c", "ENDS_OF_STAGE"),  # bits, and a sum of them
    ("blame/blame.c", "QUARTILE_SIGMAS"),  # upper quartile of |x|, x normal
    ("blame/details.c", "RESULT_NORMAL"), ("blame/details.c", "RESULT_ANOMALY"),  # sysTrace's codes
    ("blame/imbalance.c", "WHO_BYTES"),
    ("blame/singles.c", "STEPS_MAX"), ("blame/singles.c", "RANK_BYTES"),  # what packed bytes may say
    ("blame/singles.c", "BELOW"),  # rounding
    ("blame/singles.h", "FSL_SINGLE_SIZES_N"),
    ("judge/conclude.c", "CULPRITS_MAX"), ("blame/baseline.h", "FSL_GROWN_SUMS_MAX"),  # lines of a text
    ("judge/functions_baseline.h", "FSL_GROWN_FUNCTIONS_MAX"),  # rows of a document
    ("judge/hostbound.h", "FSL_HOSTBOUND_HOLDERS_MAX"), ("judge/hostbound.h", "FSL_HOSTBOUND_TIDS_MAX"),
    ("judge/hostbound.h", "FSL_HOSTBOUND_INTERRUPTS_MAX"),
    ("judge/hostbound.h", "FSL_HOSTBOUND_ADVICE_MAX"), ("judge/hostbound_holders.c", "GROUPS_MAX"),  # rows of tables
    ("blame/host_losses.c", "ROUNDING_NS"),
    ("judge/judge_memory.c", "BYTES_PER_GIB"),
}
# How much a judge writes is limited beside the text (judge/limits.h).
OF_TEXTS = re.compile(r"judge/\w+\.c:(?:TEXT|LINES|SHAPE_CHARACTERS|RANGES_SHOWN|(?:[A-Z]+_)?TOLD)_MAX")
DEFINED = re.compile(r"#define\s+(\w+)[ \t]+[(\d-]|static const (?:double|u?int\d+_t|size_t)\s+(\w+)\s*=|"
                     r"^\s*(?:enum \{\s*)?([A-Z][A-Z0-9_]+) = \(?[\d-]", re.MULTILINE)
faults, names = [], {}
texts = {path: path.read_text() for folder in FOLDERS for path in sorted((root / folder).glob("*.[ch]"))}
used = set()
for path in root.rglob("*.[ch]"):
    if path.name != "limits.h":
        used.update(re.findall(r"\bFSL_\w+", path.read_text()))
for path, text in texts.items():
    where = path.relative_to(root).as_posix()
    if path.name != "limits.h":
        for found in DEFINED.finditer(text):
            name = next(filter(None, found.groups()))
            if (where, name) not in ALLOWED and not OF_TEXTS.fullmatch(f"{where}:{name}"):
                faults.append(f"src/{where}: {name} is a threshold: move it to src/{path.parent.name}/limits.h, or list it here")
        continue
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        found = re.match(r"#define (FSL_\w+)[ \t]+\S", line) or re.match(r"\t(FSL_\w+) = ", line)
        if not found:
            continue
        name, at = found[1], number - 2
        if name in names:
            faults.append(f"src/{where}:{number}: {name} stands in src/{names[name]} already")
        names[name] = where
        while lines[at].startswith("#define FSL_"):
            at -= 1
        if not lines[at].rstrip().endswith("*/"):
            faults.append(f"src/{where}:{number}: {name} has no comment")
        if name not in used and text.count(name) < 2:
            faults.append(f"src/{where}:{number}: nothing uses {name}")
print("\n".join(faults) or f"{len(names)} limits, each in one place")
sys.exit(bool(faults))
