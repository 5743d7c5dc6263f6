#!/usr/bin/env python3
"""Opens pages of bundled jobs in headless Chromium: every chart is drawn, scripts run without a message, and the
headline is that of the case. Culprit, onset, cause and cost stand on the first screen.

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
        ["faults/slow_storage"], ["faults/hang", "--now", "2025-06-15T16:30:00Z"], ["profile/slow_rank"],
        ["faults/host_bound"], ["faults/missing_rank"], ["faults/slow_dataloader"]]
# Jobs that are made here: words of `failslow simulate`.
MADE = {"64 ranks": ["-r", "64", "steps=40", "fault=compute ranks=19 factor=1.4 onset=15"],
        "1024 ranks": ["-r", "1024", "steps=24", "layers=2", "fault=compute host=77 factor=1.4 onset=10"],
        "4 steps": ["-r", "8", "steps=4"]}
SCREEN = 900  # px, of a window that is 1280 px wide
# Writes into the document how far down the key facts and the first charts reach.
MEASURE = """<script>document.documentElement.dataset.bottoms = JSON.stringify(Object.fromEntries(
["headline", "who", "since", "why", "cost"].map(function (id) {
return [id, document.getElementById(id).getBoundingClientRect().bottom] })))</script>"""


def open_page(browser, path, folder):
    return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                           f"--user-data-dir={folder / 'profile'}", f"--window-size=1280,{SCREEN}",
                           "--virtual-time-budget=3000", "--dump-dom", path.as_uri()],
                          capture_output=True, text=True, timeout=120)


def low_facts(browser, page, folder):
    """Key facts below the first screen. The policy of the page keeps foreign scripts out, so a copy has none."""
    copy = folder / "copy.html"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    copy.write_text(text.replace("</body>", MEASURE + "</body>"), encoding="utf-8")
    found = re.search(r'data-bottoms="([^"]*)"', open_page(browser, copy, folder).stdout)
    bottoms = json.loads(html.unescape(found[1])) if found is not None else {}
    faults = [] if len(bottoms) == 5 else ["the places of the key facts are not known"]
    return faults + [f"{name} ends at {bottom} px" for name, bottom in bottoms.items() if not 0 < bottom < SCREEN]


def faults_of(browser, program, job, folder):
    page = folder / "page.html"
    words = [program, *job, "--report", str(page), "--format", "json"]
    case = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    run = open_page(browser, page, folder)
    dom = run.stdout
    faults = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    headline = re.search(r'<h1 id="headline"[^>]*>(.*?)</h1>', dom)
    if headline is None or html.unescape(re.sub(r"</?span[^>]*>", "", headline[1])) != case["headline"]:
        faults.append("the headline is not that of the case")
    if 'id="canvas"' in dom and 'data-drawn="1"' not in dom:
        faults.append("the raster is not drawn")
    for name in re.findall(r'<section id="(\w+)" class="card"><h2[^>]*>[^<]*</h2></section>', dom):
        faults.append(f"an empty frame: {name}")
    return faults + low_facts(browser, page, folder)


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium: pages are not opened")
        sys.exit(77)
    program, datasets = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    n_faults = 0
    jobs = {job[0]: [str(datasets / job[0]), *job[1:]] for job in JOBS}
    for name in [*jobs, *MADE]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if name in MADE:
                subprocess.run([program, "simulate", str(folder / "job"), *MADE[name]], check=True, capture_output=True)
                jobs[name] = [str(folder / "job")]
            for fault in faults_of(browser, program, jobs[name], folder):
                print(f"{name}: {fault}")
                n_faults += 1
    print(f"{len(jobs)} pages, {n_faults} faults")
    sys.exit(1 if n_faults > 0 else 0)


if __name__ == "__main__":
    main()
