#!/usr/bin/env python3
"""Runs the command-line cases: each is a shell script whose output is compared with files beside it.

A case <topic>/<case>.sh runs with `bash -eu` in an empty scratch folder. It sees FAILSLOW (the
program), DATASETS (the bundled data sets), CONFIGS (the shipped configuration),
CASES (the folder of all cases) and a bare environment in UTC. Beside it may stand
  .stdout.exact .stderr.exact  the whole output
  .stdout.glob  .stderr.glob   one pattern per line (* ? and [[] for [); a line "..." is any number of lines
  .exit                        the exit code, 0 where the file is absent
Output without a file must be empty. The scratch folder, CONFIGS and DATASETS are written
@SCRATCH@, @CONFIGS@ and @DATASETS@ in what is compared.

  run.py                         all cases
  run.py list/ config/explain    cases whose name begins so
  run.py --set-exact-output      writes .exact and .exit as they are now; read the diff afterwards
"""
import argparse
import difflib
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = "/etc/systrace/result"  # where results go without a configuration, as the cases have it
SECONDS = 120  # a case that takes longer hangs
LINES_SHOWN = 60  # of what differs
SKIPPED = 77  # of a case that says nothing: what it needs was not built


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="beginnings of case names; none: all")
    parser.add_argument("--program", default=ROOT / "build" / "failslow", type=pathlib.Path)
    parser.add_argument("--datasets", default=ROOT / "datasets", type=pathlib.Path)
    parser.add_argument("--results", default=RESULTS, help="FSL_RESULT_DIR of the build")
    parser.add_argument("--without", action="append", default=[], help="beginnings of names to leave out")
    parser.add_argument("--every", type=int, default=1, help="only each N-th case")
    parser.add_argument("--set-exact-output", action="store_true")
    return parser.parse_args()


def case_name(script):
    return str(script.relative_to(HERE).with_suffix(""))


def find_cases(beginnings, without):
    scripts = sorted(HERE.glob("*/*.sh"))
    return [s for s in scripts
            if (not beginnings or case_name(s).startswith(tuple(beginnings)))
            and not case_name(s).startswith(tuple(without))]


def beside(script, suffix):
    return script.with_name(script.stem + suffix)


def matches_globs(lines, patterns):
    """Whether the lines fit the patterns; "..." stands for any lines."""
    reachable = {0}  # numbers of lines that the patterns so far can have used up
    for pattern in patterns:
        if pattern == "...":
            reachable = set(range(min(reachable), len(lines) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable
                         if at < len(lines) and fnmatch.fnmatchcase(lines[at], pattern)}
    return len(lines) in reachable


def check_stream(script, stream, output):
    """Text that says what differs; empty when nothing does."""
    glob, exact = beside(script, f".{stream}.glob"), beside(script, f".{stream}.exact")
    if glob.exists():
        patterns = glob.read_text().splitlines()
        if matches_globs(output.splitlines(), patterns):
            return ""
        return f"{stream} does not match {glob.name}:\n{output}"
    wanted = exact.read_text() if exact.exists() else ""
    if output == wanted:
        return ""
    diff = difflib.unified_diff(wanted.splitlines(True), output.splitlines(True),
                                f"{stream} wanted", f"{stream} now")
    return "".join(line if line.endswith("\n") else line + "\n" for line in diff)


def set_stream(script, stream, output):
    exact = beside(script, f".{stream}.exact")
    if beside(script, f".{stream}.glob").exists() or not output:
        exact.unlink(missing_ok=True)
    else:
        exact.write_text(output)


def set_exit(script, code):
    file = beside(script, ".exit")
    if code == 0:
        file.unlink(missing_ok=True)
    else:
        file.write_text(f"{code}\n")


def run_script(script, options):
    """Exit code, stdout and stderr of one case, folders replaced by their names."""
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="failslow-cli-")).resolve()
    folders = {"SCRATCH": scratch, "DATASETS": options.datasets.resolve(),
               "CONFIGS": ROOT / "config"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(scratch), "LC_ALL": "C", "TZ": "UTC",
                   "FAILSLOW": str(options.program.resolve()),
                   "DATASETS": str(folders["DATASETS"]), "CONFIGS": str(folders["CONFIGS"]),
                   "CASES": str(HERE)}
    # Sanitizer settings, MPI and the like reach the program through the environment.
    environment.update({key: value for key, value in os.environ.items()
                        if key.endswith("SAN_OPTIONS") or key.startswith("OMP_")})
    try:
        result = subprocess.run(["bash", "-eu", str(script)], cwd=scratch, env=environment,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                                check=False)
        outputs = [result.stdout.decode(errors="replace"), result.stderr.decode(errors="replace")]
        code = result.returncode
    except subprocess.TimeoutExpired:
        code, outputs = -1, ["", f"the case took more than {SECONDS} s\n"]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for name, folder in folders.items():
        outputs = [output.replace(str(folder), f"@{name}@") for output in outputs]
    outputs = [output.replace(options.results, RESULTS) for output in outputs]
    return code, outputs[0], outputs[1]


def check_case(script, options):
    code, stdout, stderr = run_script(script, options)
    if code == SKIPPED and not stdout and not stderr:
        print(f"SKIPPED {case_name(script)}")
        return ""
    if options.set_exact_output:
        set_stream(script, "stdout", stdout)
        set_stream(script, "stderr", stderr)
        set_exit(script, code)
        return ""
    file = beside(script, ".exit")
    wanted = int(file.read_text()) if file.exists() else 0
    faults = [f"exit code is {code}, wanted {wanted}\n"] if code != wanted else []
    faults += [check_stream(script, "stdout", stdout), check_stream(script, "stderr", stderr)]
    return "".join(faults)


def main():
    options = parse_arguments()
    if not options.program.exists():
        sys.exit(f"run.py: there is no program to test: {options.program}")
    scripts = find_cases(options.cases, options.without)[::options.every]
    if not scripts:
        sys.exit("run.py: no case has such a name")
    os.umask(0o022)  # files of a state that others may write are not used
    n_failed = 0
    for script in scripts:
        faults = check_case(script, options)
        if faults:
            n_failed += 1
            lines = faults.splitlines()
            more = [f"... {len(lines) - LINES_SHOWN} more lines"] if len(lines) > LINES_SHOWN else []
            print("\n".join([f"FAILED {case_name(script)}", *lines[:LINES_SHOWN], *more]))
    print(f"{len(scripts) - n_failed} of {len(scripts)} cases passed")
    sys.exit(1 if n_failed else 0)


if __name__ == "__main__":
    main()
