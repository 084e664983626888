"""Headless Chromium driven through its DevTools pipe, with the standard library alone.

Chromium started with ``--remote-debugging-pipe`` reads JSON messages from file descriptor 3 and
writes to 4, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--remote-debugging-pipe"
).split()
# Moves the pipes to 3 and 4 in the child, where Chromium expects them.
LAUNCH = (
    "import fcntl, os, sys;"
    "r, w = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]);"
    "os.dup2(r, 3); os.dup2(w, 4); os.execvp(sys.argv[3], sys.argv[3:])"
)
PATIENCE = 60.0  # seconds for an answer


class Browser:
    """One page; ``problems`` collects console errors, exceptions and refused content, ``asked``
    the addresses of everything that was requested."""

    def __init__(self) -> None:
        assert CHROMIUM is not None
        self._profile = tempfile.mkdtemp(prefix="lesson-browser-")
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        command = [
            *(sys.executable, "-c", LAUNCH, str(read_there), str(write_there)),
            *(CHROMIUM, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"),
        ]
        self._process = subprocess.Popen(
            command,
            pass_fds=(read_there, write_there),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_there)
        os.close(write_there)
        self._in, self._out = read_here, write_here
        self._buffer, self._number = b"", 0
        self._session: str | None = None
        self.problems: list[str] = []
        self.asked: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    # ------------------------------------------------------------------ the protocol
    def call(self, method, **parameters):
        """Send one command and wait for its answer; events that arrive meanwhile are noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)

    def _next(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._in, 1 << 20)
            assert read, "the browser has ended"
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        name, values = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            self.problems.append(str(values["exceptionDetails"]))
        elif name == "Runtime.consoleAPICalled" and values["type"] in (
            "error",
            "warning",
            "assert",
        ):
            self.problems.append(str(values["args"]))
        elif name == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.problems.append(values["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.asked.append(values["request"]["url"])

    # ------------------------------------------------------------------ what a reader does
    def open(self, address):
        """Load a page, also if only the part after # changes."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def ask(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression):
        """Until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.ask(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def press(self, key):
        """A key by its name, e.g. ArrowRight."""
        code = {" ": 32, "ArrowLeft": 37, "ArrowRight": 39, "End": 35, "Home": 36}[key]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def look(self, width=1280, height=900, *, dark=False):
        """The size of the window, and the reader's colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path, *, whole=True):
        """A screenshot as PNG."""
        made = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(made["data"]))

    def close(self):
        """End the browser that this object started."""
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)
