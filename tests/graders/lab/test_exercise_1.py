"""Exercise 1 beyond its checks: other right answers, and what its page claims."""

from pathlib import Path

import pytest
import torch
from torch import nn

from tests.graders.lab.answers import LAB, MAIN, outcomes

SOLUTION = (LAB / "solution" / "01_gpu_basics.py").read_text(encoding="utf-8").partition(MAIN)[0]
UNUSUAL = {
    "accelerator": """
def pick_device(prefer=None):
    found = torch.accelerator.current_accelerator(check_available=True)
    if prefer is None and torch.cuda.is_available():
        return torch.device("cuda", 0)
    return torch.device(prefer or found or "cpu")
""",
    "current_device": """
def pick_device(prefer=None):
    if prefer is not None:
        return torch.device(prefer)
    if torch.cuda.device_count():
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")
""",
    "default_device": """
def make_on_device(shape, device):
    with torch.device(device):
        return torch.randn(*shape)
""",
    "state_dict": """
def misplaced(model, device):
    wanted = torch.device(device)
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return sorted(
        name
        for name, t in tensors.items()
        if t.device.type != wanted.type or wanted.index not in (None, t.device.index)
    )
""",
    "state_dict_and_buffers": """
def misplaced(model, device):
    wanted = torch.device(device)
    tensors = {**model.state_dict(), **dict(model.named_buffers())}
    return [
        name
        for name, t in tensors.items()
        if t.device.type != wanted.type or wanted.index not in (None, t.device.index)
    ]
""",
    "module_by_module": """
def misplaced(model, device):
    wanted = torch.device(device)
    found = []
    for prefix, module in model.named_modules():
        own = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
        for name, tensor in own:
            at = tensor.device
            if at.type != wanted.type or wanted.index not in (None, at.index):
                found.append(f"{prefix}.{name}" if prefix else name)
    return found
""",
    "looks_first": """
def forward_safely(model, x):
    for tensor in (*model.parameters(), *model.buffers()):
        return model(x.to(tensor.device))
    return model(x)
""",
}


@pytest.mark.parametrize("code", UNUSUAL.values(), ids=UNUSUAL)
def test_another_right_answer_passes(code: str, tmp_path: Path) -> None:
    """The checks ask for results, not for our way to them."""
    path = tmp_path / "01_gpu_basics.py"
    path.write_text(SOLUTION + code, encoding="utf-8")

    assert {"passed"} == {outcome.state for outcome in outcomes(1, path)} - {
        "cannot be judged here"
    }


def test_a_plain_attribute_does_not_move() -> None:
    """The page's first thing to try: it is in no list of names, and stays on the CPU."""
    model = nn.Linear(2, 2)
    model.scale = torch.ones(2)
    model.to("meta")

    assert torch.device("cpu") == model.scale.device
    assert "scale" not in model.state_dict()


def test_an_optimizer_made_too_early_keeps_the_old_parameters() -> None:
    """The page's second thing to try."""
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to("meta")

    assert torch.device("cpu") == optimizer.param_groups[0]["params"][0].device
    assert torch.device("cuda") != torch.device("cuda:0")
