#!/usr/bin/env python3
"""Runs two programs on the same data and prints every verdict that differs.

usage: compare.py OLD NEW [FOLDER]... [--texts] [--documents] [--timeout SECONDS]

OLD and NEW are two builds of failslow. Without FOLDER the data of datasets/ is taken. Cases are found below each
folder, from the top:

  expect.json           each entry of it is a run, with the operands and options in its key `args`
  model_config.json     detect --config model_config.json, as of `now_ns` of truth.json if that is there
  hccl_activity-*, *.timeline, mspti, timeline       detect DIR
  *_ascend_pt, *_ascend_ms, PROF_*, ASCEND_PROFILER_OUTPUT, mindstudio_profiler_output       profile DIR
  *.tar.xz, *.tar.gz    what is in it
  any other files       detect DIR and profile DIR, and series FILE for each of .csv, .txt, .log and .json;
                        then the folders below

Compared are the exit code, the kind, confidence and loss of the verdict, its culprits (rank, peer, cause, onset,
loss), its victims, its findings, and perception (kind, episodes, slow steps, hang, loading, checkpoints). Numbers
may differ by 0.5 %. --documents compares every key of the JSON documents instead, --texts also what the terminal
shows. One job after the other, each with --jobs 1 and a time limit. Python's standard library alone; nothing
outside a temporary folder is written. Exit code: 0 no difference, 1 differences, 2 usage.
"""
import argparse, difflib, glob, json, math, os, re, subprocess, sys, tarfile, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARKERS = ("hccl_activity-*", "*.timeline", "mspti", "timeline")
CAPTURES = ("*_ascend_pt", "*_ascend_ms", "PROF_*", "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output")
SERIES = (".csv", ".txt", ".log", ".json")
NO_INPUT = ("expect.json", "truth.json", "metric_config.json", "model_config.json", "LICENSE", "README.md",
            "PROVENANCE.md")
TOLERANCE = 0.005  # relative
LEAST = 0.002      # absolute: documents round to three digits
VOLATILE = {"timestamp", "silentMinutes", "detect_point", "version"}  # tell of the run, not of the job
PRESENT = (re.compile(r"(no event for )[0-9.]+( min)"),  # the present is not the same for both programs
           re.compile(r"(_result_(?:[a-z]+_)?)[0-9]+(\.json)"))
JUDGED = 0, 1      # exit codes of a run that came to a verdict
TEXTS_MAX = 6      # lines told of one text


def has_any(folder, patterns):
    return any(glob.glob(os.path.join(glob.escape(folder), pattern)) for pattern in patterns)


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def expected_runs(folder):
    wants = read_json(os.path.join(folder, "expect.json")) or {}
    for want in wants if isinstance(wants, list) else [wants]:
        yield folder, want.get("args", ["."])


def configured_run(folder):
    truth = read_json(os.path.join(folder, "truth.json")) or {}
    now = ["--now", str(truth["now_ns"])] if truth.get("now_ns") else []
    yield folder, ["detect", "--config", "model_config.json", *now]


def other_runs(folder, files):
    yield folder, ["detect", "."]
    yield folder, ["profile", "."]
    for name in files:
        if name.endswith(SERIES):
            yield folder, ["series", name]


def archived_runs(path):
    with tempfile.TemporaryDirectory(prefix="compare-") as place:
        with tarfile.open(path) as archive:
            archive.extractall(place, filter="data")
        yield from runs_below(place)


def runs_below(folder):
    """Pairs of a folder to run in and arguments, from the top of each case."""
    names = sorted(os.listdir(folder))
    files = [name for name in names if os.path.isfile(os.path.join(folder, name)) and name not in NO_INPUT]
    if "expect.json" in names:
        yield from expected_runs(folder)
    elif "model_config.json" in names:
        yield from configured_run(folder)
    elif has_any(folder, MARKERS):
        yield folder, ["detect", "."]
    elif has_any(folder, CAPTURES):
        yield folder, ["profile", "."]
    else:
        archives = [n for n in files if n.endswith((".tar.xz", ".tar.gz"))]
        for name in archives:
            yield from archived_runs(os.path.join(folder, name))
        if len(files) > len(archives):
            yield from other_runs(folder, [n for n in files if n not in archives])
        for name in names:
            if os.path.isdir(os.path.join(folder, name)):
                yield from runs_below(os.path.join(folder, name))


def options_of(args, output):
    command = args[0] if args and args[0] in ("detect", "profile", "series") else "detect"
    if command == "series":
        return []
    return ["--output", output] + (["--jobs", "1"] if "--jobs" not in args and "-j" not in args else [])


