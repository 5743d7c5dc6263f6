"""Shared by the checks of this folder: commands, a scratch folder for each run, and what must hold after a run."""
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import tempfile

TEMP_BEGIN, TEMP_AGE_S = ".failslow.", 2 * 3600  # left files are removed after an hour
NOW = "1750000100"
LOADER = "error while loading shared libraries"
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}


def facts_of(folder):
    """Names, sizes and times of change of all that lies below a folder, and what is in the files."""
    facts = []
    for path in sorted(pathlib.Path(folder).rglob("*")):
        status = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        facts.append((str(path), status.st_size, status.st_mtime_ns, status.st_ino, digest))
    return facts


class Scratch:
    """A folder with inputs and results of one run; commands name both relative to it."""

    def __init__(self, inputs, base=None):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="torture-", dir=base))
        os.chmod(self.path, 0o755)
        shutil.copytree(inputs, self.path / "in", symlinks=True)
        self.inputs = facts_of(self.path / "in")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def left(self):
        """Temporary files."""
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob(TEMP_BEGIN + "*"))

    def age_left(self):
        for name in self.left():
            status = (self.path / name).stat()
            os.utime(self.path / name, (status.st_atime, status.st_mtime - TEMP_AGE_S))

    def documents(self):
        return sorted(path for path in self.path.glob("out/**/*.json") if not path.name.startswith("."))

    def faults(self, may_leave=False):
        """What is wrong with the files after a run, however it ended."""
        faults = []
        if facts_of(self.path / "in") != self.inputs:
            faults.append("inputs changed")
        for path in self.documents():
            try:
                json.loads(path.read_text())
            except ValueError as error:
                faults.append(f"half file {path.name}: {error}")
        if self.left() and not may_leave:
            faults.append(f"temporary files left: {self.left()}")
        if list(self.path.rglob("*.damaged-*")):
            faults.append("state was damaged")
        for path in self.path.glob("out/*.db"):
            try:
                with sqlite3.connect(path) as state:
                    answer = state.execute("PRAGMA integrity_check").fetchone()[0]
                state.close()
            except sqlite3.Error as error:
                answer = str(error)
            if answer != "ok":
                faults.append(f"state: {answer}")
        return faults
