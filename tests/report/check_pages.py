#!/usr/bin/env python3
"""Opens pages in headless Chromium, one for each verdict, captures, many ranks and hostile names: no message of the
console, every chart is drawn, clicks and keys work, and headline, reason and advice are those of the screen. Culprit,
onset, cause and cost stand above 900 px in words and in a picture each, nothing is wider than a telephone, the first
screen is one page of paper, marks speak the language of the page, and who cannot tell colours apart sees the culprit.
The page of functions has tabs, tables and frames that choose a function, by clicks and keys. That of hosts shows who
waited, for which CPU, and who held it.

  check_pages.py PROGRAM DATASETS [NAME...]   exits with 77 if there is no Chromium
"""
import base64
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

from browser import Browser, find, pixels_of

SCREEN, TELEPHONE = 900, 390  # px
PAPER = 718, 1046  # px of an A4 page inside its margins
BUDGET = {8: 60000, 64: 200000, 4096: 1200000}  # bytes of a page of at most so many ranks
WHO, SINCE, WHY, COST = "#grid .ring", "#strip .onset", "#bars .excess", "#account .lost"
LINK, HANG, STALL, GROWTH = "#links .ring", "#waits .ring", "#strip .stall", "#growth .excess"
NOW = ["--now", "1750000129099703611"]
# Bundled jobs, what is to be seen on the first screen, and whether somebody is named.
JOBS = {
    "rank": (["faults/slow_rank"], [WHO, SINCE, WHY, COST]),
    "link": (["faults/slow_link", *NOW], [WHO, SINCE, LINK, COST]),
    "nobody": (["faults/clean"], ["#grid .cell", "#strip circle", "#bars rect", "#account .good"]),
    "storage": (["faults/slow_storage"], [WHO, COST]),
    "hang": (["faults/hang", "--now", "2025-06-15T16:30:00Z"], [WHO, HANG, COST]),
    "capture": (["profile/slow_rank"], [WHO, WHY]),
    "missing rank": (["faults/missing_rank"], ["#account rect"]),
    "log": (["logs/megatron.log"], [SINCE, GROWTH, COST]),
}
# Jobs that are made here: words of `failslow simulate`.
MADE = {
    "host": (["tp=2", "dp=8", "ranks_per_host=4", "steps=40", "fault=compute host=2 factor=1.4 onset=15"],
             [WHO, SINCE, WHY, COST]),
    "drift": (["tp=4", "dp=2", "steps=80", "fault=job_slow factor=1.4 onset=20 ramp=40"], [SINCE, GROWTH, COST]),
    "imbalance": (["tp=2", "pp=4", "dp=2", "steps=40", "fault=stage ranks=2 factor=1.4"], [WHO, WHY, COST]),
    "stalls": (["tp=2", "dp=4", "steps=80", "fault=spike onset=12 period=20 extra_ms=4000"], [SINCE, STALL, COST]),
    "4 steps": (["-r", "8", "steps=4"], []),
    "pauses": (["dp=8", "ranks_per_host=4", "steps=60", "fault=pauses host=1 extra_ms=300 onset=10"], [COST]),
}
# Captures that are made here: words of tests/captures/make_capture.py. One step has no onset.
CAPTURES = {
    "stage of a capture": ({"pp": 2, "dp": 2, "layers": [3, 6]}, [WHO, WHY, COST]),
    "host bound": ({"dp": 2, "gap_us": 300, "layers": 2}, ["#bars rect", "#account rect"]),
    "communication bound": ({"dp": 4, "grad_mb": 4000.0, "layers": 1}, ["#bars rect", "#account rect"]),
    "uneven work": ({"dp": 4, "layers": 2, "faults": [{"kind": "larger_shapes", "ranks": [2], "factor": 1.5}]},
                    [WHO, WHY, COST]),
    "link of a capture": ({"dp": 4, "grad_mb": 1200.0, "layers": 1,
                           "faults": [{"kind": "slow_link", "ends": [0, 2], "factor": 0.3}]}, [WHO, LINK, COST]),
}
# Functions of traces that are made here: words of tests/cli/functions/traces.py.
FUNCTIONS = {
    "functions": (["python=2", "kernels=5"], ["#shares .ring", "#shares .excess", "#function .v.hot", ".tabs"]),
}
# Kernel traces that are made here: words of tests/cli/hostbound/traces.py.
HOSTS = {
    "hosts": (["marks", "hog=10-20", "irq"], ["#cpus .excess", "#cpus .waits", "#held .excess", "#steps .onset",
                                              "#states .excess"]),
}
MADE_UP = {"4096 ranks": 4096}  # simulated, it would take most of the time
DISTINCT = 12  # levels of brightness of 255 that two cells differ by
MAKE_TRACES = pathlib.Path(__file__).resolve().parents[1] / "cli" / "functions" / "traces.py"
MAKE_HOSTS = pathlib.Path(__file__).resolve().parents[1] / "cli" / "hostbound" / "traces.py"
MAKE_CAPTURE = pathlib.Path(__file__).resolve().parents[1] / "captures" / "make_capture.py"
EVIL = "<script>alert(1)</script>\"'&--><img src=x onerror=alert(2)>"