def run(program, folder, args, more, limit_s):
    """Exit code, standard output and standard error; what names the temporary folder is made alike."""
    with tempfile.TemporaryDirectory(prefix="compare-") as output:
        try:
            done = subprocess.run([program, *args, *options_of(args, output), *more], cwd=folder,
                                  env={**os.environ, "OMP_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit_s)
        except subprocess.TimeoutExpired:
            return "none in time", "", ""
        texts = [text.decode("utf-8", "replace").replace(output, "OUTPUT") for text in (done.stdout, done.stderr)]
    return done.returncode, *texts


def parse(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def part(document, key):
    """A part of the verdict, in whichever of the documents' forms it stands."""
    nested = document.get("verdict") if isinstance(document.get("verdict"), dict) else {}
    for holder in (nested, document.get("localisation") or {}, document):
        if key in holder and not isinstance(holder[key], dict):
            return holder[key]
    return None


def culprits_of(document):
    keys = ("peer", "cause", "onsetStep", "lostMsPerStep")
    return {f"{c.get('rank')}>{c.get('peer')}": {key: c.get(key) for key in keys}
            for c in part(document, "culprits") or []}


def perception_of(document):
    seen = document.get("perception") or {}
    hang = seen.get("hang") or {}
    return {
        "verdict": seen.get("verdict"),
        "steps": (seen.get("coverage") or {}).get("steps"),
        "slowSteps": [item.get("training_step") for item in seen.get("anomaly_info") or []],
        "episodes": [{key: e.get(key) for key in ("onsetStep", "untilStep", "beforeMs", "afterMs")}
                     for e in seen.get("episodes") or []],
        "hang": {"isHanging": hang.get("isHanging"), "stoppedFirst": hang.get("stoppedFirst")},
        "slowDataloader": len(seen.get("slowDataloader") or []),
        "slowCheckpoints": len(seen.get("slowCheckpoints") or []),
    }


def summary(document):
    """What a reader would act upon."""
    if not isinstance(document, dict):
        return {"document": document}
    found = {key: part(document, key) for key in ("verdict", "confidence", "lostMsPerStep", "slowdown", "changes")}
    found["order"] = [c.get("rank") for c in part(document, "culprits") or []]
    found["culprits"] = culprits_of(document)
    found["victims"] = [v.get("rank") for v in part(document, "victims") or []]
    found["findings"] = sorted(str(f.get("code")) for f in document.get("findings") or [] if isinstance(f, dict))
    found["perception"] = perception_of(document)
    return found


def still(value):
    """A text without what differs with the time of the run; any other value as it is."""
    for pattern in PRESENT if isinstance(value, str) else ():
        value = pattern.sub(r"\1now\2", value)
    return value


def is_close(old, new):
    return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=LEAST)


def differences(old, new, path=""):
    """Lines "where: old -> new"."""
    is_number = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in VOLATILE:
                yield from differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, pair in enumerate(zip(old, new)):
            yield from differences(*pair, f"{path}.{i}")
    elif not (is_close(old, new) if is_number else still(old) == still(new)):
        yield f"{path}: {shown(old)} -> {shown(new)}"


def shown(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:157] + "..."


def text_differences(old, new):
    lines = [line for line in difflib.unified_diff(still(old).splitlines(), still(new).splitlines(), lineterm="", n=0)
             if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    yield from (f"text: {line}" for line in lines[:TEXTS_MAX])
    if len(lines) > TEXTS_MAX:
        yield f"text: {len(lines) - TEXTS_MAX} more lines"


def compare(options, folder, args):
    sides = [run(program, folder, args, ["--format", "json"], options.timeout)
             for program in (options.old, options.new)]
    (old_code, old_text, old_trouble), (new_code, new_text, new_trouble) = sides
    yield from differences(old_code, new_code, "exit code")
    if {old_code, new_code} & set(JUDGED):
        kept = (lambda document: document) if options.documents else summary
        yield from differences(kept(parse(old_text)), kept(parse(new_text)))
    elif options.texts or options.documents:
        yield from text_differences(old_trouble, new_trouble)
    if options.texts and {old_code, new_code} & set(JUDGED):
        yield from text_differences(*("\n".join(run(program, folder, args, [], options.timeout)[1:])
                                      for program in (options.old, options.new)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("old", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    parser.add_argument("folders", nargs="*", default=[os.path.join(ROOT, "datasets")])
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--documents", action="store_true")
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    n_runs = n_different = n_lines = 0
    for top in options.folders:
        for folder, args in runs_below(os.path.abspath(top)):
            lines = list(compare(options, folder, args))
            name = os.path.relpath(folder, os.path.abspath(top))
            for line in lines:
                print(f"{name}: {' '.join(args)}: {line}", flush=True)
            n_runs += 1
            n_different += bool(lines)
            n_lines += len(lines)
    print(f"{n_runs} runs compared, {n_different} differ in {n_lines} places")
    return 1 if n_different or not n_runs else 0


if __name__ == "__main__":
    sys.exit(main())
