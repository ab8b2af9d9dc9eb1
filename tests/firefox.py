"""Firefox, driven through WebDriver BiDi, which it speaks without a driver of its own."""

import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

NAMES = ("firefox-esr", "firefox")
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
START_S = 60.0
ANSWER_S = 60.0
PREFERENCES = """\
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""


def executable() -> str | None:
    """Firefox on this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Window:
    """A window of Firefox, and what its pages complained of.

    Attributes:
        errors: Errors and warnings of the pages' own code since the window was opened.
    """

    def __init__(self, address: str) -> None:
        # A page that asks has an Origin, and Firefox refuses those; a test is no page.
        self._socket = websocket.create_connection(
            f"{address}/session", timeout=ANSWER_S, suppress_origin=True
        )
        self._ids = itertools.count(1)
        self.errors: list[str] = []
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        [context, *_] = self._ask("browsingContext.getTree")["contexts"]
        self._context = context["context"]

    def open(self, address: str) -> None:
        """Go to a page, and wait until it is loaded."""
        self._ask("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, waited for if it is a promise."""
        result = self._ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self._context},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise AssertionError(result["exceptionDetails"]["text"])
        return json.loads(result["result"].get("value", "null"))

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + ANSWER_S
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition} did not become true in {ANSWER_S} s")
            time.sleep(0.05)

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("method") == "log.entryAdded":
                self._hear(message["params"])
            if message.get("id") != number:
                continue
            if message["type"] == "error":
                raise AssertionError(f"{method}: {message['message']}")
            result: dict[str, Any] = message["result"]
            return result

    def _hear(self, entry: dict[str, Any]) -> None:
        if entry["level"] in ("error", "warn"):
            self.errors.append(f"{entry['level']}: {entry['text']}")


@contextmanager
def firefox(profile: Path) -> Iterator[Window]:
    """A window of a Firefox of its own.

    Args:
        profile: An empty folder.
    """
    (profile / "user.js").write_text(PREFERENCES, encoding="utf-8")
    name = executable()
    assert name, "--require-firefox was given, but there is no Firefox on this machine"
    process = subprocess.Popen(
        [name, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", profile],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={"HOME": str(profile), "PATH": "/usr/bin:/bin"},
    )
    try:
        window = Window(_address(process))
        yield window
        window.close()
    finally:
        process.terminate()
        process.communicate(timeout=START_S)


def _address(process: subprocess.Popen[str]) -> str:
    """Where it listens, which it says soon after the start."""
    assert process.stderr
    for line in process.stderr:
        found = LISTENING.search(line)
        if found:
            return found[1]
    raise AssertionError("Firefox ended without saying where it listens")
