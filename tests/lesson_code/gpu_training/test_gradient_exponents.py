"""Gradients counted by size: the counts are those that PyTorch's own rounding gives."""

import json
import math
from pathlib import Path

import pytest
import torch

from lesson_code.data import as_tensors, load_mnist
from lesson_code.gpu_training import gradient_exponents
from lesson_code.gpu_training.exponent_histogram import Histogram, added, as_row, from_row
from lesson_code.gpu_training.float_formats import BFLOAT16, E4M3, E5M2, FLOAT16, FloatFormat
from lesson_code.gpu_training.gradient_exponents import Counter, count_gradients

DTYPES = {
    FLOAT16: torch.float16,
    BFLOAT16: torch.bfloat16,
    E5M2: torch.float8_e5m2,
    E4M3: torch.float8_e4m3fn,
}


def numbers_of_every_size() -> torch.Tensor:
    """Powers of two, what lies beside them and beside every limit, and random numbers."""
    draw = torch.Generator().manual_seed(9)
    powers = torch.arange(-90, 60).double().exp2().float()
    limits = torch.tensor([k.overflow for k in (FLOAT16, E5M2, E4M3)])
    limits = torch.cat([limits * 2.0**-power for power in range(0, 40, 4)])
    edges = torch.cat([powers, limits])
    beside = [
        edges.nextafter(torch.zeros_like(edges)),
        edges.nextafter(torch.full_like(edges, math.inf)),
    ]
    anywhere = torch.empty(20_000).uniform_(-90, 50, generator=draw).exp2()
    return torch.cat([edges, *beside, -anywhere, torch.zeros(7)])


def histogram_of(numbers: torch.Tensor) -> Histogram:
    """The numbers, counted."""
    counter = Counter()
    counter.add(numbers)
    return counter.histogram()


@pytest.mark.parametrize("kind", list(DTYPES), ids=lambda kind: kind.name)
@pytest.mark.parametrize("power", [0, 1, 8, 16, 24, 32])
def test_lost_and_too_large_are_counted_exactly(kind: FloatFormat, power: int) -> None:
    """The same numbers, scaled and converted by PyTorch, become zero and leave the range."""
    numbers = numbers_of_every_size()
    histogram = histogram_of(numbers)

    scaled = numbers * 2.0**power
    kept = scaled.to(DTYPES[kind]).double()

    assert 7 == histogram.zeros
    assert int(((kept == 0) & (numbers != 0)).sum()) == histogram.lost(kind, power)
    if kind.has_infinity:
        assert int(kept.isinf().sum()) == histogram.too_large(kind, power)
    assert int((scaled.abs() > 464).sum()) == histogram.too_large(E4M3, power)


def test_every_number_is_in_a_bin() -> None:
    """The smallest and the largest of float32 too."""
    limits = torch.finfo(torch.float32)
    numbers = torch.tensor([limits.max, -limits.max, limits.smallest_normal, 2.0**-149, 1.0, 0.0])

    histogram = histogram_of(numbers)

    assert 5 == histogram.others
    assert 1 == histogram.zeros
    assert {-150, -127, -1, 127} == set(histogram.bins)


def test_infinity_is_refused() -> None:
    """What is infinite has no size that could be counted."""
    with pytest.raises(ValueError, match="only finite numbers"):
        histogram_of(torch.tensor([1.0, math.inf]))


def test_a_limit_inside_a_part_is_not_guessed() -> None:
    """No bin is split where bfloat16 overflows."""
    histogram = histogram_of(torch.tensor([2.0**127 * 1.9]))

    with pytest.raises(ValueError, match="not split where bfloat16 ends"):
        histogram.too_large(BFLOAT16)


def test_a_histogram_is_written_and_read() -> None:
    """As a row of JSON it stays what it is, with its gaps."""
    histogram = histogram_of(torch.tensor([2.0**-60, 2.0**-60, 1.9, 1.0, 0.0]))

    row = json.loads(json.dumps(as_row(histogram)))

    assert histogram == from_row(1, row)


def test_histograms_add_up() -> None:
    """Counting two parts and adding is counting all."""
    numbers = numbers_of_every_size()

    parts = [histogram_of(part) for part in numbers.split(5000)]

    assert histogram_of(numbers) == added(parts)


@pytest.fixture(scope="module")
def few_images() -> tuple[torch.Tensor, torch.Tensor]:
    """Some of the digits that ship with the lesson."""
    images, labels = as_tensors(load_mnist(source="subset"))
    return images[:640], labels[:640]


def test_gradients_of_every_place_are_counted(
    few_images: tuple[torch.Tensor, torch.Tensor],
) -> None:
    """Of one step in five: two of ten, each with its batch's outputs and with all weights."""
    found = count_gradients(*few_images, seed=0, epochs=(1, 2), every=5)

    assert [1, 2] == list(found)
    loss, places = found[2]
    assert loss < found[1][0]
    counted = {name: each.zeros + each.others for name, each in places.items()}
    assert {
        "logits": 2 * 64 * 10,
        "layer_2": 2 * 64 * 128,
        "layer_1": 2 * 64 * 256,
        "weights": 2 * 235_146,
    } == counted


def test_counting_does_not_change_the_training(
    few_images: tuple[torch.Tensor, torch.Tensor],
) -> None:
    """The loss of the last epoch is the same, however often one looks."""
    seldom = count_gradients(*few_images, seed=3, epochs=(2,), every=10)
    often = count_gradients(*few_images, seed=3, epochs=(1, 2), every=1)

    assert seldom[2][0] == often[2][0]


def test_the_command_writes_what_it_counted(
    few_images: tuple[torch.Tensor, torch.Tensor],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two seeds, one epoch: a file with where it comes from, and a histogram a line."""
    monkeypatch.setattr(gradient_exponents, "SEEDS", range(2))
    monkeypatch.setattr(
        gradient_exponents,
        "count_gradients",
        lambda images, labels, seed: count_gradients(images, labels, seed, (1,), 5),
    )
    images, labels = few_images
    data = [(image, int(label)) for image, label in zip(images, labels, strict=True)]
    monkeypatch.setattr(gradient_exponents, "load_mnist", lambda *_, **__: data)

    status = gradient_exponents.main([str(tmp_path / "counted.json")])

    assert 0 == status
    text = (tmp_path / "counted.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert 2 * 4 == len(content["runs"])
    assert {"processor", "torch", "python", "date"} <= set(content["provenance"])
    assert all(line.count('"seed"') <= 1 for line in text.splitlines())


@pytest.mark.parametrize(
    ("file", "said"),
    [("no/such/counted.json", "there is no folder"), ("counted.json", "MNIST is not in")],
)
def test_bad_input_is_refused_in_a_sentence(
    file: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without the folder or the digits nothing is trained and nothing written."""
    monkeypatch.setattr("lesson_code.data.full_mnist", lambda *_: None)

    status = gradient_exponents.main([str(tmp_path / file), "--data", str(tmp_path)])

    assert 2 == status
    assert capsys.readouterr().err.startswith(f"error: {said}")
    assert [] == list(tmp_path.iterdir())
