#!/usr/bin/env python3
"""Takes the pictures of reports for README.md and docs/users/report.md: one for each of JOBS.

usage: docs/images/report_pictures.py PROGRAM     needs chromium; run it in the top folder of the sources
"""
import pathlib
import subprocess
import sys
import tempfile

IMAGES = pathlib.Path(__file__).resolve().parent
FAULTS = "datasets/faults"
JOBS = {  # picture: arguments of failslow
    "slow_rank": [f"{FAULTS}/slow_rank"],
    "slow_link": ["--config", f"{FAULTS}/slow_link/model_config.json", "--now", "1750000129099703611"],
    "hang": ["--config", f"{FAULTS}/hang/model_config.json", "--now", "2025-06-15T16:00:00Z"],
    "normal": [f"{FAULTS}/clean"],
    "capture": ["profile", "datasets/profile/slow_rank"],
}
WIDTH, HEIGHT = 1280, 900


def main():
    program = sys.argv[1]
    for name, arguments in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            command = [program, *arguments, "--report", str(page), "--quiet"]
            if "--config" in arguments or "profile" in arguments:
                command += ["--output", folder]
            subprocess.run(command, check=True)
            picture = IMAGES / f"report_{name}.png"
            subprocess.run(["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu",
                            f"--screenshot={picture}", f"--window-size={WIDTH},{HEIGHT}", page.as_uri()],
                           check=True, capture_output=True)
            print(picture, picture.stat().st_size)


main()
