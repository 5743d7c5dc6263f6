#!/usr/bin/env python3
"""Checks what commands print on a terminal: colours if they are wanted, lines that fit its width.

Arguments: the program, the bundled data sets. Each command runs on a pseudo terminal of a given width, or into a pipe.
"""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
from concurrent.futures import ThreadPoolExecutor

PROGRAM, DATASETS = sys.argv[1:3]
SLOW = f"{DATASETS}/faults/slow_rank"
CAPTURES = f"{DATASETS}/profile/slow_rank"
END = b"\0END"
CODE = re.compile(r"\033\[[0-9;]*m")
faults = []


def claim(text, holds, output=""):
    if not holds:
        faults.append(f"{text}\n{output}")


def environment(**more):
    kept = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
    return {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "TERM": "xterm", **kept, **more}


def read_until(end, terminal):
    """What comes out of a terminal before a mark."""
    output = b""
    while not output.endswith(end):
        output += os.read(terminal, 65536)
    return output[:-len(end)]


def on_terminal(*words, columns=80, **variables):
    """Standard output of a command whose terminal has so many columns.

    A terminal that nobody holds open any more may lose what was written last, so it stays open until a mark arrives.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with ThreadPoolExecutor(1) as reader:
        output = reader.submit(read_until, END, ours)
        ended = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
                               env=environment(**variables), check=False)
        os.write(theirs, END)
        text = output.result().decode().replace("\r\n", "\n")
    os.close(theirs)
    os.close(ours)
    claim(f"{' '.join(words)}: ends with a verdict, not with {ended.returncode}", ended.returncode in (0, 1),
          ended.stderr.decode())
    return text


def in_pipe(*words, **variables):
    return subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=environment(**variables), check=False).stdout


def check_colours():
    for words in ([SLOW], ["profile", CAPTURES]):
        plain = in_pipe(*words)
        coloured = on_terminal(*words)
        name = " ".join(words)
        claim(f"{name}: a pipe gets no colours", "\033" not in plain, plain)
        claim(f"{name}: the headline is red", coloured.startswith("\033[1;31mSLOW RANK"), coloured)
        claim(f"{name}: the culprit's row is red", re.search(r"\n\033\[31m +5 .*\033\[0m\n", coloured), coloured)
        claim(f"{name}: colours change no text", CODE.sub("", coloured) == plain, coloured)
        claim(f"{name}: no other codes", "\033" not in CODE.sub("", coloured))
        for variables in ({"TERM": "dumb"}, {"NO_COLOR": "1"}):
            claim(f"{name}: plain with {variables}", on_terminal(*words, **variables) == plain)
        claim(f"{name}: an empty NO_COLOR says nothing", on_terminal(*words, NO_COLOR="") == coloured)
        claim(f"{name}: never", on_terminal(*words, "--color", "never") == plain)
        claim(f"{name}: always", in_pipe(*words, "--color=always", TERM="dumb") == coloured)
        claim(f"{name}: auto", on_terminal(*words, "--color", "auto") == coloured)
        for form in ("json", "line"):
            claim(f"{name}: {form} has no colours",
                  "\033" not in in_pipe(*words, "--format", form, "--color", "always"))
    healthy = on_terminal(f"{DATASETS}/faults/clean")
    claim("a healthy job is green", healthy.startswith("\033[1;32mNORMAL"), healthy)


BLOCKS = re.compile("[\u2581-\u2588\u2591-\u2593\u00b7]")


def check_pictures():
    """Steps and ranks on a terminal of 24 lines: shapes alone tell them, in ASCII and in blocks."""
    for job in ("slow_rank", "slow_storage", "clean"):
        folder = f"{DATASETS}/faults/{job}"
        for locale in ("C", "C.UTF-8"):
            text = CODE.sub("", on_terminal(folder, LC_ALL=locale))
            lines = text.splitlines()
            claim(f"{job}: 24 lines in {locale}", len(lines) <= 24, text)
            claim(f"{job}: lines fit 80 columns in {locale}", max(map(len, lines)) <= 80, text)
            claim(f"{job}: blocks in {locale}", bool(BLOCKS.search(text)) == (locale != "C"), text)
            claim(f"{job}: ASCII in {locale}", locale != "C" or text.isascii(), text)
            marks = re.search(r"^  ranks +\S+ +0-7 +(.*)$", text, re.M)
            claim(f"{job}: the culprit has a mark of its own", marks and ("#" in marks[1]) == (job != "clean"), text)
            claim(f"{job}: the onset is marked", ("^" in text) == (job != "clean"), text)
        plain = in_pipe(folder, LC_ALL="C.UTF-8")
        claim(f"{job}: blocks are no colours", plain == on_terminal(folder, LC_ALL="C.UTF-8", NO_COLOR="1"), plain)
        long = on_terminal(folder, "--long", LC_ALL="C.UTF-8", NO_COLOR="1")
        claim(f"{job}: --long shows ranks over time", "  over time  " in long and "  over time  " not in plain, long)


FITTING = ["config keys", "list detectors", "list formats", "list reporters", "list metrics",
           "list commands", "list causes", "help", "--help", "eval quick --limit 4 --gates", "eval families --limit 2",
           "bench --size 1 --runs 1", "bench --size 1 --runs 1 --only csv --instructions",
           *(f"help {command}" for command in
             "detect profile functions series simulate eval bench list config version".split())]


def words_of(text):
    """Words of a text without its form: headings repeat, cells are cut, numbers of runs differ."""
    return set(re.findall(r"[a-z_]{4,}", text))


def check_width(columns):
    for command in FITTING:
        output = on_terminal(*command.split(), columns=columns)
        long = [line for line in output.splitlines() if len(line) > columns]
        claim(f"{command}: lines fit {columns} columns", output and not long, "\n".join(long))
        if "eval" not in command and "bench" not in command:
            piped = in_pipe(*command.split(), COLUMNS=str(columns))
            claim(f"{command}: COLUMNS is the width of a pipe", piped == output, piped)
            lost = words_of(in_pipe(*command.split(), COLUMNS="1000")) - words_of(output)
            claim(f"{command}: nothing is lost at {columns} columns", not lost, str(lost))


def check_unknown_width():
    unknown = in_pipe("config", "keys")
    claim("80 columns are taken if the width is unknown", unknown == on_terminal("config", "keys", columns=80))
    for columns in ("", "0", "-7", "many", "99999999999"):
        claim(f"COLUMNS={columns} is no width", in_pipe("config", "keys", COLUMNS=columns) == unknown)
    claim("COLUMNS wins over the terminal",
          on_terminal("config", "keys", columns=80, COLUMNS="100") == in_pipe("config", "keys", COLUMNS="100"))


def columns_of(line):
    """Columns of a terminal that a line takes: two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


