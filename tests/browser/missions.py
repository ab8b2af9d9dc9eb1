"""A window on the mission's page, with a state that an earlier visit left."""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from lesson_site.mission.payload import build_payload

KEY = "gpu-training.mission.v1"
NAME = "memory-mfu"
FIRST, SECOND = "lesson-check#adam-extra-memory", "lesson-check#gpu-compute-share"
COMMIT = "Commit my prediction"
LEDGERS = "gpu-training.design-ledger.v1"
AT = "2026-11-22T12:00:00.000Z"
Opener = Callable[..., Page]


def fresh_state() -> dict[str, Any]:
    """Where everybody begins: as ``fresh`` in docs/assets/elements/mission/stored.js."""
    controls = {
        instrument: {name: control["default"] for name, control in each.items()}
        for instrument, each in build_payload()["controls"].items()
    }
    blanks = [None, None, None]
    return {
        "v": 1,
        "skipped": False,
        "completed_at": None,
        "act1": {
            "prediction": None,
            "locked_at": None,
            "controls": controls["ledger"],
            "hidden": [],
            "seen": [],
            "revealed": False,
            "prompts": [],
            "tradeoff": {"node": None, "laptop": None, "reason": ""},
            "reflection": {"answers": blanks, "checked": False},
        },
        "act2": {
            "prediction": None,
            "locked_at": None,
            "controls": controls["pipeline"],
            "changes": 0,
            "target_reached": False,
            "record": None,
            "reflection": {
                "choice": None,
                "choice_checked": False,
                "answers": blanks,
                "checked": False,
            },
        },
        "laptop": {
            "early": False,
            "config": controls["laptop"],
            "moves": [],
            "outcomes_seen": [],
            "smallest": None,
            "fit": False,
            "quantify": {"gb": "", "why": None, "checked": False},
        },
    }


def act_one_open() -> dict[str, Any]:
    """A state in which the first prediction, B, is locked in."""
    state = fresh_state()
    state["act1"] |= {"prediction": "B", "locked_at": AT}
    return state


def act_two_open() -> dict[str, Any]:
    """A state in which Act 1 is done, and the second prediction, 75, is locked in."""
    state = act_one_open()
    state["act1"] |= {"seen": ["sgd", "adam"], "revealed": True}
    state["act1"]["reflection"] = {"answers": ["2", "copies", "1.0"], "checked": True}
    state["act2"] |= {"prediction": 75, "locked_at": AT}
    return state


def target_reached() -> dict[str, Any]:
    """A state in which all three optimisations are on, at batch 32, and the laptop is open."""
    state = act_two_open()
    state["act2"]["controls"] |= {"prefetch": "1", "mixed": "1", "checkpointing": "1"}
    state["act2"] |= {"target_reached": True, "changes": 3}
    return state


def keep(context: BrowserContext, state: dict[str, Any]) -> None:
    """Let the first page of a window find a state, as if an earlier visit had left it."""
    kept = json.dumps({NAME: {**state, "at": AT}})
    context.add_init_script(
        f"if (!sessionStorage.getItem('left')) {{ sessionStorage.setItem('left', '1');"
        f" localStorage.setItem({KEY!r}, {json.dumps(kept)}); }}"
    )


def kept_state(page: Page) -> dict[str, Any]:
    """What the browser keeps of the mission; a rest that the page was still waiting for is over."""
    page.evaluate("dispatchEvent(new Event('pagehide'))")
    text = page.evaluate(f"localStorage.getItem({KEY!r})")
    entries: dict[str, Any] = json.loads(text) if text else {}
    found: dict[str, Any] = entries.get(NAME, {})
    return found


def open_mission(
    browser: Browser, site: str, state: dict[str, Any] | None = None, **options: Any
) -> Page:
    """The mission's page in a fresh window; close ``page.context`` when done."""
    context = browser.new_context(**options)
    if state is not None:
        keep(context, state)
    page = context.new_page()
    page.goto(f"{site}mission/")
    return page
