#!/usr/bin/env python3
"""A capture that grows is judged again and again: a run that knows chapters from earlier runs says,
byte for byte, what a run says that reads everything, also when it was killed or its cache is gone."""

import argparse
import json
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

NOW = "1750000400000000000"
CACHE = "failslow_state-cache.db"


class Job:
    """One simulated job, whole in self.whole, as far as it was written in self.growing."""

    def __init__(self, program, folder, *settings):
        self.program = program
        self.whole = folder / "whole"
        self.growing = folder / "growing"
        self.output = folder / "kept"
        command = [program, "simulate", self.whole, "tp=4", "dp=2", "pairs=2", "step_ms=72",
                   "transfer_ms=0.1", "optimizer_ms=8", "steps=600", *settings]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        config = json.loads((self.whole / "model_config.json").read_text())
        config["chapter"] = {"hours": 0.002, "parts": 1, "operators_min": 0}
        config["look_back"] = 0  # what is suppressed depends on runs, not on data
        self.growing.mkdir()
        (self.growing / "model_config.json").write_text(json.dumps(config))
        config["chapter"]["keep"] = False
        (self.growing / "forgetful.json").write_text(json.dumps(config))
        self.files = [p.relative_to(self.whole) for p in sorted(self.whole.rglob("*"))
                      if p.is_file() and p.parent != self.whole]
        self.runs = 0
        self.read, self.fresh = None, ""  # the files as the last run that read all of them found them

    def write(self, share, jitter):
        """Lets every file grow to about this share of its bytes."""
        for name in self.files:
            data = (self.whole / name).read_bytes()
            length = int(len(data) * share) + jitter.randrange(200)
            path = self.growing / name
            path.parent.mkdir(parents=True, exist_ok=True)
            have = path.stat().st_size if path.exists() else 0
            with path.open("ab") as file:
                file.write(data[have:max(length, have)])

    def command(self, config, output, jobs):
        return [self.program, "detect", "--config", self.growing / config, "--now", NOW, "-v",
                "--format", "json", "--output", output, "--jobs", str(jobs)]

    def run(self, config, output, jobs):
        done = subprocess.run(self.command(config, output, jobs), capture_output=True, check=False,
                              text=True)
        if done.returncode != 0:
            sys.exit(f"FAILED: {done.stderr}")
        return done.stdout, done.stderr

    def kill(self, after_s):
        """Ends a run at some moment."""
        with subprocess.Popen(self.command("model_config.json", self.output, 2),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            time.sleep(after_s)
            run.kill()

    def judge(self, jobs=1):
        """How many chapters the run knew; its verdict has to be that of a run that reads all."""
        self.runs += 1
        kept, log = self.run("model_config.json", self.output, jobs)
        present = [(path.stat().st_mtime_ns, path.stat().st_size, path.stat().st_ino)
                   for path in (self.growing / name for name in self.files)]
        if self.read != present:
            self.fresh, _ = self.run("forgetful.json", self.output.parent / "fresh", 3 - jobs)
            self.read = present
        if kept != self.fresh:
            sys.exit(f"FAILED: a run that knows chapters says something else; log:\n{log}")
        path = self.output / CACHE
        if path.exists():
            with sqlite3.connect(path) as database:
                if database.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                    sys.exit("FAILED: the cache is not sound")
        found = re.search(r"known from an earlier run: chapters=(\d+)", log)
        return int(found.group(1)) if found else 0


def check_growth(job, seed):
    jitter = random.Random(seed)
    share, n_known = 0.35, 0
    while share < 1.1:
        job.write(share, jitter)
        n_known += job.judge(jitter.choice((1, 2)))
        share += jitter.choice((0.004, 0.05, 0.15))
    return n_known


def check_losses(job, seed, n_killed):
    """Runs that are killed, a cache that is deleted, cut, or full of rubbish."""
    jitter = random.Random(seed)
    path = job.output / CACHE
    job.write(1.1, jitter)
    assert job.judge() > 0
    for _ in range(n_killed):
        path.unlink(missing_ok=True)
        job.kill(jitter.random() * 0.15)
        job.judge()
    assert job.judge() > 0
    path.unlink()
    assert job.judge() == 0 and job.judge() > 0
    path.write_bytes(path.read_bytes()[:5000])
    job.judge()
    assert job.judge() > 0
    path.write_bytes(b"rubbish" * 1000)
    assert job.judge() == 0 and job.judge() > 0


def check_changes(job):
    """Files that did not only grow are read as a whole."""
    name = job.growing / next(n for n in job.files if n.suffix == ".csv")
    text = name.read_bytes()
    name.write_bytes(text[:-5000])
    assert job.judge() == 0
    name.write_bytes(text)
    job.judge()
    assert job.judge() > 0
    other = text[:200000] + text[200000:].replace(b"HcclAllGather", b"HcclAllReduce", 5)
    copy = name.with_suffix(".new")
    copy.write_bytes(other)
    copy.replace(name)
    assert job.judge() == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--few", action="store_true", help="one job, for a program that is slow")
    options = parser.parse_args()
    program = options.program
    jobs = ([], ["drop=0.02", "timelines=none"], ["format=json"],
            ["fault=compute ranks=3 factor=1.4 onset=340 until=480"])[:1 if options.few else None]
    for number, settings in enumerate(jobs):
        with tempfile.TemporaryDirectory() as folder:
            job = Job(program, pathlib.Path(folder), *settings)
            n_known = check_growth(job, 7 + number)
            if number == 0:
                check_losses(job, 3, 3 if options.few else 8)
                check_changes(job)
            print(f"{settings}: runs={job.runs}, known chapters={n_known}")
            if n_known == 0:
                sys.exit("FAILED: no run knew any chapter")


if __name__ == "__main__":
    main()
