#!/usr/bin/env python3
"""Which thresholds of limits.h does nothing tell from another value?

usage: sweep.py --build BUILD [--data FOLDER]... [--only NAME,...] [--eval N] [--tests REGEX]

BUILD was configured with -DFSL_LIMITS_TUNABLE=ON: each `#define` of src/*/limits.h is then a variable that the
environment sets. Every threshold gets another value on either side (half and double; of ratios, what is above 1; of
shares, what is left to 1). With each value, failslow runs on all cases until one of them has another verdict: bundled
data sets, and folders with a `model_config.json` or an `expect.json` below each FOLDER; then the tests whose names match
REGEX; then `eval quick --limit N`. One line per threshold says what told the values apart.

A verdict is its kind, the culprits with cause, onset and peers, loss and confidence to two digits, and the exit code.
The second value is tried if nothing told the first. Values that the first cases do not tell are tried several at a
time: two that undo each other would pass. A run takes one thread; --jobs of them run at a time. Python's standard
library alone.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile
import time

RUN_SECONDS_MAX = 60
parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--data", action="append", default=[])
parser.add_argument("--only", default="")
parser.add_argument("--eval", type=int, default=0)
parser.add_argument("--tests", default="")
parser.add_argument("--minutes", type=float, default=60.0)
parser.add_argument("--first", type=int, default=12, help="cases that each value is tried on by itself")
parser.add_argument("--jobs", type=int, default=2)
parser.add_argument("--slowest", type=float, default=1.0, help="cases that take longer, in s, are left out")
parser.add_argument("--timings", default="", help="write what each case takes to this file")
options = parser.parse_args()
build = pathlib.Path(options.build).resolve()
program = str(build / "failslow")
source = pathlib.Path(__file__).resolve().parent.parent.parent
begin = time.monotonic()


def thresholds():
    """Names and values, as the program itself has them."""
    done = subprocess.run([program, "version"], env={**os.environ, "FSL_LIMIT": "?"}, stdout=subprocess.PIPE, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    wanted = set(filter(None, options.only.split(",")))
    return [(row[0], float(row[1]), row[2] == "int") for row in rows
            if len(row) == 3 and (not wanted or row[0] in wanted)]


def other_values(name, value, is_whole):
    if "SHARE" in name or "PERCENT" in name or name.endswith("_PART_MIN"):
        whole = 100.0 if "PERCENT" in name else 1.0
        values = [value / 2, 2 * value if value <= whole / 2 else (value + whole) / 2]
    elif "RATIO" in name and 1.0 < value < 2.0:
        values = [1.0 + (value - 1.0) / 2, 1.0 + (value - 1.0) * 2]
    else:
        values = [value / 2, 2 * value]
    if is_whole:
        values = [float(int(values[0])) if int(values[0]) != value else value - 1, float(round(values[1]))]
    return [v for v in values if v != value]


def find_cases():
    """(folder, arguments) of every run."""
    cases = []
    for truth in sorted((source / "datasets" / "faults").glob("*/truth.json")):
        now = json.loads(truth.read_text()).get("now_ns")
        cases.append((truth.parent, ["detect", ".", "--config", "model_config.json"] + (["--now", str(now)] if now else [])))
    for folder in options.data:
        for marker in sorted(pathlib.Path(folder).rglob("expect.json")):
            runs = json.loads(marker.read_text())
            for run in runs if isinstance(runs, list) else [runs]:
                args = run.get("args") or ["."]
                if args[0] in ("detect",):
                    cases.append((marker.parent, args))
                elif args == ["."] and (marker.parent / "mspti").exists():
                    cases.append((marker.parent, ["detect", "."]))
        for config in sorted(pathlib.Path(folder).rglob("model_config.json")):
            if not (config.parent / "expect.json").exists():
                truth = config.parent / "truth.json"
                now = json.loads(truth.read_text()).get("now_ns") if truth.exists() else None
                cases.append((config.parent, ["detect", ".", "--config", "model_config.json"] +
                              (["--now", str(now)] if now else [])))
    return cases


def digits(value):
    return float(f"{value:.2g}") if isinstance(value, (int, float)) else value


def verdict_of(document):
    found = document.get("localisation") or document
    culprits = [(c.get("rank"), c.get("peer"), c.get("stage"), c.get("cause"), c.get("onsetStep"),
                 digits(c.get("lostMsPerStep")), digits(c.get("confidence"))) for c in found.get("culprits") or []]
    return (found.get("verdict"), digits(found.get("lostMsPerStep")), digits(found.get("confidence")), tuple(culprits))


def run_case(case, setting):
    folder, args = case
    env = {**os.environ, "FSL_LIMIT": setting, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="sweep-") as out:
        keep = [] if "--output" in args or "-o" in args else ["--output", out]
        try:
            done = subprocess.run([program, *args, *keep, "--format", "json", "--jobs", "1"], cwd=folder, env=env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  timeout=RUN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return "no answer"
    try:
        return (done.returncode, verdict_of(json.loads(done.stdout)))
    except (ValueError, AttributeError):
        return (done.returncode, done.stdout)


def test_names():
    done = subprocess.run(["ctest", "--test-dir", str(build), "-N", "-R", options.tests], stdout=subprocess.PIPE, text=True)
    return [line.split(": ", 1)[1].strip() for line in done.stdout.splitlines() if "Test #" in line]


def failing_tests(setting):
    env = {**os.environ, "FSL_LIMIT": setting}
    done = subprocess.run(["ctest", "--test-dir", str(build), "-R", options.tests, "-j", str(options.jobs), "--stop-on-failure"],
                          env=env, stdout=subprocess.PIPE, text=True)
    return [line.split()[2] for line in done.stdout.splitlines() if "(Failed)" in line or "(Timeout)" in line]


def evaluate(setting):
    env = {**os.environ, "FSL_LIMIT": setting}
    with tempfile.TemporaryDirectory(prefix="sweep-") as out:
        subprocess.run([program, "eval", "quick", "--limit", str(options.eval), "--baselines", "none", "--quiet",
                        "--output", out], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        jobs = pathlib.Path(out) / "jobs.csv"
        return [line for line in jobs.read_text().splitlines()] if jobs.exists() else []


cases = find_cases()
usual, timed = {}, []
with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    def measure(i):
        start = time.monotonic()
        return i, run_case(cases[i], ""), time.monotonic() - start
    for i, answer, seconds in pool.map(measure, range(len(cases))):
        if seconds <= options.slowest:
            usual[i] = answer
        timed.append((seconds, str(cases[i][0])))
order = sorted(usual)
if options.timings:
    pathlib.Path(options.timings).write_text("".join(f"{s:7.2f} {name}\n" for s, name in sorted(timed)))
names = test_names() if options.tests else []
usual_eval = evaluate("") if options.eval else []
print(f"{len(order)} of {len(cases)} cases, {len(names)} tests, {max(0, len(usual_eval) - 1)} simulated jobs, "
      f"{time.monotonic() - begin:.0f} s to measure", flush=True)


def differing_case(setting, some):
    """The first of these cases with another verdict; cases that told before come first from then on."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for at in range(0, len(some), 2 * options.jobs):
            part = some[at:at + 2 * options.jobs]
            for i, answer in zip(part, pool.map(lambda i: run_case(cases[i], setting), part)):
                if answer != usual[i]:
                    order.remove(i)
                    order.insert(0, i)
                    return f"{cases[i][0].parent.name}/{cases[i][0].name}"
    return ""


