"""Chromium without a window, driven over two pipes: one browser opens all pages of a test."""
import json
import os
import shutil
import subprocess
import tempfile


def find():
    """Path of a browser; None: there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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
