#!/usr/bin/env python3
"""Checks what commands print on a terminal: colours if they are wanted, lines that fit its width.

Arguments: the program, the bundled data sets. Each command runs on a pseudo terminal of a given width, or into a pipe.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

PROGRAM, DATASETS = sys.argv[1:3]
SLOW = f"{DATASETS}/faults/slow_rank"
CAPTURES = f"{DATASETS}/profile/slow_rank"
CODE = re.compile(r"\033\[[0-9;]*m")
faults = []


def claim(text, holds, output=""):
    if not holds:
        faults.append(f"{text}\n{output}")


def environment(**more):
    kept = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
    return {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "TERM": "xterm", **kept, **more}


def on_terminal(*words, columns=80, **variables):
    """Standard output of a command whose terminal has so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.DEVNULL, env=environment(**variables))
    os.close(theirs)
    output = b""
    try:
        while chunk := os.read(ours, 65536):
            output += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    process.wait()
    return output.decode().replace("\r\n", "\n")


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


check_colours()
if faults:
    sys.exit("\n".join(["FAILED", *faults]))
print("terminals: all claims hold")
