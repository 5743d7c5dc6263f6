#!/usr/bin/env python3
"""A capture that grows is judged again and again: a run that goes on from what the last one kept says,
byte for byte, what a run says that reads everything; and it goes on only where nothing else changed."""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

NOW = "1750000400000000000"
GOING_ON = "going on from the last run"
LATE = "events of kept chapters came late"


class Job:
    """One simulated job, whole in self.whole, as far as it was written in self.growing."""

    def __init__(self, program, folder, *settings):
        self.program = program
        self.folder = folder
        self.whole = folder / "whole"
        self.growing = folder / "growing"
        command = [program, "simulate", self.whole, "tp=8", "dp=1", "pairs=2", "step_ms=72",
                   "transfer_ms=0.1", "optimizer_ms=8", "steps=720", *settings]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        config = json.loads((self.whole / "model_config.json").read_text())
        config["chapter"] = {"hours": 0.003, "parts": 1}
        config["look_back"] = 0  # what is suppressed depends on runs, not on data
        self.growing.mkdir()
        (self.growing / "model_config.json").write_text(json.dumps(config))
        config["chapter"]["keep"] = False
        (self.growing / "forgetful.json").write_text(json.dumps(config))
        self.files = [p.relative_to(self.whole) for p in sorted(self.whole.rglob("*"))
                      if p.is_file() and p.parent != self.whole]
        self.runs = 0
        self.limit = None  # called in each process before it runs
        self.log = ""  # of the last run that keeps

    def write(self, share, jitter=None):
        """Lets every file grow to about this share of its bytes."""
        for name in self.files:
            data = (self.whole / name).read_bytes()
            length = int(len(data) * share) + (jitter.randrange(200) if jitter else 0)
            path = self.growing / name
            path.parent.mkdir(parents=True, exist_ok=True)
            have = path.stat().st_size if path.exists() else 0
            with path.open("ab") as file:
                file.write(data[have:max(length, have)])

    def run(self, config, output, *options):
        self.runs += 1
        command = [self.program, "detect", "--config", self.growing / config, "--now", NOW, "-v",
                   "--format", "json", "--output", output, *(options or ["--jobs", "1"])]
        done = subprocess.run(command, capture_output=True, check=False, text=True,
                              preexec_fn=self.limit)
        if done.returncode != 0:
            sys.exit(f"FAILED {command}: {done.stderr}")
        return done.stdout, done.stderr

    def judge(self, *options):
        """The verdict of a run that keeps; whether it went on; it has to be what a run says that
        reads all."""
        kept, log = self.run("model_config.json", self.folder / "kept", *options)
        fresh, _ = self.run("forgetful.json", self.folder / f"fresh{self.runs}")
        if kept != fresh:
            (self.folder / "kept.json").write_text(kept)
            (self.folder / "fresh.json").write_text(fresh)
            subprocess.run(["diff", self.folder / "fresh.json", self.folder / "kept.json"],
                           check=False)
            sys.exit(f"FAILED: a run that goes on says something else; log:\n{log}")
        self.log = log
        return json.loads(kept), GOING_ON in log


