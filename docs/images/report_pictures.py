#!/usr/bin/env python3
"""Takes the pictures of reports for README.md and docs/users/report.md: one for each of JOBS and MADE.

usage: docs/images/report_pictures.py PROGRAM [NAME...]     needs chromium; run it in the top folder of the sources
"""
import collections
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

IMAGES = pathlib.Path(__file__).resolve().parent
FAULTS = "datasets/faults"
JOBS = {  # picture: arguments of failslow
    "slow_rank": [f"{FAULTS}/slow_rank"],
    "slow_link": ["--config", f"{FAULTS}/slow_link/model_config.json", "--now", "1750000129099703611"],
    "hang": ["--config", f"{FAULTS}/hang/model_config.json", "--now", "2025-06-15T16:00:00Z"],
    "normal": [f"{FAULTS}/clean"],
    "capture": ["profile", "datasets/profile/slow_rank"],
}
MADE = {  # picture: words of `failslow simulate`
    "slow_host": ["tp=2", "dp=8", "ranks_per_host=4", "steps=40", "fault=compute host=2 factor=1.4 onset=15"],
    "drift": ["tp=4", "dp=2", "steps=80", "fault=job_slow factor=1.4 onset=20 ramp=40"],
    "imbalance": ["tp=2", "pp=4", "dp=2", "steps=40", "fault=stage ranks=2 factor=1.4"],
    "stalls": ["tp=2", "dp=4", "steps=80", "fault=spike onset=12 period=20 extra_ms=4000"],
    "insufficient": ["-r", "8", "steps=4"],
}
WIDTH, HEIGHT = 1280, 900
COLOURS_MAX = 48  # of a picture; the edges of letters have more, which nobody sees


def chunks_of(png):
    at = 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        yield kind, png[at + 8:at + 8 + length]
        at += length + 12


def pixels_of(png):
    """Width, height, and the colours of all pixels, row by row, of a PNG of 8-bit RGB or RGBA."""
    chunks = list(chunks_of(png))
    width, height, depth, form = struct.unpack(">IIBB", chunks[0][1][:10])
    n_bytes = {2: 3, 6: 4}[form]
    assert depth == 8
    data = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    stride = width * n_bytes
    above, pixels = bytearray(stride), []
    for y in range(height):
        start = y * (stride + 1)
        rule, row = data[start], bytearray(data[start + 1:start + 1 + stride])
        for i in range(stride if rule else 0):
            left = row[i - n_bytes] if i >= n_bytes else 0
            corner = above[i - n_bytes] if i >= n_bytes else 0
            if rule == 1:
                guess = left
            elif rule == 2:
                guess = above[i]
            elif rule == 3:
                guess = (left + above[i]) // 2
            else:
                estimate = left + above[i] - corner
                guess = min((left, above[i], corner), key=lambda value: abs(estimate - value))
            row[i] = (row[i] + guess) & 255
        pixels += [bytes(row[i:i + 3]) for i in range(0, stride, n_bytes)]
        above = row
    return width, height, pixels


def with_palette(png):
    """The same picture with COLOURS_MAX colours: those that most pixels have; others become the nearest one."""
    width, height, pixels = pixels_of(png)
    counts = collections.Counter(pixels)
    palette = [colour for colour, _ in counts.most_common(COLOURS_MAX)]
    place = {colour: min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
             for colour in counts}
    codes = bytes(place[colour] for colour in pixels)
    rows = b"".join(b"\0" + codes[y * width:(y + 1) * width] for y in range(height))
    out = b"\x89PNG\r\n\x1a\n"
    for kind, content in ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
                          (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")):
        out += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return out


def take(program, name, folder):
    page, picture = folder / "page.html", IMAGES / f"report_{name}.png"
    arguments = JOBS.get(name)
    if arguments is None:
        subprocess.run([program, "simulate", str(folder / name), *MADE[name]], check=True, capture_output=True)
        arguments = [str(folder / name)]
    command = [program, *arguments, "--report", str(page), "--quiet"]
    if "--config" in arguments or "profile" in arguments:
        command += ["--output", str(folder / "out")]
    subprocess.run(command, check=True)
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu",
                    f"--screenshot={picture}", f"--window-size={WIDTH},{HEIGHT}", page.as_uri()],
                   check=True, capture_output=True)
    picture.write_bytes(with_palette(picture.read_bytes()))
    print(picture, picture.stat().st_size)


def main():
    for name in sys.argv[2:] or [*JOBS, *MADE]:
        with tempfile.TemporaryDirectory() as folder:
            take(sys.argv[1], name, pathlib.Path(folder))


main()
