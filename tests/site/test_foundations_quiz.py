"""The quiz: ten questions with folded answers, true ones, and the way back to each part."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

PAGE = Path("docs/foundations/quiz.md")
TEXT = PAGE.read_text(encoding="utf-8")
NUMBERS = range(1, 11)

PARTS = {
    1: "graphs-and-memory.md#two-switches",
    2: "modules.md#registration",
    3: "losses.md#losses",
    4: "graphs-and-memory.md#what-keeps-memory",
    5: "tensors.md#devices",
    6: "optimizers-and-checkpoints.md#checkpoints",
    7: "acceleration.md#mixed-precision",
    8: "debugging.md#probes",
    9: "learning-or-memorising.md#three-sets",
    10: "rate-and-batch.md#critical-batch-size",
}


def question(number: int) -> str:
    """The text between a question's heading and the next one."""
    found = re.search(rf"^## {number}\. .+? \{{ #q{number} \}}$(.*?)^## ", TEXT, re.M | re.S)
    assert found is not None, f"no heading with the id q{number}"
    return found[1]


def answer(number: int) -> str:
    """The folded answer of a question, on one line."""
    found = re.search(r"^/// answer\n(.*?)^///$", question(number), re.M | re.S)
    assert found is not None
    return " ".join(found[1].split())


def numbers_in(text: str) -> set[str]:
    """The whole numbers of a text, as they are written."""
    return set(re.findall(r"\d[\d,]*\d|\d", text))


@pytest.mark.parametrize("number", NUMBERS)
def test_each_question_is_a_check_before_its_folded_answer(number: int) -> None:
    """It is chosen or written before it is shown, and kept under a name of its own."""
    block = question(number)
    indented = [line for line in block.splitlines() if line.startswith("    ")]
    options = yaml.safe_load("\n".join(indented))

    assert f"foundations-q{number}" == options["id"]
    assert options["kind"] in ("choice", "sentence")
    assert block.index("//// check |") < block.index("/// answer\n")


@pytest.mark.parametrize("number", NUMBERS)
def test_answer_and_summary_lead_to_the_same_part(number: int) -> None:
    """Anyone who missed a question finds the part to reread, with or without JavaScript."""
    summary = TEXT.split("<quiz-summary markdown>")[1]
    line = summary.splitlines()[number + 1]

    assert PARTS[number] in answer(number)
    assert f"](#foundations-q{number}): [" in line
    assert f"({PARTS[number]})" in line


def test_the_right_choices_do_not_all_stand_in_one_place() -> None:
    """Nobody can answer by position."""
    assert len(set(re.findall(r"^    right: (\d)$", TEXT, re.M))) >= 3


def test_two_validations_with_active_dropout_differ() -> None:
    """Question 1: eval makes them equal, and no_grad alone does not."""
    torch.manual_seed(0)
    model, images = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.2)), torch.ones(4, 8)

    with torch.no_grad():
        training = [model(images) for _ in range(2)]
        model.eval()
        evaluated = [model(images) for _ in range(2)]

    assert not torch.equal(*training)
    assert torch.equal(*evaluated)


class Hidden(nn.Module):
    """Two layers in a plain list, beside a registered one if asked for."""

    def __init__(self, containers: type[list[nn.Module]] | type[nn.ModuleList]) -> None:
        super().__init__()
        self.layers = containers([nn.Linear(128, 128), nn.Linear(128, 10)])


def test_a_list_hides_its_layers_and_a_module_list_does_not() -> None:
    """Question 2: the optimizer's message, the four names and the three counts."""
    repaired = dict(Hidden(nn.ModuleList).named_parameters())
    counts = [sum(p.numel() for n, p in repaired.items() if f"layers.{i}" in n) for i in (0, 1)]

    with pytest.raises(ValueError, match="optimizer got an empty parameter list"):
        torch.optim.SGD(Hidden(list).parameters(), lr=0.1)
    assert 4 == len(repaired)
    assert [16_512, 1_290] == counts
    assert {f"{number:,}" for number in (*counts, sum(counts))} <= numbers_in(answer(2))


def test_one_hot_floats_give_the_same_loss_and_integers_are_refused() -> None:
    """Question 3: what CrossEntropyLoss takes and what it refuses."""
    logits = torch.randn(16, 2, generator=torch.Generator().manual_seed(0))
    numbers = torch.arange(16) % 2
    one_hot = F.one_hot(numbers)
    message = "Expected floating point type for target with class probabilities, got Long"

    expected = F.cross_entropy(logits, numbers).item()

    assert math.isclose(expected, F.cross_entropy(logits, one_hot.float()).item(), abs_tol=1e-6)
    weight = torch.tensor([1.0, 10.0])
    weighted = F.cross_entropy(logits, numbers, weight).item()
    assert not math.isclose(weighted, F.cross_entropy(logits, one_hot.float(), weight).item())
    with pytest.raises(RuntimeError, match=message):
        F.cross_entropy(logits, one_hot)
    with pytest.raises(RuntimeError, match=r"Long\b.+\bFloat"):
        F.cross_entropy(logits, numbers.float())
    assert message in answer(3)  # PyTorch's words, as quoted


@pytest.mark.parametrize(
    ("optimizer", "shifts"), [(torch.optim.Adam, True), (torch.optim.SGD, False)]
)
def test_a_fresh_adam_shifts_the_curve_and_a_fresh_sgd_does_not(
    optimizer: Callable[..., torch.optim.Optimizer], shifts: bool
) -> None:
    """Question 6: the first loss after the restart is equal, the one after it tells."""
    images = torch.randn(32, 8, generator=torch.Generator().manual_seed(0))

    def losses(fresh_at: int | None) -> list[float]:
        torch.manual_seed(0)
        model = nn.Linear(8, 1)
        chosen, kept = optimizer(model.parameters(), lr=0.05), []
        for step in range(12):
            if step == fresh_at:
                chosen = optimizer(model.parameters(), lr=0.05)
            loss = (model(images) ** 2).mean()
            chosen.zero_grad()
            loss.backward()
            chosen.step()
            kept.append(loss.item())
        return kept

    whole, restarted = losses(None), losses(fresh_at=10)

    assert whole[10] == restarted[10]
    assert shifts == (whole[11] != restarted[11])


def test_a_resume_from_weights_alone_sees_other_batches() -> None:
    """Question 6: the order that a generator would give next is in no state dict."""
    data = torch.arange(64.0).unsqueeze(1)

    def next_batch(generator: torch.Generator) -> torch.Tensor:
        loader = DataLoader(TensorDataset(data), 8, shuffle=True, generator=generator)
        (batch,) = next(iter(loader))
        return torch.as_tensor(batch)

    running = torch.Generator().manual_seed(7)
    next_batch(running)  # an epoch has begun, and its order is drawn
    kept = running.get_state()
    whole = next_batch(running)

    assert not torch.equal(whole, next_batch(torch.Generator().manual_seed(7)))
    restored = torch.Generator()
    restored.set_state(kept)
    assert torch.equal(whole, next_batch(restored))
