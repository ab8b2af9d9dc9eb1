"""What tests of the graders share: answers run in processes that have PyTorch already."""

import subprocess
from types import SimpleNamespace

import pytest

from graders import process
from tests.warm import Parent


@pytest.fixture
def warm_children(monkeypatch: pytest.MonkeyPatch, warm: Parent) -> None:
    """Let ``examine`` fork the process of each answer; tests/graders/test_child.py starts one."""
    started = SimpleNamespace(
        Popen=warm.start, DEVNULL=subprocess.DEVNULL, PIPE=subprocess.PIPE, run=subprocess.run
    )
    monkeypatch.setattr(process, "subprocess", started)
