#!/usr/bin/env python3
"""Runs failslow under mpirun and holds one claim, named on the command line, as a function below."""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SECONDS = 60  # a run that takes longer hangs
NOW = "1763717132"


class Bench:
    """A scratch folder, the program, and mpirun."""

    def __init__(self, options, folder):
        self.program = str(options.program.resolve())
        self.preload = str(options.preload.resolve())
        self.mpirun = options.mpirun
        self.folder = folder
        self.environment = dict(os.environ, TZ="UTC", NO_COLOR="1", HOME=str(folder),
                                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for name in list(self.environment):
            if name.startswith(("OMPI_COMM_", "PMI_", "PMIX_", "SLURM_")):
                del self.environment[name]

    def run(self, words, folder=None, **more):
        environment = dict(self.environment, **more)
        return subprocess.run([str(w) for w in words], cwd=folder or self.folder, env=environment, text=True,
                              capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)

    def launch(self, n, words, **more):
        return self.run([self.mpirun, "--oversubscribe", "--bind-to", "none", "-n", n, self.program,
                         *words], **more)

    def simulate(self, name="job"):
        self.check(self.run([self.program, "simulate", name, "tp=2", "dp=4", "steps=40", "seed=7",
                             "fault=compute ranks=3 factor=1.4 onset=15"]))
        return self.folder / name

    @staticmethod
    def check(result, code=0):
        assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
        return result


def detect_words(job, output, *more):
    return ["detect", job, "--now", NOW, "--output", output, "--format", "json", *more]


def verdict(bench, result, output):
    """What was printed, the case and both files of sysTrace, which name no process and no host of ours."""
    files = sorted((bench.folder / output).glob("*.json"))
    assert len(files) == 3, files
    texts = [result.stdout] + [f.name + f.read_text() for f in files]
    shutil.rmtree(bench.folder / output)
    return texts


def spoil(job):
    """Files in every state: cut, empty, foreign, compressed, a second one of a rank."""
    files = sorted((job / "mspti").iterdir())
    data = files[0].read_bytes()
    files[0].write_bytes(data[:len(data) * 3 // 4 + 11])
    files[1].write_bytes(b"")
    files[2].write_bytes(b"no markers at all\n")
    (job / "mspti" / (files[3].name + ".gz")).write_bytes(gzip.compress(files[3].read_bytes(), mtime=0))
    (job / "mspti" / "notes.txt").write_text("to be left alone\n")
    (job / "mspti" / "hccl_activity-gone-.6.csv").symlink_to("nowhere")


def same_bytes(bench):
    job = bench.simulate()
    for is_spoilt in (False, True):
        if is_spoilt:
            spoil(job)
        alone = bench.check(bench.run([bench.program, *detect_words("job", "out")]))
        assert is_spoilt or json.loads(alone.stdout)["localisation"]["verdict"] == "slow_rank"
        wanted = verdict(bench, alone, "out")
        for n, jobs in ((1, 2), (2, 1), (2, 2), (4, 1), (4, 2)):
            words = detect_words("job", "out", "--jobs", jobs)
            found = verdict(bench, bench.check(bench.launch(n, words)), "out")
            assert found == wanted, (n, jobs, is_spoilt)
    # The same files, made in another order.
    os.rename(job, bench.folder / "old")
    shutil.copytree(bench.folder / "old", job, symlinks=True, ignore=lambda *_: ["mspti"])
    (job / "mspti").mkdir()
    for file in sorted((bench.folder / "old" / "mspti").iterdir(), reverse=True):
        shutil.copy2(file, job / "mspti" / file.name, follow_symlinks=False)
    assert verdict(bench, bench.check(bench.launch(3, detect_words("job", "out"))), "out") == wanted
    # What a slow rank means for the exit code.
    words = detect_words("job", "out", "--exit-code", "-q")
    alone = bench.run([bench.program, *words])
    shutil.rmtree(bench.folder / "out")
    bench.check(bench.launch(2, words), alone.returncode)


def two_processes(bench, second, words):
    """The first as usual, the second with words of env before the program."""
    return [bench.mpirun, "--oversubscribe", "--bind-to", "none", "-n", 1, bench.program, *words,
            ":", "-n", 1, "env", *second, bench.program, *words]


def lost_process(bench):
    bench.simulate()
    second = [f"LD_PRELOAD={bench.preload}", "FSL_TEST_DIE_ON=hccl_activity"]
    result = bench.run(two_processes(bench, second, detect_words("job", "out")))
    assert result.returncode != 0 and "signal 9" in result.stderr, result
    left = [path.name for path in (bench.folder / "out").glob("*")]
    assert result.stdout == "" and left in ([], ["failslow_state.lock"]), (result, left)


def hidden_folder(bench):
    bench.simulate("here/job")
    (bench.folder / "there").mkdir()
    words = detect_words("job", bench.folder / "out")
    here, there = bench.folder / "here", bench.folder / "there"
    alone = bench.check(bench.run([bench.program, *words], folder=here))
    wanted = verdict(bench, alone, "out")
    start = [bench.mpirun, "--oversubscribe", "--bind-to", "none"]
    result = bench.check(bench.run([*start, "-n", 1, "-wdir", here, bench.program, *words,
                                    ":", "-n", 2, "-wdir", there, bench.program, *words]))
    assert verdict(bench, result, "out") == wanted
    lines = [line for line in result.stderr.splitlines() if "a process reads nothing" in line]
    assert len(lines) == 2, result.stderr
    for line in lines:
        assert "mount the run's folder on its host or leave that host out" in line, line
        assert f'host="{os.uname().nodename}"' in line and 'path="job"' in line, line
    # The first process is the one that does not see it: nothing can be found, and the others end.
    result = bench.run([*start, "-n", 1, "-wdir", there, bench.program, *words,
                        ":", "-n", 1, "-wdir", here, bench.program, *words])
    assert result.returncode == 3 and "the input cannot be used" in result.stderr, result


def unreadable_file(bench):
    job = bench.simulate()
    (job / "mspti" / "hccl_activity-gone-.6.csv").symlink_to("nowhere")
    result = bench.check(bench.launch(4, detect_words("job", "out")))
    assert result.stderr.count("failslow: warning") == 1, result.stderr
    assert "hccl_activity-gone-.6.csv" in result.stderr, result.stderr


def alone(bench):
    bench.simulate()
    more = {"LD_PRELOAD": bench.preload, "FSL_TEST_NO_MPI": "1"}
    words = detect_words("job", "out", "-q")
    bench.check(bench.run([bench.program, *words], **more))
    shutil.rmtree(bench.folder / "out")
    # In the batch script of a job of four, and as the only process of a launcher.
    bench.check(bench.run([bench.program, *words], SLURM_NTASKS="4", SLURM_PROCID="0", **more))
    shutil.rmtree(bench.folder / "out")
    start = [bench.mpirun, "-n", 1, "env", *(f"{k}={v}" for k, v in more.items())]
    bench.check(bench.run([*start, bench.program, *words]))
    # A launcher whose processes MPI cannot bring together.
    result = bench.run([bench.program, *words], SLURM_STEP_NUM_TASKS="2", SLURM_PROCID="0")
    assert result.returncode == 2 and "srun --mpi=pmix" in result.stderr, result
    result = bench.check(bench.run([bench.program, *words], SLURM_STEP_NUM_TASKS="2", SLURM_PROCID="1"))
    assert result.stdout == "" and result.stderr == "", result


def other_commands(bench):
    for words in (["list", "detectors"], ["version"], ["--help"], ["help", "detect"], ["detect", "--help"]):
        wanted = bench.check(bench.run([bench.program, *words])).stdout
        assert bench.check(bench.launch(3, words)).stdout == wanted, words
    result = bench.launch(3, ["nosuch"])
    assert result.returncode == 2 and result.stderr.count("no such command") == 1, result
    result = bench.launch(3, ["detect", "--nosuch"])
    assert result.returncode == 2 and result.stderr.count("failslow: error") == 1, result
    assert "Open MPI" in bench.run([bench.program, "version"]).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("claim", choices=[f.__name__ for f in CLAIMS])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--preload", type=pathlib.Path, required=True)
    parser.add_argument("--mpirun", default="mpirun")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        {f.__name__: f for f in CLAIMS}[options.claim](Bench(options, pathlib.Path(folder)))
    return 0


CLAIMS = [same_bytes, lost_process, hidden_folder, unreadable_file, alone, other_commands]

if __name__ == "__main__":
    sys.exit(main())
