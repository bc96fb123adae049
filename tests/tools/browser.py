"""A headless Chromium, told what to do through a pipe by its own protocol (DevTools)."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser() -> str | None:
    """Return the path of a browser, None if there is none."""
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in found if path), None)


class Page:
    """A page in the browser."""

    def __init__(self, write: int, read: int) -> None:
        self.write, self.read = write, read
        self.number = 0
        self.session = ""
        self.rest = b""
        self.faults: list[str] = []
        """Errors that scripts of the page have raised, and what it wanted to load."""

    def call(self, method: str, **params: object) -> Any:
        """Call a method of the protocol and return its result."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            found = self.receive()
            if found.get("id") == self.number:
                assert "error" not in found, found
                return found["result"]
            self.note(found)

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        while b"\0" not in self.rest:
            more = os.read(self.read, 1 << 20)
            assert more, "the browser has ended"
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def note(self, event: dict[str, Any]) -> None:
        """Note what is wrong in the page."""
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.faults.append(json.dumps(params["exceptionDetails"]))
        if event.get("method") == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:")):
                self.faults.append(f"wants {url}")

    def open(self, path: Path) -> None:
        """Open a file, and wait until its scripts have run."""
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=path.resolve().as_uri())
        while self.receive().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression, which may be a promise."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def click(self, selector: str) -> None:
        """Click into the middle of an element."""
        place = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        self.click_at(*place)

    def click_at(self, x: float, y: float, times: int = 1) -> None:
        """Click at a place, or click twice there."""
        for number in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.call(
                    "Input.dispatchMouseEvent",
                    type=kind, x=x, y=y, button="left", clickCount=number,
                )  # fmt: skip

    def type(self, selector: str, text: str) -> None:
        """Type a text into a field that is emptied first."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).value = ''")
        self.click(selector)
        self.call("Input.insertText", text=text)

    def dark(self, *, on: bool) -> None:
        """Prefer dark or light colours."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self, path: Path) -> None:
        """Write a picture of the page."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Start a browser with an empty profile in a folder."""
    program = find_browser()
    assert program is not None, "no browser"
    from_us, to_browser = os.pipe()
    to_us, from_browser = os.pipe()
    options = (
        "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
        f"--window-size=1400,900 --user-data-dir={folder} --remote-debugging-pipe"
    )
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (from_us, from_browser)]
    os.close(from_us)
    os.close(from_browser)
    null = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in (1, 2)]
    pipes = [(os.POSIX_SPAWN_DUP2, end, n) for n, end in enumerate(ends, 3)]  # where it looks
    process = os.posix_spawn(
        program, [program, *options.split()], os.environ, file_actions=[*null, *pipes]
    )
    for end in ends:
        os.close(end)
    try:
        page = Page(to_browser, to_us)
        target = page.call("Target.createTarget", url="about:blank")["targetId"]
        found = page.call("Target.attachToTarget", targetId=target, flatten=True)
        page.session = found["sessionId"]
        yield page
    finally:
        os.close(to_browser)  # it ends by itself, with all of its processes
        while os.read(to_us, 1 << 20):
            pass
        os.close(to_us)
        os.waitpid(process, 0)
