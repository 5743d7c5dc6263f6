#!/usr/bin/env python3
"""Opens pages of bundled jobs in headless Chromium: every chart is drawn, scripts run without a message, and the
headline is that of the case.

  check_pages.py PROGRAM DATASETS   exits with 77 if there is no Chromium
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

JOBS = [["faults/slow_rank"], ["faults/slow_link", "--now", "1750000129099703611"], ["faults/clean"],
        ["faults/slow_storage"], ["faults/hang", "--now", "2025-06-15T16:30:00Z"], ["profile/slow_rank"]]


def faults_of(browser, program, datasets, job, folder):
    page = folder / "page.html"
    words = [program, str(datasets / job[0]), *job[1:], "--report", str(page), "--format", "json"]
    case = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                          f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=3000", "--dump-dom",
                          page.as_uri()], capture_output=True, text=True, timeout=120)
    dom = run.stdout
    faults = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    headline = re.search(r'<h1 id="headline"[^>]*>(.*?)</h1>', dom)
    if headline is None or html.unescape(headline[1]) != case["headline"]:
        faults.append("the headline is not that of the case")
    if 'id="canvas"' in dom and 'data-drawn="1"' not in dom:
        faults.append("the raster is not drawn")
    for name in re.findall(r'<section id="(\w+)" class="card"><h2[^>]*>[^<]*</h2></section>', dom):
        faults.append(f"an empty frame: {name}")
    return faults


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium: pages are not opened")
        sys.exit(77)
    program, datasets = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    n_faults = 0
    for job in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            for fault in faults_of(browser, program, datasets, job, pathlib.Path(folder)):
                print(f"{job[0]}: {fault}")
                n_faults += 1
    print(f"{len(JOBS)} pages, {n_faults} faults")
    sys.exit(1 if n_faults > 0 else 0)


if __name__ == "__main__":
    main()
