"""Chromium without a screen, driven through a pair of pipes by its own debugging protocol.

Messages are JSON objects that end in a zero byte (``--remote-debugging-pipe``), so nothing is
needed but the browser itself.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

#: Names of the program in distributions.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


#: Puts two descriptors where the browser reads commands (3) and writes answers (4).
_LAUNCHER = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


def chromium() -> str | None:
    """Return where Chromium is, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser; what goes wrong on the page is kept in ``errors``."""

    def __init__(self, program: str) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._numbers = itertools.count(1)
        self._rest = b""
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _LAUNCHER, str(theirs_in), str(theirs_out), program),
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                *("--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe"),
                f"--user-data-dir={self._profile.name}",
                "about:blank",
            ],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        targets = self._send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self._send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session: str = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """Stop the browser."""
        self._process.terminate()
        self._process.wait(20)
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- for tests ------------------------------------------------------------------------------

    def open(
        self,
        path: Path,
        width: int = 1280,
        height: int = 900,
        theme: str = "light",
        query: str = "",
    ) -> None:
        """Open a file as a double-click would, in a window of this size."""
        self.errors.clear()
        self.requests.clear()
        self.send(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.send("Emulation.setEmulatedMedia", features=features)
        self._loaded = False
        self.send("Page.navigate", url=path.resolve().as_uri() + query)
        while not self._loaded:
            self._take(time.monotonic() + 30)

    def run(self, script: str) -> Any:
        """Return what a JavaScript expression is on the page."""
        answer = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 10) -> None:
        """Return when a JavaScript expression is true."""
        deadline = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < deadline, f"still false: {condition}"
            time.sleep(0.02)

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Write what the window shows, or the whole page, as a PNG file."""
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def print(self, path: Path) -> None:
        """Write the page as it prints, as a PDF file."""
        printed = self.send("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(printed["data"]))

    # ---- the protocol ---------------------------------------------------------------------------

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command to the page and return its answer."""
        return self._send(method, self._session, **parameters)

    def _send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self._take(deadline)
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])

    def _take(self, deadline: float) -> dict[str, Any]:
        """Return the next message, and note errors and requests."""
        while b"\0" not in self._rest:
            left = deadline - time.monotonic()
            if left < 0 or not select.select([self._in], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            read = os.read(self._in, 1 << 16)
            if not read:
                raise RuntimeError("the browser has exited")
            self._rest += read
        line, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(str(message["params"]["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.errors.append(str(message["params"]))
            case "Log.entryAdded":
                self.errors.append(str(message["params"]["entry"]))
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case "Page.loadEventFired":
                self._loaded = True
        return message
