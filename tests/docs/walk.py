#!/usr/bin/env python3
"""Follows walks of docs/developers/contributing.md, "Add a NAME", word for word in one copy of the tree.

usage: walk.py SOURCE_DIR BUILD_DIR CMAKE detector|format|command|judge|reporter...

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
    """The steps of one section of the document, and the files that they change."""

    def __init__(self, name, text):
        section = re.search(rf"^## Add a {name}$(.*?)(?=^## Add )", text, re.S | re.M)
        self.steps = [match.groups()[1:] for match in BLOCK.finditer(section.group(1) if section else "")]
        if not self.steps:
            sys.exit(f"walk: the document has no steps under: Add a {name}")
        self.paths = [path for _, path, _, _ in self.steps]
        self.file = pathlib.Path(self.paths[0]).stem

    def tests(self):
        return [pathlib.Path(path).stem for path in self.paths if re.match(r"tests/.*/test_\w+\.c$", path)]


class Copy:
    """A copy of the tree in which all walks are followed, with a build folder of its own."""

    def __init__(self, walks, source, build, cmake, folder):
        self.walks, self.source, self.build, self.cmake = walks, source, build, cmake
        self.tree, self.out = folder / "tree", folder / "build"
        self.paths = [path for walk in walks for path in walk.paths]
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

    def take_steps(self, steps):
        for step in steps:
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
        """Builds the targets from new objects and old libraries. The last target has all that is new."""
        # Tests that run meanwhile make folders and remove them: no look into these.
        for library in [*self.build.glob("*.a"), *self.build.glob("tests/*.a")]:
            link = self.out / library.relative_to(self.build)
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to(library)
        done, wanted = set(), {pathlib.Path("tree") / source for source in self.sources()}
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
            extra = [name for name, (_, source) in compile_of.items() if source in wanted and name not in own]
            missing = wanted - {source for _, source in compile_of.values()}
            if missing and target == targets[-1]:
                sys.exit(f"walk: not in the build of {target}: {', '.join(map(str, missing))}")
            for name in [*own, *extra]:
                if name not in done:
                    run("sh", "-c", compile_of[name][0], cwd=self.out)
                    done.add(name)
            run("sh", "-c", link.replace(" -o ", f" {' '.join(extra)} -o ", 1), cwd=self.out)

    def run_test(self, name):
        return run(self.out / "tests" / name, cwd=self.tree)

    def lists(self, kind, name):
        if not re.search(rf"^{name} ", run(self.out / "failslow", "list", kind), re.M):
            sys.exit(f"walk: failslow list {kind} does not show {name}")


def refuse_untested(walk, copy):
    """A detector without its test is refused when the tree is configured."""
    copy.take_steps(walk.steps[:2])
    output = copy.configure(fails=True)
    if f"tests/detectors/test_{walk.file}.c" not in output:
        sys.exit(f"walk: a detector without a test is not refused clearly:\n{output}")
    walk.steps = walk.steps[2:]


def check_detector(walk, copy):
    if f"<!-- parameters of {walk.file} -->" not in run(copy.out / "tests/plugin/print_tables"):
        sys.exit(f"walk: the registry does not know {walk.file}")
    check = (sys.executable, copy.tree / "tests/plugin/detectors_md.py", copy.out / "tests/plugin/print_tables",
             copy.tree / "docs/users/detectors.md")
    run(*check, "--write")
    run(*check)


def check_format(walk, copy):
    for test in ("test_mutated_input", f"fuzz/fuzz_{walk.file}"):
        copy.run_test(test)
    copy.lists("formats", walk.file)


def check_command(walk, copy):
    name = walk.file.removeprefix("cmd_")
    program, cases = copy.out / "failslow", copy.tree / "tests/cli/run.py"
    copy.lists("commands", name)
    run(sys.executable, cases, "--program", program, "--set-exact-output", "help/")
    run(sys.executable, cases, "--program", program, "help/", "list/", f"{name}/")
    run(sys.executable, copy.tree / "scripts/make_completion.py", program)
    run(sys.executable, copy.tree / "tests/cli/check_completion.py", program)
    if shutil.which("pandoc") is None:
        print("walk: no pandoc, so the manual page is not made")
        return
    for page in ("failslow", f"failslow-{name}"):
        path = copy.tree / "docs/man" / f"{page}.1"
        run("pandoc", "--standalone", "--from", "markdown-smart", "--to", "man", "-o", path, f"{path}.md")
    run(sys.executable, copy.tree / "tests/cli/check_manual.py", program)


def check_judge(walk, copy):
    run(sys.executable, copy.tree / "tests/limits/check_limits.py", copy.tree)
    run(copy.out / "failslow", "profile", copy.tree / "datasets/profile/slow_rank", "--quiet")
    code = walk.file.removeprefix("judge_")
    if f"`{code}`" not in (copy.tree / "docs/users/profile.md").read_text(encoding="utf-8"):
        sys.exit(f"walk: the document does not explain {code}")


def check_reporter(walk, copy):
    name = walk.file.removeprefix("reporter_")
    program, out = copy.out / "failslow", copy.out / "told"
    copy.lists("reporters", name)
    run(program, "detect", copy.tree / "datasets/faults/slow_rank", "--now", "1750000066", "--output", out, "--quiet")
    word = (out / name).read_text(encoding="utf-8")
    if word != "slow_rank":
        sys.exit(f"walk: the run does not show the reporter: {word}")


# What a walk needs beside its unit test and the program; what is done before all steps are taken; what shows at the end.
WALKS = {
    "detector": (lambda walk: ["print_tables"], refuse_untested, check_detector),
    "format": (lambda walk: ["test_mutated_input", f"fuzz_{walk.file}"], None, check_format),
    "command": (lambda walk: [], None, check_command),
    "judge": (lambda walk: [], None, check_judge),
    "reporter": (lambda walk: [], None, check_reporter),
}


def main():
    source, build, cmake, names = *[pathlib.Path(path).resolve() for path in sys.argv[1:3]], sys.argv[3], sys.argv[4:]
    text = (source / "docs/developers/contributing.md").read_text(encoding="utf-8")
    walks = {name: Walk(name, text) for name in names}
    tests = [test for walk in walks.values() for test in walk.tests()]
    with tempfile.TemporaryDirectory(prefix="walk-") as folder:
        copy = Copy(walks.values(), source, build, cmake, pathlib.Path(folder).resolve())
        for name, walk in walks.items():
            if WALKS[name][1] is not None:
                WALKS[name][1](walk, copy)
        for walk in walks.values():
            copy.take_steps(walk.steps)
        copy.configure()
        copy.make(*tests, *[target for name, walk in walks.items() for target in WALKS[name][0](walk)], "failslow")
        for test in tests:
            copy.run_test(test)
        for name, walk in walks.items():
            WALKS[name][2](walk, copy)
            print(f"walk: {name}, files={', '.join(walk.paths)}")


if __name__ == "__main__":
    main()
