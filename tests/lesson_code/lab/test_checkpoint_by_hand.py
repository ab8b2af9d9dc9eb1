"""A hand-written checkpoint equals plain training, falls into two traps, and can be checked."""

import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from lesson_code.lab import checkpoint_by_hand
from lesson_code.lab.checkpoint_by_hand import (
    WAYS,
    batch_norm_after,
    by_hand,
    by_torch,
    main,
    outcome,
    with_gradient,
)
from lesson_code.lab.models import BlockStack

SOURCE = Path(checkpoint_by_hand.__file__)


@pytest.mark.parametrize("way", ["by hand", "torch, use_reentrant=False"])
def test_output_and_gradients_are_those_of_plain_training(way: str) -> None:
    """Bit for bit, with dropout, and 13 times less is saved."""
    plain_saved, plain_output, plain = outcome(WAYS["plain"])
    saved, output, gradients = outcome(WAYS[way])

    assert (851_968, 65_536) == (plain_saved, saved)
    assert torch.equal(plain_output, output)
    assert 1 + 8 * 4 == len(plain) == len(gradients)
    assert all(torch.equal(a, b) for a, b in zip(plain, gradients, strict=True))


def test_without_the_random_state_gradients_are_wrong() -> None:
    """The output is right, and the gradients belong to another dropout."""
    _, plain_output, plain = outcome(WAYS["plain"])
    _, output, gradients = outcome(WAYS["torch, preserve_rng_state=False"])

    assert torch.equal(plain_output, output)
    difference = max((a - b).abs().max().item() for a, b in zip(plain, gradients, strict=True))
    assert 0.005 < difference < 0.05


def test_the_second_run_leaves_the_random_numbers_alone() -> None:
    """After backward, the generator goes on where the forward pass left it."""
    numbers = []
    for way in ("plain", "by hand"):
        outcome(WAYS[way])
        numbers.append(torch.rand(3))

    assert torch.equal(*numbers)


def test_the_reentrant_form_needs_an_input_with_gradient() -> None:
    """Blocks on plain data get none, from our function and from PyTorch's old form."""
    assert (0, 2) == with_gradient(by_hand, input_needs_one=False)
    assert (8, 2) == with_gradient(by_hand, input_needs_one=True)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert (0, 2) == with_gradient(by_torch(use_reentrant=True), input_needs_one=False)
    assert (8, 2) == with_gradient(by_torch(use_reentrant=False), input_needs_one=False)


def test_leaving_the_form_out_warns() -> None:
    """The call has to say which form it wants."""
    block = BlockStack(depth=1, width=4).blocks[0]

    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        torch.utils.checkpoint.checkpoint(block, torch.ones(2, 4, requires_grad=True))


def test_batch_norm_is_updated_twice() -> None:
    """Two updates a step, so 0.19 of the way to the batch's mean in place of 0.10."""
    assert (1, pytest.approx(0.1)) == batch_norm_after(WAYS["plain"])
    for way in ("by hand", "torch, use_reentrant=False"):
        assert (2, pytest.approx(1 - 0.9**2)) == batch_norm_after(WAYS[way])


def test_gradients_through_batch_norm_are_right_all_the_same() -> None:
    """Training uses the batch's own statistics, in both runs."""
    gradients = []
    for way in ("plain", "by hand"):
        torch.manual_seed(0)
        blocks = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        x = torch.randn(8, 4, requires_grad=True)
        WAYS[way](blocks, x).pow(3).sum().backward()
        gradients.append(blocks[0].weight.grad)

    assert torch.equal(*gradients)


