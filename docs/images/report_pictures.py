#!/usr/bin/env python3
"""Takes the pictures of reports for README.md and docs/users/report.md: one for each of JOBS, MADE, CAPTURES,
FUNCTIONS and HOSTS.

usage: docs/images/report_pictures.py PROGRAM [NAME...]     needs chromium; run it in the top folder of the sources
"""
import collections
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "report"))
from browser import pixels_of

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
    "host_pauses": ["dp=8", "ranks_per_host=4", "steps=60", "fault=pauses host=1 extra_ms=300 onset=10"],
}
CAPTURES = {  # picture: words of tests/captures/make_capture.py
    "work_imbalance": {"dp": 4, "layers": 2, "faults": [{"kind": "larger_shapes", "ranks": [2], "factor": 1.5}]},
    "host_bound": {"dp": 2, "gap_us": 300, "layers": 2},
    "communication_bound": {"dp": 4, "grad_mb": 4000.0, "layers": 1},
    "compute_bound": {"grad_mb": 0, "layers": 4, "steps": 2},
}
FUNCTIONS = {"functions": ["python=2", "kernels=5"]}  # picture: words of tests/cli/functions/traces.py
HOSTS = {"hosts": ["markers", "marks", "hog=9-19", "irq"]}  # picture: words of tests/cli/hostbound/traces.py
MAKE_HOSTS = IMAGES.parents[1] / "tests" / "cli" / "hostbound" / "traces.py"
MAKE_TRACES = IMAGES.parents[1] / "tests" / "cli" / "functions" / "traces.py"
MAKE_CAPTURE = IMAGES.parents[1] / "tests" / "captures" / "make_capture.py"
WIDTH, HEIGHT = 1280, 900
COLOURS_MAX = 96  # of a picture; the edges of letters have more, which nobody sees


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
    if name in CAPTURES:
        subprocess.run([sys.executable, str(MAKE_CAPTURE), str(folder / name), json.dumps(CAPTURES[name])],
                       check=True, capture_output=True)
        arguments = ["profile", str(folder / name)]
    if name in FUNCTIONS:
        subprocess.run([sys.executable, str(MAKE_TRACES), str(folder / "traces"), *FUNCTIONS[name]], check=True)
        subprocess.run([str(pathlib.Path(program).resolve()), "functions", "traces", "--report", str(page)], check=True,
                       capture_output=True, cwd=folder)
        return photograph(page, picture)
    if name in HOSTS:
        subprocess.run([sys.executable, str(MAKE_HOSTS), str(folder / "job"), *HOSTS[name]], check=True)
        subprocess.run([str(pathlib.Path(program).resolve()), "hostbound", "job", "--report", str(page)], check=True,
                       capture_output=True, cwd=folder)
        return photograph(page, picture)
    if arguments is None:
        subprocess.run([program, "simulate", str(folder / name), *MADE[name]], check=True, capture_output=True)
        arguments = [str(folder / name)]
    command = [program, *arguments, "--report", str(page), "--quiet"]
    if "--config" in arguments or "profile" in arguments:
        command += ["--output", str(folder / "out")]
    subprocess.run(command, check=True)
    return photograph(page, picture)


def photograph(page, picture):
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu",
                    f"--screenshot={picture}", f"--window-size={WIDTH},{HEIGHT}", page.as_uri()],
                   check=True, capture_output=True)
    picture.write_bytes(with_palette(picture.read_bytes()))
    print(picture, picture.stat().st_size)


def main():
    for name in sys.argv[2:] or [*JOBS, *MADE, *CAPTURES, *FUNCTIONS, *HOSTS]:
        with tempfile.TemporaryDirectory() as folder:
            take(sys.argv[1], name, pathlib.Path(folder))


main()
