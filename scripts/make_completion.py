#!/usr/bin/env python3
"""Writes the completions of bash and zsh from what the program says of its commands and options.

  make_completion.py PROGRAM           writes packaging/completion/failslow.bash and _failslow
  make_completion.py PROGRAM --check   exits with 1 if the two files are older than the program
"""
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "packaging" / "completion"
PATHS = {"FILE", "DIR", "PATH", "CAPTURE"}
# A label of --help: "-c, --config FILE", "--format text|json", "--exit-code[=new|state]".
OPTION = re.compile(r"^ +(?:(-\w), )?--([a-z][a-z-]*)(\[=\S+\]|(?: [A-Za-z0-9|_.=-]+)?)(?:  +(.*))?$")
# A refused value lists the allowed ones: "invalid value for --color: ? (auto, always, never)".
CHOICES = re.compile(r"invalid value for --[a-z-]+: \? \(([a-z0-9_-]+(?:, [a-z0-9_-]+)*)\)")


def run(program, *words):
    environment = dict(os.environ, COLUMNS="500", LC_ALL="C", NO_COLOR="1")
    return subprocess.run([program, *words], capture_output=True, text=True, env=environment, check=False)


def choices_of(program, command, name):
    """Texts that the option allows; [] for numbers and free text. The last word is wrong in any case: nothing runs."""
    refusal = run(program, command, f"--{name}=?", "--no-such-option").stderr
    found = CHOICES.search(refusal)
    return found.group(1).split(", ") if found else []


def options_of(program, command):
    """(letter, name, value, choices, help) of each option; value is "" for flags."""
    page = run(program, command, "--help").stdout
    lines = page.split("\nOptions:\n")[1].split("\n\n")[0].splitlines()
    options = []
    for at, line in enumerate(lines):
        row = OPTION.match(line)
        if not row:
            continue
        letter, name, value, text = row.groups()
        value = value.strip()
        if text is None and at + 1 < len(lines):
            text = lines[at + 1].strip()
        choices = choices_of(program, command, name) if value else []
        options.append((letter, name, value, choices, text or ""))
    return options


def first_words(program, command):
    """Operands that the synopsis lists as A|B|C."""
    usage = run(program, command, "--help").stdout.splitlines()[0]
    found = re.search(rf"failslow {command} (?:\[options\] )?\[?([a-z]+(?:\|[a-z]+)+)", usage)
    return found.group(1).split("|") if found else []


def describe(program):
    listed = json.loads(run(program, "list", "commands", "--format", "json").stdout)
    return [{"name": c["name"], "summary": c["summary"], "options": options_of(program, c["name"]),
             "words": first_words(program, c["name"])} for c in listed]


def spellings(option):
    letter, name, value, choices, _ = option
    found = [letter] if letter else []
    found.append(f"--{name}")
    if value.startswith("["):
        found += [f"--{name}={choice}" for choice in choices]
    return found