def differing_elsewhere(setting):
    """A test that fails, or "eval"."""
    failing = failing_tests(setting) if names else []
    if failing:
        return failing[0]
    return "eval" if usual_eval and evaluate(setting) != usual_eval else ""


def tell_together(settings, tell):
    """What tells each of these values apart: all at once, and by halves only if something tells some of them."""
    if not settings or out_of_time():
        return {}
    what = tell(",".join(setting for _, setting in settings))
    if not what:
        return {}
    if len(settings) == 1:
        return {settings[0][1]: what}
    half = len(settings) // 2
    return {**tell_together(settings[:half], tell), **tell_together(settings[half:], tell)}


def out_of_time():
    return time.monotonic() - begin > 60.0 * options.minutes


# Cases that tell much are asked about each value, all others about several thresholds at once.
told, left = {}, []
for name, value, is_whole in thresholds():
    others = other_values(name, value, is_whole)
    for other in others:
        setting = f"{name}={other!r}"
        what = "" if out_of_time() else differing_case(setting, order[:options.first])
        if what:
            told[name] = (other, what)
            break
    if name in told:
        print(f"{name} = {value:g}: {told[name][0]:g} {told[name][1]}", flush=True)
    else:
        left.append((name, value, others))
for ask in [lambda s: differing_case(s, order[options.first:])] + ([differing_elsewhere] if names or usual_eval else []):
    for side in range(2):
        settings = [(name, f"{name}={others[side]!r}") for name, _, others in left
                    if name not in told and side < len(others)]
        for at in range(0, len(settings), 6):
            for setting, what in tell_together(settings[at:at + 6], ask).items():
                name, other = setting.split("=")
                told[name] = (float(other), what)
                print(f"{name}: {other} {what}", flush=True)
untold = [name for name, _, _ in left if name not in told]
print("\n".join(f"{name}: untold" for name in untold))
print(f"{len(untold)} thresholds that nothing told from another value, {time.monotonic() - begin:.0f} s" +
      (", out of time" if out_of_time() else ""))