def test_only_pytorch_s_checkpoint_remembers_autocast() -> None:
    """By hand, the second run computes in float32 what the first computed in bfloat16."""
    gradients = {}
    for way in ("plain", "by hand", "torch, use_reentrant=False"):
        torch.manual_seed(0)
        blocks, x = BlockStack(depth=2, width=8).blocks, torch.randn(4, 8, requires_grad=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = WAYS[way](blocks, x)
        output.float().square().sum().backward()
        gradients[way] = blocks[0].widen.weight.grad

    plain = gradients["plain"]
    assert torch.equal(plain, gradients["torch, use_reentrant=False"])
    assert not torch.equal(plain, gradients["by hand"])
    assert torch.allclose(plain, gradients["by hand"], rtol=0.1, atol=0.1)


def test_what_the_page_shows_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """The three tables, each warning printed where it comes."""
    differences = checkpoint_by_hand.print_by_hand()
    trap = checkpoint_by_hand.print_trap()
    updates = checkpoint_by_hand.print_batch_norm()

    assert [0.0, 0.0, 0.0] == [way["difference"] for way in differences.values()][:3]
    assert [[0, 8], [0, 8], [8, 8]] == list(trap.values())
    assert [1, 2, 2] == list(updates.values())
    assert "UserWarning: None of the inputs" in capsys.readouterr().out


def answer(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """The page's own solution in a file, with changes."""
    code = SOURCE.read_text(encoding="utf-8").split("# --8<-- [start:by_hand]")[1]
    code = code.split("# --8<-- [end:by_hand]")[0]
    for old, new in changes:
        assert old in code
        code = code.replace(old, new)
    head = "from collections.abc import Callable\nfrom typing import Any\nimport torch\n"
    file = tmp_path / "my_checkpoint.py"
    file.write_text(head + "Run = Callable[..., torch.Tensor]\n" + code, encoding="utf-8")
    return file


def test_the_page_s_solution_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five checks, five passes."""
    assert 0 == main([str(answer(tmp_path))])
    assert "5 of 5 passed." in capsys.readouterr().out


def test_the_random_state_may_be_saved_like_the_inputs(tmp_path: Path) -> None:
    """Its bytes are no result of a block."""
    changes = (
        ("        ctx.random_state = torch.get_rng_state()\n", ""),
        ("save_for_backward(*inputs)", "save_for_backward(torch.get_rng_state(), *inputs)"),
        (
            "        inputs = [x.detach()",
            "        state, *saved = ctx.saved_tensors\n        inputs = [x.detach()",
        ),
        ("for x in ctx.saved_tensors]", "for x in saved]"),
        ("set_rng_state(ctx.random_state)", "set_rng_state(state)"),
    )

    assert 0 == main([str(answer(tmp_path, *changes))])


def test_pytorch_s_checkpoint_passes(tmp_path: Path) -> None:
    """The checks look at what comes out."""
    change = ("Recomputed.apply(run, *inputs)", "ours(run, *inputs, use_reentrant=False)")
    file = answer(tmp_path, change)
    code = file.read_text(encoding="utf-8")
    file.write_text("from torch.utils.checkpoint import checkpoint as ours\n" + code)

    assert 0 == main([str(file)])


WRONG = {
    "no random state": (("            torch.set_rng_state(ctx.random_state)\n", ""), "3", "the"),
    "generator not put back": (
        ("torch.random.fork_rng(devices=[]), torch.enable_grad()", "torch.enable_grad()"),
        "4",
        "fork_rng",
    ),
    "no graph in the second run": ((", torch.enable_grad():", ":"), "1", "your code stopped"),
    "nothing recomputed": (
        ("Recomputed.apply(run, *inputs)", "run(*inputs)"),
        "2",
        "expected 384 bytes saved",
    ),
    "inputs in the wrong order": (
        ("return None, *(x.grad for x in inputs)", "return None, *(x.grad for x in inputs[::-1])"),
        "5",
        "expected gradients 12, 12 and none",
    ),
}


@pytest.mark.parametrize(("change", "check", "says"), WRONG.values(), ids=list(WRONG))
def test_a_wrong_checkpoint_fails_the_right_check(
    change: tuple[str, str],
    check: str,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What goes wrong is named by the check that is about it."""
    assert 1 == main([str(answer(tmp_path, change))])
    report = " ".join(capsys.readouterr().out.split())
    assert f"TODO {check} " in report
    failed = report.split(f"TODO {check} ")[1].split("TODO ")[0]
    assert "WRONG" in failed
    assert says in failed


def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, no traceback."""
    assert 2 == main([str(tmp_path / "missing.py")])
    assert capsys.readouterr().err.startswith("error: ")


def test_no_warning_comes_from_comparing() -> None:
    """The forms that the page recommends are quiet."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        outcome(WAYS["torch, use_reentrant=False"])

    assert [] == warned
