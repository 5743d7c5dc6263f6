"""Chromium without a window, driven over two pipes: one browser opens all pages of a test."""
import json
import os
import shutil
import struct
import subprocess
import tempfile
import zlib


def find():
    """Path of a browser; None: there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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


class Browser:
    """Use as a context. A page is open at a time; its messages are in `messages`."""

    def __init__(self, path):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def give_pipes():
            """The browser reads descriptor 3 and writes descriptor 4."""
            held = os.dup(to_browser), os.dup(from_browser)
            os.dup2(held[0], 3)
            os.dup2(held[1], 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            close_fds=False, preexec_fn=give_pipes, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.n_sent, self.messages, self.events = b"", 0, [], set()
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.input, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        method, values = event.get("method"), event.get("params", {})
        self.events.add(method)
        if method == "Runtime.exceptionThrown":
            self.messages.append(values["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(f"{values['type']}: {[value.get('value') for value in values['args']]}")
        elif method == "Log.entryAdded":
            self.messages.append(values["entry"]["text"])

    def ask(self, method, **params):
        self.n_sent += 1
        message = {"id": self.n_sent, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.n_sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def open(self, path, width=1280, height=900):
        self.messages.clear()
        self.resize(width, height)
        self.events.discard("Page.loadEventFired")
        self.ask("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self.events:
            self.note(self.read())

    def resize(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def run(self, script):
        """Value of an expression of the page; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def click(self, selector):
        x, y = self.run(f"(function(){{var e=document.querySelector({json.dumps(selector)});e.scrollIntoView({{block:"
                        "'center'});var b=e.getBoundingClientRect();return [b.x+b.width/2,b.y+b.height/2]})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)
