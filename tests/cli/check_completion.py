#!/usr/bin/env python3
"""Checks the completions of bash and zsh: they are up to date, each option is in both, and bash offers the right words.

Arguments: the program.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BASH = ROOT / "packaging" / "completion" / "failslow.bash"
ZSH = ROOT / "packaging" / "completion" / "_failslow"
# Words on the command line, and what bash must offer for the last one: all of these and none of those.
OFFERS = [
    (["failslow", "de"], {"detect"}, {"profile"}),
    (["failslow", "pro"], {"profile"}, {"detect"}),
    (["failslow", "help", "sim"], {"simulate"}, {"series"}),
    (["failslow", "detect", "--fo"], {"--format"}, {"--from"}),
    (["failslow", "detect", "--fr"], {"--from"}, {"--format"}),
    (["failslow", "detect", "--format", ""], {"text", "json", "line"}, {"yaml"}),
    (["failslow", "config", "keys", "--format", ""], {"text", "json"}, {"line"}),
    (["failslow", "detect", "--exit-code=", ""], set(), {"line"}),
    (["failslow", "detect", "--color", "a"], {"auto", "always"}, {"never"}),
    (["failslow", "detect", "--exit"], {"--exit-code", "--exit-code=new", "--exit-code=state"}, set()),
    (["failslow", "--con"], {"--config"}, set()),
    (["failslow", "config", "c"], {"check"}, {"explain"}),
    (["failslow", "list", "re"], {"reporters"}, {"formats"}),
    (["failslow", "eval", "--ga"], {"--gates"}, {"--jobs"}),
]
faults = []


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def section_of(text, begin, end):
    found = re.search(begin + r"(.*?)" + end, text, re.S)
    return found.group(1) if found else ""


def check_options(program, command):
    page = output_of(program, command, "--help").split("ptions:")[1]
    options = set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z-]*)", page, re.M))
    letters = set(re.findall(r"^ +(-\w), --", page, re.M))
    words = section_of(BASH.read_text(), rf"\t{command}\)\n\t\twords=\"", '"').split()
    rows = section_of(ZSH.read_text(), rf"\t{command}\)\n\t\targuments=\(", r"\t\t\)\n")
    if not options:
        faults.append(f"{command} --help shows no options")
    for option in options | letters:
        if option not in words:
            faults.append(f"bash: {command} {option} is missing")
        if not re.search(rf"'{option}[=+\[]", rows):
            faults.append(f"zsh: {command} {option} is missing")


def check_offer(words, wanted, unwanted):
    given = " ".join(f"'{word}'" for word in words)
    script = f"source '{BASH}'; COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _failslow; " \
             "printf '%s\\n' \"${COMPREPLY[@]}\""
    offered = set(output_of("bash", "-c", script).split())
    if not wanted <= offered or offered & unwanted:
        faults.append(f"bash: {words}: offered {sorted(offered)}, wanted {sorted(wanted)}, not {sorted(unwanted)}")


def main():
    program = sys.argv[1]
    made = subprocess.run([sys.executable, ROOT / "scripts" / "make_completion.py", program, "--check"],
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        faults.append(made.stdout + made.stderr)
    for shell, path in (("bash", BASH), ("zsh", ZSH)):
        if shutil.which(shell) and subprocess.run([shell, "-n", path], check=False).returncode != 0:
            faults.append(f"{shell} -n refuses {path}")
    for command in json.loads(output_of(program, "list", "commands", "--format", "json")):
        check_options(program, command["name"])
    for offer in OFFERS:
        check_offer(*offer)
    for text in faults:
        print(text)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