def check_chinese(columns, *folders):
    """A Chinese summary keeps 24 lines and the width, as an English one does."""
    for folder in folders:
        words = ("profile" if folder.startswith("profile") else "detect", f"{DATASETS}/{folder}")
        output = CODE.sub("", on_terminal(*words, columns=columns, LC_ALL="zh_CN.UTF-8"))
        lines = output.splitlines()
        long = [line for line in lines if columns_of(line) > columns]
        claim(f"{folder}: a summary has Chinese labels", "\n  数据覆盖  " in output, output)
        claim(f"{folder}: a Chinese summary has at most 24 lines", len(lines) <= 24, output)
        claim(f"{folder}: Chinese lines fit {columns} columns", not long, "\n".join(long))


def check_chinese_lists():
    for command in ("config keys", "list detectors", "list formats", "--help", "help profile", "help functions"):
        output = on_terminal(*command.split(), LC_ALL="zh_CN.UTF-8")
        long = [line for line in output.splitlines() if columns_of(line) > 80]
        claim(f"{command}: Chinese lines fit 80 columns", output and not long, "\n".join(long))


def check_functions():
    """The screens of functions: colours of the headline, 24 lines and the width in English and Chinese."""
    script = pathlib.Path(__file__).resolve().parent / "functions" / "traces.py"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, script, folder, "kernels=3", "copies=6", "calls=2"], check=True)
        for words in (["functions", folder], ["functions", folder, "--section", "workers", "--worker", "2,3"],
                      ["functions", folder, "--function", "gemm"]):
            name = " ".join(words[2:]) or "functions"
            coloured = on_terminal(*words)
            claim(f"{name}: the headline is red", coloured.startswith("\033[1;31m"), coloured)
            claim(f"{name}: colours change no text", CODE.sub("", coloured) == in_pipe(*words), coloured)
            for columns, locale in ((80, "C"), (120, "C"), (80, "zh_CN.UTF-8"), (100, "zh_CN.UTF-8")):
                lines = CODE.sub("", on_terminal(*words, columns=columns, LC_ALL=locale)).splitlines()
                long = [line for line in lines if columns_of(line) > columns]
                claim(f"{name}: at most 24 lines in {locale}", len(lines) <= 24, "\n".join(lines))
                claim(f"{name}: lines fit {columns} columns in {locale}", not long, "\n".join(long))
                claim(f"{name}: the victims are labelled in {locale}",
                      any(re.match("  (受害者|victims) ", line) for line in lines), "\n".join(lines))


check_colours()
check_pictures()
check_unknown_width()
check_functions()
check_chinese(80, "faults/slow_rank", "faults/hang", "faults/missing_rank", "faults/slow_storage", "profile/slow_rank")
check_chinese(100, "faults/slow_link", "profile/slow_rank")
check_chinese_lists()
for width in (80, 120):
    check_width(width)
if faults:
    sys.exit("\n".join(["FAILED", *faults]))
print("terminals: all claims hold")
