#!/usr/bin/env python3
"""Follows a walk of docs/developers/contributing.md, "Add a NAME", word for word in a copy of the tree.

usage: walk.py detector|format|command|judge|reporter SOURCE_DIR BUILD_DIR CMAKE

A code block of the walk whose first line is "```LANGUAGE file=PATH" is written to PATH. "append=PATH" appends it, and
'insert=PATH before="TEXT"' puts it in front of the first line that begins with TEXT. The copy is configured like
BUILD_DIR, which must be built with Ninja. To be quick, only new files and the files that include the changed table are
compiled; all other objects come from the libraries of BUILD_DIR.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'^(````?)\w+ (file|append|insert)=(\S+)(?: before="([^"\n]+)")?\n(.*?)^\1$', re.S | re.M)
OPTION = re.compile(r"^((?:FSL_\w+|CMAKE_BUILD_TYPE|CMAKE_C_\w+):\w+=.*)$", re.M)


def run(*command, cwd=None, fails=False):
    result = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    output = result.stdout + result.stderr
    if (result.returncode != 0) != fails:
        print(output[-4000:])
        sys.exit(f"walk: exit code {result.returncode} of: {' '.join(str(word) for word in command)}")
    return output


class Walk:
    """One walk in a copy of the tree, with a build folder of its own."""

    def __init__(self, name, source, build, cmake, folder):
        self.source, self.build, self.cmake = source, build, cmake
        self.tree, self.out = folder / "tree", folder / "build"
        text = (source / "docs/developers/contributing.md").read_text(encoding="utf-8")
        section = re.search(rf"^## Add a {name}$(.*?)(?=^## Add )", text, re.S | re.M)
        self.steps = [match.groups()[1:] for match in BLOCK.finditer(section.group(1) if section else "")]
        if not self.steps:
            sys.exit(f"walk: the document has no steps under: Add a {name}")
        self.paths = [path for _, path, _, _ in self.steps]
        self.tables = [os.path.basename(path) for path in self.paths if path.endswith(".def")]
        shutil.copytree(source, self.tree, ignore=self.ignored)

    @staticmethod
    def ignored(folder, names):
        """Version control and build folders."""
        return [name for name in names
                if name == ".git" or os.path.exists(os.path.join(folder, name, "CMakeCache.txt"))]

    def take_step(self, kind, path, before, text):
        target = self.tree / path
        if kind == "file":
            if target.exists():
                sys.exit(f"walk: the document overwrites a file: {path}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            return
        old = target.read_text(encoding="utf-8")
        at = len(old) if kind == "append" else ("\n" + old).find("\n" + before)
        if at < 0:
            sys.exit(f"walk: no line of {path} begins with: {before}")
        target.write_text(old[:at] + text + old[at:], encoding="utf-8")

    def take_steps(self, begin=0, end=None):
        for step in self.steps[begin:end]:
            self.take_step(*step)

    def configure(self, fails=False):
        options = OPTION.findall((self.build / "CMakeCache.txt").read_text(encoding="utf-8"))
        return run(self.cmake, "-S", self.tree, "-B", self.out, "-G", "Ninja", *[f"-D{option}" for option in options],
                   fails=fails)

    def sources(self):
        """New C files, and the files that hold the changed table."""
        include = re.compile(rf'^#include "(?:[\w/]+/)?(?:{"|".join(map(re.escape, self.tables))})"$', re.M)
        tables = [path.relative_to(self.tree) for path in (self.tree / "src").rglob("*.c")
                  if include.search(path.read_text(encoding="utf-8"))]
        new = [pathlib.Path(path) for path in self.paths if path.endswith(".c") and not path.startswith("tests/")]
        return [*new, *tables]

    def make(self, *targets):
        """Builds the targets from new objects and old libraries."""
        for library in self.build.rglob("*.a"):
            link = self.out / library.relative_to(self.build)
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to(library)
        done = set()
        for target in targets:
            commands = run("ninja", "-C", self.out, "-t", "commands", target).splitlines()
            compile_of = {}
            for command in commands:
                match = re.search(r" -o (\S+\.o) -c (\S+)", command)
                if match:
                    compile_of[match.group(1)] = (command, pathlib.Path(match.group(2)).relative_to(self.out.parent))
            link = next(command for command in reversed(commands)
                        if re.search(rf" -o (?:\S*/)?{re.escape(os.path.basename(target))} ", command))
            own = [word for word in shlex.split(link) if word.endswith(".o")]
            wanted = {pathlib.Path("tree") / source for source in self.sources()}
            extra = [name for name, (_, source) in compile_of.items() if source in wanted and name not in own]
            missing = wanted - {source for _, source in compile_of.values()}
            if missing:
                sys.exit(f"walk: not in the build of {target}: {', '.join(map(str, missing))}")
            for name in [*own, *extra]:
                if name not in done:
                    run("sh", "-c", compile_of[name][0], cwd=self.out)
                    done.add(name)
            run("sh", "-c", link.replace(" -o ", f" {' '.join(extra)} -o ", 1), cwd=self.out)

    def run_test(self, name):
        return run(self.out / "tests" / name, cwd=self.tree)


def test_of(walk):
    return next(pathlib.Path(path).stem for path in walk.paths if re.match(r"tests/.*/test_\w+\.c$", path))


def walk_detector(walk):
    name = pathlib.Path(walk.paths[0]).stem
    walk.take_steps(0, 2)
    output = walk.configure(fails=True)
    if f"tests/detectors/test_{name}.c" not in output:
        sys.exit(f"walk: a detector without a test is not refused clearly:\n{output}")
    walk.take_steps(2)
    walk.configure()
    walk.make(f"test_{name}", "print_tables")
    walk.run_test(f"test_{name}")
    if f"<!-- parameters of {name} -->" not in run(walk.out / "tests/plugin/print_tables"):
        sys.exit(f"walk: the registry does not know {name}")
    check = (sys.executable, walk.tree / "tests/plugin/detectors_md.py", walk.out / "tests/plugin/print_tables",
             walk.tree / "docs/users/detectors.md")
    run(*check, "--write")
    run(*check)


def walk_format(walk):
    name = pathlib.Path(walk.paths[0]).stem
    walk.take_steps()
    walk.configure()
    walk.make(test_of(walk), "test_mutated_input", f"fuzz_{name}", "failslow")
    for test in (test_of(walk), "test_mutated_input", f"fuzz/fuzz_{name}"):
        walk.run_test(test)
    if not re.search(rf"^{name} ", run(walk.out / "failslow", "list", "formats"), re.M):
        sys.exit(f"walk: failslow list formats does not show {name}")


def walk_command(walk):
    name = pathlib.Path(walk.paths[0]).stem.removeprefix("cmd_")
    walk.take_steps()
    walk.configure()
    walk.make("failslow")
    program, cases = walk.out / "failslow", walk.tree / "tests/cli/run.py"
    if not re.search(rf"^{name} ", run(program, "list", "commands"), re.M):
        sys.exit(f"walk: failslow list commands does not show {name}")
    run(sys.executable, cases, "--program", program, "--set-exact-output", "help/")
    run(sys.executable, cases, "--program", program, "help/", f"{name}/")
    if shutil.which("pandoc") is None:
        print("walk: no pandoc, so the manual page is not made")
        return
    for page in ("failslow", f"failslow-{name}"):
        path = walk.tree / "docs/man" / f"{page}.1"
        run("pandoc", "--standalone", "--from", "markdown-smart", "--to", "man", "-o", path, f"{path}.md")
    run(sys.executable, walk.tree / "tests/cli/check_manual.py", program)


def walk_judge(walk):
    walk.take_steps()
    walk.configure()
    walk.make(test_of(walk), "failslow")
    walk.run_test(test_of(walk))
    run(sys.executable, walk.tree / "tests/limits/check_limits.py", walk.tree)
    run(walk.out / "failslow", "profile", walk.tree / "datasets/profile/slow_rank", "--quiet")
    code = re.search(r"judge_(\w+)\.c$", walk.paths[0]).group(1)
    if f"`{code}`" not in (walk.tree / "docs/users/profile.md").read_text(encoding="utf-8"):
        sys.exit(f"walk: the document does not explain {code}")


def walk_reporter(walk):
    name = pathlib.Path(walk.paths[0]).stem.removeprefix("reporter_")
    walk.take_steps()
    walk.configure()
    walk.make(test_of(walk), "failslow")
    walk.run_test(test_of(walk))
    program, out = walk.out / "failslow", walk.out / "told"
    if not re.search(rf"^{name} ", run(program, "list", "reporters"), re.M):
        sys.exit(f"walk: failslow list reporters does not show {name}")
    run(program, "detect", walk.tree / "datasets/faults/slow_rank", "--now", "1750000066", "--output", out, "--quiet")
    word = (out / name).read_text(encoding="utf-8")
    if word != "slow_rank":
        sys.exit(f"walk: the run does not show the reporter: {word}")


WALKS = {"detector": walk_detector, "format": walk_format, "command": walk_command, "judge": walk_judge,
         "reporter": walk_reporter}


def main():
    name, source, build, cmake = sys.argv[1], *[pathlib.Path(path).resolve() for path in sys.argv[2:4]], sys.argv[4]
    with tempfile.TemporaryDirectory(prefix="walk-") as folder:
        walk = Walk(name, source, build, cmake, pathlib.Path(folder).resolve())
        WALKS[name](walk)
    print(f"walk: {name}, files={', '.join(walk.paths)}")


if __name__ == "__main__":
    main()