def made_up_case(n_ranks):
    """The text of a case that no job is simulated for: that would take minutes."""
    cells = bytearray(100 + (r * 31 + c * 17) % 5 for r in range(n_ranks) for c in range(256))
    worst = 77 % n_ranks
    cells[worst * 256:(worst + 1) * 256] = bytes([180] * 256)
    codes = base64.b64encode(zlib.compress(bytes(cells))).decode()
    own = [100.0 + r % 7 / 10 for r in range(n_ranks)]
    own[worst] = 140.0
    ranks = {"rank": list(range(n_ranks)), "host": [r // 8 for r in range(n_ranks)], "stage": [0] * n_ranks,
             "hosts": [f"node-{h:04d}" for h in range(n_ranks // 8)], "peers": [0] * n_ranks,
             "costMs": [40.0 if r == worst else 0.0 for r in range(n_ranks)], "ownMs": own, "peersMs": own,
             "lateMs": own, "waitMs": own, "parts": [{"part": "body", "ms": own}]}
    steps = {"fromNs": 1750000000000000000, "every": 1, "step": list(range(400)), "checkpoints": [],
             "atMs": list(range(0, 60000, 150)), "ms": [150.0 if s < 200 else 190.0 for s in range(400)]}
    culprit = {"rank": worst, "host": "node-0009", "cause": "compute", "onsetStep": 200, "lostMsPerStep": 40.0,
               "onsetTime": "2025-06-15T15:07:05.000Z"}
    return json.dumps({
        "schema": "failslow.case/2", "state": "active", "verdict": "slow_rank", "stepMs": 190.0, "lostMsPerStep": 40.0,
        "headline": f"SLOW RANK: rank {worst} (node-0009) slows the job by 27 %, which costs 40 ms of every 190 ms "
        "step",
        "reason": "made up", "culprits": [culprit],
        "job": {"name": "made up", "ranks": n_ranks}, "account": [{"part": "slow_rank", "ms": 8000, "share": 0.2}],
        "pictures": {"steps": steps, "ranks": ranks, "overTime": {"columns": 256, "own": codes, "loss": codes}}})


def spoilt(value):
    """A case whose texts are markup."""
    if isinstance(value, dict):
        return {key: value if key == "schema" else spoilt(value) for key, value in value.items()}
    if isinstance(value, list):
        return [spoilt(item) for item in value]
    return EVIL if isinstance(value, str) and not value.startswith("eJ") else value


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


# What a page says of itself once its raster is drawn.
LOOK = """(async function () {
  var all = function (s) { return Array.prototype.slice.call(document.querySelectorAll(s)) };
  var canvas = document.querySelector("#canvas");
  for (var i = 0; canvas && !canvas.dataset.drawn && i < 100; i++) await new Promise(r => setTimeout(r, 20));
  var bytes = canvas ? canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data : [];
  var empty = all("section svg.c").filter(function (s) {
    return !s.querySelector("rect,path,circle") || s.getBoundingClientRect().height < 10 }).length;
  return { headline: document.querySelector("#headline").textContent, width: document.documentElement.scrollWidth,
    bottoms: ["headline", "who", "since,#where", "why", "cost"].map(function (id) {
      return document.querySelector("#" + id).getBoundingClientRect().bottom }),
    isDrawn: !canvas || bytes.some(function (b, i) { return i % 4 === 3 && b > 0 }),
    nEmpty: empty, frames: all("section").filter(function (s) { return s.children.length < 2 }).map(s => s.id),
    reason: (document.querySelector(".reason") || {}).textContent,
    advice: (document.querySelector("#next>span") || {}).textContent,
    nBare: all("section:has(svg.c)").filter(s => !s.querySelector("details, a, tr[data-f]")).length,
    isHit: !!window.hit, nImages: document.images.length } })()"""


def bottom_of(browser, selector):
    """Lower edge of what a selector finds first, px; None: nothing."""
    return browser.run(f"(function(){{scrollTo(0,0);var e=document.querySelector({json.dumps(selector)});"
                       "return e&&e.getBoundingClientRect().bottom})()")


def faults_of_look(browser, told, seen):
    look = browser.run(LOOK)
    faults = [f"the {key} is {look[key]!r}" for key in ("headline", "reason", "advice")
              if key in told and look.get(key) != told[key]]
    faults += [f"{name} ends at {bottom} px" for name, bottom in
               zip(("headline", "who", "since", "why", "cost"), look["bottoms"]) if not 0 < bottom < SCREEN]
    for selector in seen:
        bottom = bottom_of(browser, selector)
        if bottom is None or bottom > SCREEN:
            faults.append(f"{selector} ends at {bottom} px")
    if not look["isDrawn"]:
        faults.append("the raster is empty")
    if look["nEmpty"] > 0 or look["frames"]:
        faults.append(f"empty: {look['nEmpty']} charts, frames {look['frames']}")
    if look["nBare"] > 0:
        faults.append(f"{look['nBare']} charts without a table")
    if look["isHit"] or look["nImages"] > 0:
        faults.append("text became markup")
    browser.resize(TELEPHONE, 800)
    width = browser.run("document.documentElement.scrollWidth")
    if width > TELEPHONE:
        faults.append(f"{width} px wide on a telephone")
    browser.ask("Emulation.setEmulatedMedia", media="print")
    browser.resize(*PAPER)
    bottom = bottom_of(browser, ".first")
    if bottom > PAPER[1]:
        faults.append(f"on paper the first screen is {bottom} px high")
    browser.ask("Emulation.setEmulatedMedia", media="")
    browser.resize(1280, SCREEN)
    return faults


def brightness(browser, selector, i):
    """Mean brightness, 0 to 255, of the inside of the cell @i, by a picture of the screen."""
    box = browser.run(f"(function(){{scrollTo(0,0);var b=document.querySelectorAll({json.dumps(selector)})[{i}]."
                      "getBoundingClientRect();return {x:b.x+3,y:b.y+3,width:b.width-6,height:8,scale:1}})()")
    png = base64.b64decode(browser.ask("Page.captureScreenshot", format="png", clip=box)["data"])
    _, _, pixels = pixels_of(png)
    return sum(sum(pixel) / 3 for pixel in pixels) / len(pixels)


def faults_of_colours(browser):
    """The cell of the culprit is another shade, and has a ring, for who sees no colours or not all."""
    faults = []
    for dark in ("light", "dark"):
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": dark}])
        for kind in ("deuteranopia", "protanopia", "tritanopia", "achromatopsia"):
            browser.ask("Emulation.setEmulatedVisionDeficiency", type=kind)
            told, other = (brightness(browser, "#grid .cell rect:first-child", i) for i in (5, 0))
            if abs(told - other) < DISTINCT:
                faults.append(f"{dark}, {kind}: the culprit has brightness {told:.0f}, others {other:.0f}")
    browser.ask("Emulation.setEmulatedVisionDeficiency", type="none")
    browser.ask("Emulation.setEmulatedMedia", features=[])
    return faults


def faults_of_clicks(browser):
    """Clicks and keys: cells, rows of the raster, the table, the language."""
    faults = []

    def expect(what, script):
        if not browser.run(script):
            faults.append(what)

    def has(selector):
        return browser.run(f"!!document.querySelector({json.dumps(selector)})")

    if has("#canvas"):
        browser.click("#canvas")
        expect("a click on the raster chooses no rank",
               "/^rank \\d/.test(document.querySelector('#hover').textContent)")
        before = browser.run("document.querySelector('#hover').textContent")
        browser.run("document.querySelector('#canvas').focus()")
        browser.press("ArrowUp")
        expect("a key in the raster chooses no rank",
               f"document.querySelector('#hover').textContent !== {json.dumps(before)}")
        if has("path.picked"):
            expect("the chosen rank has no line", "document.querySelector('path.picked').getAttribute('d').length > 9")
    if has("#grid .cell:nth-of-type(2)"):
        browser.click("#grid .cell rect")
        expect("a click on a cell says nothing", "document.querySelector('#unfolded').textContent.length > 5")
        browser.press("ArrowRight")
        expect("keys do not walk the grid", "document.activeElement !== document.querySelector('#grid .cell')"
               " && document.activeElement.classList.contains('cell')")
    if has("#ranks th"):
        order = "Array.from(document.querySelectorAll('#ranks tbody tr')).map(r => +r.cells[0].textContent)"
        browser.click("#ranks th")
        browser.run("document.querySelector('#ranks th').focus()")
        browser.press("Enter")
        numbers = browser.run(order)
        if numbers != sorted(numbers):
            faults.append("the table does not sort")
    headline = browser.run("document.querySelector('#headline').textContent")
    browser.click("#lang")
    expect("the button does not speak Chinese", "/[\\u4e00-\\u9fff]/.test(document.querySelector('dt').textContent)")
    if has("#account title span"):
        expect("a mark speaks English",
               "/[\\u4e00-\\u9fff]/.test(document.querySelector('#account title').textContent)")
    expect("the name of a chart is English", "Array.from(document.querySelectorAll('section>svg.c')).every("
           "s => /[\\u4e00-\\u9fff]/.test(s.getAttribute('aria-label')))")
    if has("#headline[data-zh]"):
        expect("the headline is not Chinese",
               "/[\\u4e00-\\u9fff]/.test(document.querySelector('#headline').textContent)")
    browser.click("#lang")
    expect("the headline does not come back", f"document.querySelector('#headline').textContent ==="
           f" {json.dumps(headline)}")
    return faults


# A choice of a function changes the chart and its title.
CHOSEN = """(function () { return [document.querySelector("p.one").textContent,
  Array.from(document.querySelectorAll("g.share rect")).map(r => r.getAttribute("height")).join(),
  document.querySelectorAll("tr.picked, .fr.picked").length] })()"""


def faults_of_functions(browser):
    """Tabs, rows and frames of the page of functions, by clicks and keys."""
    faults = []
    shown = "Array.from(document.querySelectorAll('.panel')).filter(p => p.offsetHeight > 1).map(p => p.id).join()"

    def expect(what, is_right):
        if not is_right:
            faults.append(what)

    expect("the first tab is not that of the finding", browser.run(shown) == "python")
    told = browser.run(CHOSEN)
    browser.click("#tab-compute")
    expect("a click opens no tab", browser.run(shown) == "compute")
    browser.click("#compute tr[data-f]")
    kernel = browser.run(CHOSEN)
    expect("a row chooses no function", kernel[0] != told[0] and kernel[1] != told[1] and kernel[2] == 1)
    browser.press("ArrowDown")
    expect("a key chooses no next function", browser.run(CHOSEN)[0] not in (kernel[0], told[0]))
    browser.run("document.querySelector('#tab-compute').focus()")
    browser.press("End")
    expect("a key opens no tab", browser.run(shown) == "python")
    browser.click(".fr[data-f] rect")
    expect("a frame chooses no function", browser.run(CHOSEN)[2] == 2)
    browser.click("#python tbody tr")
    expect("the told function does not come back", browser.run(CHOSEN)[0] == told[0])
    browser.click("#workers th:nth-child(4)")
    order = browser.run("Array.from(document.querySelectorAll('#workers tbody tr')).map(r => r.cells[0].textContent)")
    expect("the table of workers does not sort", order[:2] == ["2", "5"])
    return faults


def told_of(case, screen):
    """Sentences that the page shows: headline, reason, advice; those of the screen are on it."""
    findings = case.get("findings") or [{}]
    told = {key: case.get(key, "") for key in ("headline", "reason")}
    if case.get("capture") is None and findings[0].get("advice"):
        told["advice"] = findings[0]["advice"]
    lost = [key for key in ("headline", "advice") if screen is not None and squeezed(told.get(key, "")) not in screen]
    return told, lost


def make(program, datasets, name, folder):
    """Writes the page of a job. Its sentences, and names of those that the screen lacks."""
    page, case = folder / "page.html", folder / "case.json"
    if name in MADE_UP or name == "hostile":
        text = made_up_case(MADE_UP.get(name, 8))
        if name == "hostile":
            out = folder / "out"
            job = str(datasets / "faults" / "slow_rank")
            subprocess.run([program, job, "--output", str(out), "--quiet"], check=True)
            text = json.dumps(spoilt(json.loads((out / "failslow_slow_rank.json").read_text(encoding="utf-8"))))
        case.write_text(text, encoding="utf-8")
        subprocess.run([program, "report", str(case), "-o", str(page)], check=True)
        return told_of(json.loads(text), None)
    if name in FUNCTIONS or name in HOSTS:
        command, make_job = ("functions", MAKE_TRACES) if name in FUNCTIONS else ("hostbound", MAKE_HOSTS)
        subprocess.run([sys.executable, str(make_job), str(folder / "job"), *{**FUNCTIONS, **HOSTS}[name][0]], check=True)
        screen = subprocess.run([program, command, str(folder / "job"), "--report", str(page)], check=True,
                                capture_output=True, text=True).stdout
        text = subprocess.run([program, command, str(folder / "job"), "--format", "json"], check=True,
                              capture_output=True, text=True).stdout
        document = json.loads(text)
        headline = document["headline"] if name in FUNCTIONS else document["traces"][0]["headline"]
        return {"headline": headline}, [] if headline in squeezed(screen) else ["headline"]
    words = [str(datasets / JOBS[name][0][0]), *JOBS[name][0][1:]] if name in JOBS else [str(folder / "job")]
    if name in CAPTURES:
        subprocess.run([sys.executable, str(MAKE_CAPTURE), str(folder / "job"), json.dumps(CAPTURES[name][0])],
                       check=True, capture_output=True)
        words.insert(0, "profile")
    if name in MADE:
        subprocess.run([program, "simulate", str(folder / "job"), *MADE[name][0]], check=True, capture_output=True)
    screen = subprocess.run([program, *words, "--report", str(page), "--output", str(folder / "out")], check=True,
                            capture_output=True, text=True).stdout
    kept = next((folder / "out").glob("failslow_*.json"))
    return told_of(json.loads(kept.read_text(encoding="utf-8")), squeezed(screen))


def faults_of(browser, name, page, told, lost):
    seen = {**JOBS, **MADE, **CAPTURES, **FUNCTIONS, **HOSTS}.get(name, (None, [WHO, SINCE, COST]))[1]
    browser.open(page)
    faults = [f"the screen has another {key}" for key in lost]
    faults += faults_of_look(browser, told, seen)
    n_bytes, n_ranks = page.stat().st_size, browser.run("JSON.parse(document.querySelector('#data').text).rank.length")
    most = min((bytes_max for ranks_max, bytes_max in BUDGET.items() if n_ranks <= ranks_max))
    if n_bytes > most and name != "hostile":
        faults.append(f"{n_bytes} bytes, at most {most}")
    if name == "rank":
        faults += faults_of_colours(browser)
    if name in FUNCTIONS:
        faults += faults_of_functions(browser)
    faults += faults_of_clicks(browser)
    return faults + browser.messages


def main():
    path = find()
    if path is None:
        print("no Chromium: pages are not opened")
        sys.exit(77)
    program, datasets = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    names = sys.argv[3:] or [*JOBS, *MADE, *CAPTURES, *FUNCTIONS, *HOSTS, *MADE_UP, "hostile"]
    n_faults = 0
    # The browser begins before there are threads. The next page is made while one is looked at.
    with Browser(path) as browser, tempfile.TemporaryDirectory() as top, \
            concurrent.futures.ThreadPoolExecutor(1) as maker:
        browser.ask("Page.addScriptToEvaluateOnNewDocument", source="window.alert = function () { window.hit = 1 }")
        folders = {name: pathlib.Path(top, name.replace(" ", "_")) for name in names}
        for folder in folders.values():
            folder.mkdir()
        made = {name: maker.submit(make, program, datasets, name, folders[name]) for name in names}
        for name in names:
            told, lost = made[name].result()
            for fault in faults_of(browser, name, folders[name] / "page.html", told, lost):
                print(f"{name}: {fault}")
                n_faults += 1
    print(f"{len(names)} pages, {n_faults} faults")
    sys.exit(1 if n_faults > 0 else 0)


if __name__ == "__main__":
    main()
