#!/usr/bin/env python3
"""Runs over a growing job that are killed, find no room, or whose receiver is away: each incident is told once.

usage: check_many_runs.py FAILSLOW [--runs 1000] [--seed 1]

The job has three slow spells and well ones between. A third of the runs is killed at a random moment, a tenth may write
small files only, and the receiver refuses in a third. In the end each incident was told to begin once and to end once;
an edge comes twice only if its run was killed between telling it and noting that. State and results are whole.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SPELL_STEPS, STEP_S = 40, 2
HOOK = """#!/bin/sh
[ -e away ] && exit 1
echo "$RUN $FAILSLOW_EDGE $FAILSLOW_INCIDENT $FAILSLOW_RANKS" >>told
"""


def simulate(failslow, folder):
    """Six spells: well, slow, well, ... of one rank. The clock begins at 1,750,000,000 s."""
    words = [failslow, "simulate", folder / "whole", "tp=4", "dp=2", f"steps={6 * SPELL_STEPS}", f"step_ms={1000 * STEP_S}"]
    words += [f"fault=compute ranks=5 factor=1.6 onset={SPELL_STEPS * (1 + 2 * i)} until={SPELL_STEPS * (2 + 2 * i)}"
              for i in range(3)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def tables(folder):
    """Each file with the lines and times by which it is cut; a timeline is left out: markers tell all."""
    found = {}
    for path in sorted((folder / "whole" / "mspti").iterdir()):
        head, *lines = path.read_text().splitlines(keepends=True)
        found[path.name] = head, lines, [int(line.split(",")[5]) for line in lines]
    return found


class Growing:
    """Writes the newest rows, as a job does."""

    def __init__(self, folder):
        self.folder, self.tables = folder / "job", tables(folder)
        self.folder.mkdir()
        self.done = dict.fromkeys(self.tables, 0)
        for name, (head, _, _) in self.tables.items():
            (self.folder / name).write_text(head)
        self.begin = min(times[0] for _, _, times in self.tables.values())
        self.end = max(times[-1] for _, _, times in self.tables.values())

    def grow(self, until):
        for name, (_, lines, times) in self.tables.items():
            n = self.done[name]
            with open(self.folder / name, "a") as out:
                while n < len(lines) and times[n] <= until:
                    out.write(lines[n])
                    n += 1
            self.done[name] = n


def run(failslow, folder, i, now, luck):
    """One run; returns whether it was killed."""
    is_killed, is_full = luck.random() < 1 / 3, luck.random() < 0.1
    if luck.random() < 1 / 3:
        (folder / "away").touch()
    elif (folder / "away").exists():
        (folder / "away").unlink()

    def before():
        if is_full:
            room = luck.choice([0, 512, 4096, 30000])
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    child = subprocess.Popen([failslow, "detect", "--config", "model_config.json", "--now", str(now), "--quiet"],
                             cwd=folder, env={**os.environ, "RUN": str(i)}, preexec_fn=before,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if is_killed:
        time.sleep(luck.random() * 0.03)
        child.kill()
    code = child.wait()
    assert code in (0, 3, 4, -signal.SIGKILL), f"run {i} ended with {code}"
    return code == -signal.SIGKILL


def check_whole(folder):
    for path in (folder / "out").glob("*.json"):
        json.loads(path.read_text())
    with sqlite3.connect(folder / "out" / "failslow_state.db") as state:
        assert state.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert state.execute("SELECT count(*) FROM outbox").fetchone() == (0,), "an edge was not told"
        return {row[0]: row[1] for row in state.execute("SELECT id, status FROM incidents WHERE opened_ns > 0")}


def check_told(folder, opened, killed):
    told = collections.defaultdict(list)
    for line in (folder / "told").read_text().splitlines():
        i, edge, incident, *ranks = line.split()
        assert ranks in ([], ["5"]), line  # the job is slow, or it is known by whom
        told[incident, edge].append(int(i))
    for key, runs in told.items():
        assert all(i in killed for i in runs[:-1]), f"{key} was told in runs {runs}"
        assert key[0] in opened, f"{key} is of no incident"
    for incident, status in opened.items():
        assert (incident, "open") in told, f"{incident} was not told to begin"
        assert ((incident, "clear") in told) == (status == 2), f"{incident} was not told to end"
    return sum(len(runs) - 1 for runs in told.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("failslow", type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    luck = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="failslow-runs-") as name:
        folder = pathlib.Path(name)
        simulate(options.failslow, folder)
        (folder / "hook").write_text(HOOK)
        (folder / "hook").chmod(0o755)
        keys = {"root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
                "command_hook": ["./hook"], "slow_node_detection_time_span_hours": 0.02, "keep_files": 20,
                "filter_data_by_timestamp": True, "hang_times_mins_thr": 100000}
        (folder / "model_config.json").write_text(json.dumps(keys))
        job, killed = Growing(folder), set()
        for i in range(options.runs):
            now = job.begin + (job.end - job.begin) * (i + 1) // options.runs
            job.grow(now)
            if run(options.failslow, folder, i, now, luck):
                killed.add(i)
        # The receiver is back, nobody kills: what waits is told.
        luck.random = lambda: 1.0
        for i in range(3):
            run(options.failslow, folder, options.runs + i, job.end + (i + 1) * 3600 * 10**9, luck)
        opened = check_whole(folder)
        n_twice = check_told(folder, opened, killed)
        for path in (folder / "out").glob(".*"):
            os.utime(path, (0, 0))  # an hour has passed
        run(options.failslow, folder, options.runs + 3, job.end + 5 * 3600 * 10**9, luck)
        left = [path.name for path in (folder / "out").iterdir()
                if path.name.startswith(".") or path.name.endswith(("-journal", ".tmp"))]
        assert not left, left
    print(f"{options.runs} runs, {len(killed)} killed: {len(opened)} incidents, {n_twice} edges told twice as their run "
          "was killed behind the receiver's answer")
    if len(opened) == 0:
        sys.exit("no incident was opened: the test tests nothing")


main()