def bash(commands):
    names = " ".join(c["name"] for c in commands)
    lines = ["# Completion of failslow for bash; scripts/make_completion.py writes it.",
             "# shellcheck shell=bash", "",
             "_failslow()", "{",
             "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}",
             "\tlocal command=${COMP_WORDS[1]} words=",
             '\tif [ "$previous" = = ]; then',
             "\t\tprevious=${COMP_WORDS[COMP_CWORD - 2]}",
             '\telif [ "$current" = = ]; then',
             "\t\tcurrent=", "\tfi", "\tCOMPREPLY=()",
             '\tif [ "$COMP_CWORD" = 1 ] && [ "${current#-}" = "$current" ]; then',
             f'\t\tmapfile -t COMPREPLY < <(compgen -W "{names} help" -- "$current"; compgen -f -- "$current")',
             "\t\treturn", "\tfi",
             '\tcase $command in', '\thelp)',
             f'\t\tmapfile -t COMPREPLY < <(compgen -W "{names}" -- "$current")', "\t\treturn", "\t\t;;",
             "\tesac",
             "\t# Options without a command belong to detect.",
             "\tcase $command in", f"\t{' | '.join(names.split())}) ;;", "\t*) command=detect ;;", "\tesac",
             "\t# Values of the option before the cursor.",
             "\tcase $command:$previous in"]
    for c in commands:
        for option in c["options"]:
            letter, name, value, choices, _ = option
            if not value or value.startswith("["):
                continue
            pattern = f"{c['name']}:--{name}" + (f" | {c['name']}:{letter}" if letter else "")
            if choices:
                action = f'mapfile -t COMPREPLY < <(compgen -W "{" ".join(choices)}" -- "$current")'
            elif value == "DIR":
                action = 'mapfile -t COMPREPLY < <(compgen -d -- "$current")'
            elif value in PATHS:
                action = 'mapfile -t COMPREPLY < <(compgen -f -- "$current")'
            else:
                action = ":"
            lines += [f"\t{pattern})", f"\t\t{action}", "\t\treturn", "\t\t;;"]
    lines += ["\tesac", "\tcase $command in"]
    for c in commands:
        lines.append(f"\t{c['name']})")
        words = " ".join(word for option in c["options"] for word in spellings(option))
        lines += [f'\t\twords="{words}"', "\t\t;;"]
    lines += ["\tesac",
              '\tif [ "${current#-}" != "$current" ]; then',
              '\t\tmapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")', "\t\treturn", "\tfi",
              '\tif [ "$COMP_CWORD" = 2 ]; then', "\t\tcase $command in"]
    for c in commands:
        if c["words"]:
            lines += [f"\t\t{c['name']})",
                      f'\t\t\tmapfile -t COMPREPLY < <(compgen -W "{" ".join(c["words"])}" -- "$current")',
                      "\t\t\treturn", "\t\t\t;;"]
    lines += ["\t\tesac", "\tfi", '\tmapfile -t COMPREPLY < <(compgen -f -- "$current")', "}", "",
              "complete -o filenames -F _failslow failslow systrace-failslow", ""]
    return "\n".join(lines)


def quoted(text):
    """Within '...' of zsh's _arguments: no brackets, colons, backquotes or quotes."""
    return re.sub(r"['`]", "", text).replace("[", "(").replace("]", ")").replace(":", "\\:").replace("\\", "\\")


def zsh_option(option):
    letter, name, value, choices, text = option
    text = quoted(text)
    if value.startswith("["):
        action = f"::{name}:({' '.join(choices)})"
        long = f"--{name}=-"
    elif value:
        kind = "(" + " ".join(choices) + ")" if choices else \
            "_files -/" if value == "DIR" else "_files" if value in PATHS else " "
        action = f":{quoted(value)}:{kind}"
        long = f"--{name}="
    else:
        action, long = "", f"--{name}"
    rows = [f"\t\t\t'{long}[{text}]{action}'"]
    if letter:
        rows.insert(0, f"\t\t\t'{letter}{'+' if value and not value.startswith('[') else ''}[{text}]{action}'")
    return rows


def zsh(commands):
    lines = ["#compdef failslow systrace-failslow",
             "# Completion of failslow for zsh; scripts/make_completion.py writes it.", "",
             "_failslow() {", "\tlocal -a commands arguments", "\tcommands=("]
    lines += [f"\t\t'{c['name']}:{quoted(c['summary'])}'" for c in commands]
    lines += ["\t)", "\tif (( CURRENT == 2 )) && [[ ${words[2]} != -* ]]; then",
              "\t\t_describe command commands", "\t\t_files", "\t\treturn", "\tfi",
              "\tlocal command=detect", "\tif [[ -n ${commands[(r)${words[2]}:*]} ]]; then",
              "\t\tcommand=${words[2]}", "\t\tshift words", "\t\t(( CURRENT-- ))", "\tfi",
              "\tcase $command in"]
    for c in commands:
        operands = f"'1:task:({' '.join(c['words'])})' '*:file:_files'" if c["words"] else "'*:file:_files'"
        lines += [f"\t{c['name']})", "\t\targuments=("]
        for option in c["options"]:
            lines += zsh_option(option)
        lines += [f"\t\t\t{operands}", "\t\t)", "\t\t;;"]
    lines += ["\tesac", "\t_arguments -s $arguments", "}", "", '_failslow "$@"', ""]
    return "\n".join(lines)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    commands = describe(program)
    is_old = False
    for name, text in (("failslow.bash", bash(commands)), ("_failslow", zsh(commands))):
        path = FOLDER / name
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path} is older than the program, run: scripts/make_completion.py {sys.argv[1]}")
            is_old = True
    sys.exit(1 if is_old else 0)


if __name__ == "__main__":
    main()
