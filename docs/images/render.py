#!/usr/bin/env python3
"""Draws what a command prints on a terminal as an SVG.

usage: docs/images/render.py OUT.svg SHOWN_COMMAND -- COMMAND...

The picture of the quick start, with LC_ALL=C.UTF-8, and the Chinese one, with LC_ALL=zh_CN.UTF-8:
  docs/images/render.py docs/images/quickstart.svg "scripts/quickstart.sh" -- build/failslow \
      --config datasets/faults/slow_rank/model_config.json --now 1750000066892495774 --output build/quickstart
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata
from html import escape

COLUMNS, ROWS = 100, 40
CHAR_W, LINE_H, MARGIN, FONT_PX = 8.4, 20, 18, 14
BACKGROUND, FOREGROUND = "#1b1f24", "#d7dce2"
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#f2cc60", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea",
           "90": "#8b949e", "91": "#ff7b72", "92": "#7ee787", "93": "#f2cc60"}


def terminal_output(command):
    """What the command writes on a terminal, with its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = dict(os.environ, TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        chunks = []
        try:
            while data := os.read(ours, 65536):
                chunks.append(data)
        except OSError:  # Linux: the terminal is gone with its last user
            pass
    os.close(ours)
    return b"".join(chunks).decode("utf-8").replace("\r\n", "\n")


def columns_of(text):
    """Columns of a terminal that a text takes: two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def spans(line):
    """(style, text) pieces of one line."""
    style = {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        match = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not match:
            if part:
                yield dict(style), part
            continue
        for code in (match.group(1) or "0").split(";"):
            if code in ("", "0"):
                style = {}
            elif code == "1":
                style["font-weight"] = "bold"
            elif code == "2":
                style["opacity"] = "0.7"
            elif code in COLOURS:
                style["fill"] = COLOURS[code]


def draw(lines):
    width = MARGIN * 2 + CHAR_W * COLUMNS
    height = MARGIN * 2 + LINE_H * len(lines) + 8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
           f'viewBox="0 0 {width:.0f} {height}" role="img">',
           f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
           f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{FONT_PX}" fill="{FOREGROUND}">']
    for number, line in enumerate(lines):
        y = MARGIN + LINE_H * (number + 1) - 4
        column = 0
        for style, text in spans(line):
            attributes = "".join(f' {key}="{value}"' for key, value in sorted(style.items()))
            # Each run of words stands at its own column, with its own length: columns stay aligned whatever font
            # the viewer has, and none depends on how it treats several blanks.
            for words in re.finditer(r"\S+(?: \S+)*", text):
                x = MARGIN + CHAR_W * (column + columns_of(text[:words.start()]))
                length = CHAR_W * columns_of(words.group())
                out.append(f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}"{attributes}>'
                           f'{escape(words.group())}</text>')
            column += columns_of(text)
    return "\n".join(out + ["</g>", "</svg>", ""])


def main():
    split = sys.argv.index("--")
    path, shown = sys.argv[1:split]
    text = terminal_output(sys.argv[split + 1:])
    lines = [f"$ {shown}", ""] + text.strip("\n").split("\n")
    with open(path, "w", encoding="utf-8") as picture:
        picture.write(draw(lines))


if __name__ == "__main__":
    main()