def expect(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def grows(job):
    """Growing by a little, in the middle of rows, from a tenth to the whole."""
    random_bytes = random.Random(1)
    n_gone_on = 0
    shares = [0.1, 0.3, 0.55, 0.56, 0.57, 0.7, 0.71, 0.9, 0.99, 1.0, 1.0]
    for i, share in enumerate(shares):
        job.write(share, random_bytes)
        verdict, is_going_on = job.judge("--jobs", str(1 + i % 2))
        n_gone_on += is_going_on
    expect(n_gone_on >= len(shares) - 4, f"only {n_gone_on} runs of {len(shares)} went on")
    expect(len(verdict["localisation"]["chapters"]) > 5, "not judged in chapters")


def is_found(job):
    """What began in an early chapter is told with its onset."""
    job.write(0.6)
    job.judge()
    job.write(1.0)
    verdict, is_going_on = job.judge()
    culprits = verdict["localisation"]["culprits"]
    expect(is_going_on, "did not go on")
    expect([c["rank"] for c in culprits] == [3], f"culprits: {culprits}")
    expect(abs(culprits[0]["onsetStep"] - 120) <= 5, f"onset: {culprits[0]['onsetStep']}")


def changes_are_noticed(job):
    """Each of these makes a run read everything."""
    marker = job.growing / job.files[0]
    def kept():
        return list((job.folder / "kept").glob("failslow_state.db-kept-*"))

    def rewrite(change):
        data = bytearray(marker.read_bytes())
        change(data)
        other = marker.with_suffix(".other")
        other.write_bytes(bytes(data))
        other.replace(marker)

    def shorten(_):
        os.truncate(marker, marker.stat().st_size // 2)

    def touch_config(_):
        path = job.growing / "model_config.json"
        for name in ("model_config.json", "forgetful.json"):
            path = job.growing / name
            config = json.loads(path.read_text())
            config["slow_ratio_min"] = 1.04
            path.write_text(json.dumps(config))

    def rebuild(_):
        """Another build id, behind the name of its note: the same program otherwise."""
        program = bytearray(job.program.read_bytes())
        at = program.index(b"\x03\0\0\0GNU\0") + 8
        program[at] ^= 1
        job.program = job.folder / "rebuilt"
        job.program.write_bytes(bytes(program))
        job.program.chmod(0o755)

    changes = {
        "the program is another build": rebuild,
        "a file was shortened": shorten,
        "a file was replaced": lambda _: rewrite(lambda data: None),
        "a file has another head": lambda _: rewrite(lambda data: data.reverse()),
        "a file is gone": lambda _: marker.unlink(),
        "the configuration is another one": touch_config,
        "what was kept was deleted": lambda _: kept()[0].unlink(),
        "what was kept is damaged": lambda _: kept()[0].write_bytes(b"x" * 10000),
    }
    for what, change in changes.items():
        shutil.rmtree(job.growing / job.files[0].parent, ignore_errors=True)
        job.write(0.8)
        job.judge()
        _, is_going_on = job.judge()
        expect(is_going_on, f"did not go on before: {what}")
        expect(len(kept()) == 1, f"nothing was kept before: {what}")
        change(None)
        _, is_going_on = job.judge()
        expect(not is_going_on, f"went on although {what}")


def first_runs_are_like_others(job):
    """Of what is kept nothing is lost where the folder of the state is still to be made; a few MB are
    read by one thread, and by as many as are asked for."""
    path = job.growing / "model_config.json"
    config = json.loads(path.read_text())
    config["state_path"] = str(job.folder / "absent" / "deep" / "state.db")
    for key in ("fail_slow_perception_path", "slow_node_detection_path"):
        config[key] = str(job.folder / "verdicts")
    config["chapter"] = {"hours": 0.002, "parts": 1}
    path.write_text(json.dumps(config))
    job.write(0.9)
    for options, n_threads in ([], 1), (["--jobs", "3"], 3):
        done = subprocess.run([job.program, "-v", "--config", path, "--now", NOW, *options],
                              check=True, capture_output=True, text=True)
        expect(f"threads={n_threads}" in done.stderr, f"other threads: {done.stderr}")
        left = sorted(p.name.rsplit("-", 1)[0] for p in (job.folder / "absent/deep").iterdir())
        expect(left == ["state.db-kept", "state.db-tails"], f"left: {left}, {done.stderr}")
    expect(GOING_ON in done.stderr, f"did not go on: {done.stderr}")


def kept_rows_may_go(job):
    """Without what was kept of the newest rows, or with another file in its place, more is read and the
    same said."""
    kept = job.folder / "kept"
    for name in ("model_config.json", "forgetful.json"):
        path = job.growing / name
        config = json.loads(path.read_text())
        config["chapter"] = {"keep": name == "model_config.json", "hours": 0.002, "parts": 1}
        path.write_text(json.dumps(config))

    def tails():
        return list(kept.glob("failslow_state.db-tails-*"))

    changes = {
        "nothing": lambda path: None,
        "deleted": lambda path: path.unlink(),
        "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
        "overwritten": lambda path: path.write_bytes(b"\0" * path.stat().st_size),
        "a folder": lambda path: (path.unlink(), path.mkdir()),
        "a link": lambda path: (path.unlink(), path.symlink_to(job.growing / job.files[0])),
    }
    shares = iter([0.8 + 0.01 * k for k in range(20)])
    job.write(next(shares))
    job.judge()
    before = (job.growing / job.files[0]).read_bytes()
    for what, change in changes.items():
        job.write(next(shares))
        _, is_going_on = job.judge()
        expect(is_going_on, f"did not go on before: {what}")
        expect(len(tails()) == 1, f"no rows were kept before: {what}")
        change(tails()[0])
        job.write(next(shares))
        _, is_going_on = job.judge("--jobs", "2")
        expect(is_going_on, f"did not go on: {what}")
        if what == "a folder":
            tails()[0].rmdir()
    after = (job.growing / job.files[0]).read_bytes()
    expect(after.startswith(before), "an input was written to")


def move_to_end(path, flags):
    """Device rows of one operator of an early chapter are written at the end of the file, with its last
    time."""
    lines = path.read_text().splitlines()
    header = lines[0].split(",")
    time, flag, source, ident = (header.index(key) for key in
                                 ("Timestamp", "Flag", "SourceKind", "Id"))
    rows = [line.split(",") for line in lines]
    at = next(i for i in range(len(rows) // 4, len(rows))
              if rows[i][flag] == "32" and rows[i][source] == "1")
    late = [row for row in rows if row[ident] == rows[at][ident] and row[source] == "1"
            and row[flag] in flags]
    expect(len(late) == len(flags), f"rows: {late}")
    rows = [row for row in rows if row not in late]
    end = rows[-1][time]
    for row in late:
        row[time] = end
    path.write_text("\n".join(",".join(row) for row in [*rows, *late]) + "\n")


def short_files_end_no_run(job):
    """Where files may not get as long as what is kept, it is not kept, and nothing is left behind."""
    job.write(0.9)
    job.limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
    job.judge()
    job.judge()
    left = [path.name for path in (job.folder / "kept").iterdir()
            if "tmp" in path.name or "tails" in path.name]
    expect(not left, f"left behind: {left}")
    job.limit = None
    job.judge()
    _, is_going_on = job.judge()
    expect(is_going_on, "did not go on once files may be longer")


def late_rows_are_noticed(job, flags):
    move_to_end(job.whole / job.files[0], flags)
    job.write(0.9)
    job.judge()
    job.write(0.91)
    _, is_going_on = job.judge()
    expect(is_going_on, "did not go on before")
    job.write(1.0)
    job.judge()
    expect(LATE in job.log, "did not notice that rows came late")


def late_ends_are_noticed(job):
    """An operator of a chapter that is over ends after the run that judged it."""
    late_rows_are_noticed(job, ["32"])


def late_streams_are_noticed(job):
    """An operator that was launched in a chapter that is over runs after the run that judged it, while
    those launched behind it ran before: it has a stream of its own."""
    late_rows_are_noticed(job, ["16", "32"])


def hosts_run_ahead(job):
    """Device rows reach the file seconds behind those of the host. One operator of a chapter that is over
    runs a little behind what the device had reached in the run that judged it, and far behind the host."""
    behind_ns = 3_000_000_000
    for name in job.files:
        path = job.whole / name
        lines = path.read_text().splitlines()
        header = lines[0].split(",")
        time, source = (header.index(key) for key in ("Timestamp", "SourceKind"))
        rows = [line.split(",") for line in lines[1:]]
        for row in rows:
            if row[source] == "1":
                row[time] = str(int(row[time]) + behind_ns)
        rows.sort(key=lambda row: int(row[time]))
        path.write_text("\n".join([lines[0], *(",".join(row) for row in rows)]) + "\n")
    path = job.whole / job.files[0]
    lines = path.read_text().splitlines()
    header = lines[0].split(",")
    time, flag, source, ident = (header.index(key) for key in
                                 ("Timestamp", "Flag", "SourceKind", "Id"))
    rows = [line.split(",") for line in lines[1:]]
    seen = sum(len(line) + 1 for line in lines) * 0.9
    reached, n_bytes = 0, 0
    for row in rows:
        n_bytes += sum(map(len, row)) + len(row)
        if n_bytes < seen and row[source] == "1":
            reached = int(row[time])
    victim = next(row[ident] for row in rows[len(rows) // 4:] if row[source] == "1")
    for row in rows:
        if row[ident] == victim and row[source] == "1":
            row[time] = str(reached + 300_000_000 + (row[flag] == "32"))
    rows.sort(key=lambda row: int(row[time]))
    path.write_text("\n".join([lines[0], *(",".join(row) for row in rows)]) + "\n")
    n_noticed = 0
    for share in [0.9, 0.905, 0.91, 0.92, 0.93, 0.95, 0.97, 1.0]:
        job.write(share)
        job.judge()
        n_noticed += LATE in job.log
    expect(n_noticed > 0, "did not notice that rows came late")


def holes_are_filled(job):
    """Over the network a reader may see zeros where the writer's rows will stand a moment later."""
    job.write(0.8)
    path = job.growing / job.files[0]
    data = path.read_bytes()
    at = len(data) - 20000
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\0" * 6000)
    job.judge()
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data[at:at + 6000])
    for share in [0.8, 0.81, 0.82, 0.83]:
        job.write(share)
        _, is_going_on = job.judge()
        expect(is_going_on, "did not go on")


def silent_ranks_move_no_chapter(job):
    """One rank falls silent early and others lag: chapters are those of a run that reads all."""
    shares = [1, 0.1, 1, 0.93, 0.93]  # of the five ranks
    for name, share in zip(job.files, shares):
        path = job.whole / name
        rows = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(rows[:int(len(rows) * share)]))
    silent = job.growing / job.files[1]
    silent.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(job.whole / job.files[1], silent)
    n_gone_on = 0
    for share in [0.5 + 0.025 * k for k in range(21)]:
        job.write(share)
        n_gone_on += job.judge()[1]
    expect(n_gone_on > 10, f"only {n_gone_on} runs went on")


def many_short_chapters(job):
    """Without a word about their length: a capture of many steps has many, and the second run goes on."""
    for name in ("model_config.json", "forgetful.json"):
        path = job.growing / name
        config = json.loads(path.read_text())
        config["chapter"] = {"keep": name == "model_config.json", "operators_min": 0}
        path.write_text(json.dumps(config))
    n_gone_on, n_chapters = 0, []
    shares = [0.3, 0.31, 0.32, 0.6, 0.61, 0.65, 0.95, 0.96, 0.97, 1.0]
    for share in shares:
        job.write(share)
        verdict, is_going_on = job.judge("--jobs", "1" if share < 0.96 else "2")
        n_gone_on += is_going_on
        n_chapters.append(len(verdict["localisation"].get("chapters", [])))
    expect(n_gone_on >= 6, f"only {n_gone_on} runs of {len(shares)} went on: {n_chapters}")
    expect(all(32 <= n <= 130 for n in n_chapters if n), f"chapters: {n_chapters}")
    expect(n_chapters[-1] > 0, f"judged as a whole: {n_chapters}")
    culprits = verdict["localisation"]["culprits"]
    expect([c["rank"] for c in culprits] == [3], f"culprits: {culprits}")
    expect(abs(culprits[0]["onsetStep"] - 8300) <= 10, f"onset: {culprits[0]['onsetStep']}")
    perception = verdict["perception"]
    expect(perception["is_anomaly"], "the slowdown is not perceived chapters later")


def operators_become_enough(job):
    """Chapters by hours give way to short ones in the run that sees operators enough for these."""
    rows = sum((job.whole / name).read_bytes().count(b"\n") for name in job.files if "mspti" in str(name))
    for name in ("model_config.json", "forgetful.json"):
        path = job.growing / name
        config = json.loads(path.read_text())
        config["chapter"] = {"keep": name == "model_config.json", "hours": 0.05,
                             "operators_min": int(rows / 4 * 0.615)}
        path.write_text(json.dumps(config))
    gone_on, n_chapters = [], []
    for share in [0.6, 0.605, 0.61, 0.625, 0.63, 0.635]:
        job.write(share)
        verdict, is_going_on = job.judge()
        gone_on.append(is_going_on)
        n_chapters.append(len(verdict["localisation"]["chapters"]))
    expect(all(gone_on[2:]), f"went on: {gone_on}")
    expect(max(n_chapters[:3]) < 10 and min(n_chapters[3:]) >= 32, f"chapters: {n_chapters}")
    expect("outgrown" not in job.log, "read everything again although nothing changed")


def short_captures_keep_nothing(job):
    job.write(0.05)
    _, is_going_on = job.judge()
    expect(not is_going_on, "went on from nothing")
    left = list((job.folder / "kept").glob("failslow_state.db*"))
    expect(not left, f"state without a reason: {left}")


CASES = [
    (grows, ["fault=compute ranks=3 factor=1.3 onset=200"]),
    (grows, ["timelines=all", "drop=0.01", "clock_ms=50", "drift_ppm=20"]),
    (grows, ["timelines=none", "format=json", "fault=link ranks=2,3 factor=8 onset=300"]),
    (is_found, ["fault=compute ranks=3 factor=1.3 onset=120"]),
    (changes_are_noticed, ["timelines=none"]),
    (first_runs_are_like_others, ["timelines=none"]),
    (kept_rows_may_go, ["fault=compute ranks=3 factor=1.3 onset=600"]),
    (short_files_end_no_run, ["timelines=none", "steps=2000"]),
    (late_ends_are_noticed, ["timelines=none"]),
    (late_streams_are_noticed, ["timelines=none"]),
    (hosts_run_ahead, ["timelines=none"]),
    (holes_are_filled, ["timelines=none", "fault=compute ranks=3 factor=1.3 onset=200"]),
    (many_short_chapters, ["steps=9000", "pairs=1", "fault=compute ranks=3 factor=1.3 onset=8300"]),
    (many_short_chapters, ["steps=9000", "pairs=1", "timelines=none",
                           "fault=compute ranks=3 factor=1.3 onset=8300"]),
    (operators_become_enough, ["steps=9000", "pairs=1"]),
    (silent_ranks_move_no_chapter, ["timelines=none", "dp=1", "tp=5"]),
    (short_captures_keep_nothing, []),
]


def main():
    os.umask(0o022)  # a state that others may write is not used
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for case, settings in CASES:
        with tempfile.TemporaryDirectory() as folder:
            case(Job(options.program.resolve(), pathlib.Path(folder), *settings))
        print("ok", case.__name__, *settings)


if __name__ == "__main__":
    main()
