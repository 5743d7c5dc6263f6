#!/usr/bin/env python3
"""Checks the manual pages: every command has one, every option is in it, every example is a case.

Arguments: the program. Pages are written as docs/man/NAME.1.md; NAME.1 is made from it with
`pandoc --standalone --from markdown-smart --to man` and committed, so that installing needs no pandoc. They begin with
name, version and date. In EXAMPLES each
code block follows a line
  <!-- case: topic/name -->     tests/cli/topic/name.sh contains the block's commands
  <!-- no case: reason -->      the block cannot run in a test
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAN = ROOT / "docs" / "man"
faults = []


def fault(text):
    faults.append(text)


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def plain(roff):
    """Words of a roff page: without font changes, dashes as they are typed."""
    text = re.sub(r"\\f(\[[A-Z]*\]|[A-Z])", "", roff)
    return text.replace("\\-", "-").replace("\\[aq]", "'").replace("\\[dq]", '"').replace("\\", "")


def check_options(program, command, page):
    help_text = output_of(program, command, "--help")
    options = set(re.findall(r"--[a-z][a-z-]*", help_text.split("ptions:")[1]))
    if not options:
        fault(f"failslow {command} --help shows no options")
    for option in sorted(options):
        if f"**{option}**" not in page:
            fault(f"failslow-{command}.1.md: {option} is missing")
    for option in sorted(set(re.findall(r"^(?:\*\*-\w\*\*, )?\*\*(--[a-z][a-z-]*)\*\*", page, re.M))):
        if option not in help_text:
            fault(f"failslow-{command}.1.md: {option} is no option of the command")


def check_examples(path, page):
    section = re.search(r"^# EXAMPLES\n(.*?)(?=^# |\Z)", page, re.M | re.S)
    if not section:
        fault(f"{path.name}: has no EXAMPLES")
        return
    blocks = re.findall(r"(?:<!-- (case|no case): (.+?) -->\s*)?^```\n(.*?)^```", section.group(1),
                        re.M | re.S)
    if not blocks:
        fault(f"{path.name}: EXAMPLES has no code block")
    for kind, place, block in blocks:
        if not kind:
            fault(f"{path.name}: example without a case comment: {block.strip()}")
        elif kind == "case":
            check_case(path, place, block)


def check_case(path, place, block):
    script = ROOT / "tests" / "cli" / f"{place}.sh"
    if not script.exists():
        fault(f"{path.name}: case {place} does not exist")
        return
    text = script.read_text()
    for line in block.strip().splitlines():
        command = re.sub(r"\bfailslow(?= )", '"$FAILSLOW"', line.strip())
        if command not in text:
            fault(f"{path.name}: case {place} does not run: {command}")


def check_roff(path, page):
    """The roff page is made from this text: it has the same headings, options and examples."""
    roff_path = path.with_suffix("")
    if not roff_path.exists():
        fault(f"{roff_path.name}: is missing, make it from {path.name} with pandoc")
        return
    roff = plain(roff_path.read_text())
    wanted = re.findall(r"^# (.+)$", page, re.M)
    wanted += re.findall(r"\*\*(-[^*]+)\*\*", page)
    wanted += [line.strip() for block in re.findall(r"^```\n(.*?)^```", page, re.M | re.S)
               for line in block.splitlines() if line.strip()]
    for text in wanted:
        if plain(text) not in roff:
            fault(f"{roff_path.name}: is older than {path.name}, it lacks: {text}")


def check_title(path, page):
    """The first lines name page, version and date, and the roff page has them."""
    version = re.search(r"project\(failslow VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    name = path.name.removesuffix(".1.md")
    title = re.match(r"% (.+)\(1\) (.+) \| User Commands\n%\n% (\d{4}-\d\d-\d\d)\n\n", page)
    if not title or title.group(1, 2) != (name, f"failslow {version}"):
        fault(f'{path.name}: must begin with "% {name}(1) failslow {version} | User Commands", "%", "% YYYY-MM-DD"')
        return
    roff = path.with_suffix("").read_text().replace("\\-", "-")
    if f'"{title.group(3)}" "failslow {version}" "User Commands"' not in roff:
        fault(f"{path.with_suffix('').name}: has another version or date than {path.name}")


def main():
    program = sys.argv[1]
    commands = json.loads(output_of(program, "list", "commands", "--format", "json"))
    pages = {path.name: path.read_text() for path in sorted(MAN.glob("*.1.md"))}
    overview = pages.get("failslow.1.md", "")
    if not overview:
        fault("failslow.1.md is missing")
    for command in (entry["name"] for entry in commands):
        page = pages.get(f"failslow-{command}.1.md")
        if page is None:
            fault(f"failslow-{command}.1.md is missing")
            continue
        check_options(program, command, page)
        if f"failslow-{command}" not in overview:
            fault(f"failslow.1.md: does not name failslow-{command}")
    for name, page in pages.items():
        check_examples(MAN / name, page)
        check_roff(MAN / name, page)
        check_title(MAN / name, page)
    for text in faults:
        print(text)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
