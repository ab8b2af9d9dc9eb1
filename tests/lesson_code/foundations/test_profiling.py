"""The labelled loop, its profile, and three trainings that wait for three things."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, TensorDataset

from lesson_code.foundations import profiling
from lesson_code.foundations.generalising import known_digits
from lesson_code.foundations.profiling import (
    CPU,
    FIRST,
    MENDED,
    PARTS,
    STEPS,
    TRAININGS,
    WARM_UP,
    CompressedDigits,
    main,
    one_by_one,
    profiled,
    rows_of,
    step_seconds,
    train,
    whole_batch,
)
from lesson_code.models import MNISTClassifier
from tests.by_hand import descend
from tests.printed import printed


def steps(count: int) -> Callable[[Callable[[], None]], None]:
    """A run of so many steps; each of them has one label and adds once."""

    def run(after_step: Callable[[], None]) -> None:
        for _ in range(count):
            with record_function("part"):
                torch.ones(2).add_(1)
            after_step()

    return run


def ten() -> tuple[torch.Tensor, torch.Tensor]:
    """Ten images and their labels."""
    images, labels = known_digits()[0]
    return images[:10], labels[:10]


def test_names_change_nothing_in_the_training() -> None:
    """The loop's weights are those of plain updates, for a last batch that is smaller too."""
    loader = DataLoader(TensorDataset(*ten()), batch_size=4)
    ours, expected = torch.nn.Linear(784, 10), torch.nn.Linear(784, 10)
    expected.load_state_dict(ours.state_dict())
    seen = []

    train(
        nn.Sequential(nn.Flatten(), ours),
        torch.optim.SGD(ours.parameters(), lr=0.1),
        loader,
        whole_batch,
        CPU,
        lambda: seen.append(ours.bias.detach().clone()),
    )

    descend(nn.Sequential(nn.Flatten(), expected), loader, rate=0.1)
    assert 3 == len(seen)
    torch.testing.assert_close(ours.weight, expected.weight)
    torch.testing.assert_close(seen[-1], expected.bias)


def test_three_steps_count() -> None:
    """The first step, those that warm up, and all that come after are left out."""
    done = FIRST + WARM_UP + STEPS

    assert [1, 1] == [rows_of(profiled(steps(n), CPU))["part"][0] for n in (done, done + 20)]


@pytest.mark.parametrize(("kind", "asked"), [("cpu", ["CPU"]), ("cuda", ["CPU", "CUDA"])])
def test_on_a_gpu_its_own_clock_is_asked_for_too(
    kind: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere there is none."""
    seen: list[str] = []

    class Watched(profile):
        def __init__(self, activities: list[ProfilerActivity], **plan: Any) -> None:
            seen.extend(activity.name for activity in activities)
            super().__init__(activities=[ProfilerActivity.CPU], **plan)

    monkeypatch.setattr(profiling, "profile", Watched)

    profiled(steps(1), torch.device(kind))

    assert asked == seen


@pytest.mark.parametrize("more", [0, 1, 4])
def test_without_repeat_a_longer_run_loses_what_was_kept(more: int) -> None:
    """After a whole cycle its rows are there; once a new one has begun they are not."""
    plan = schedule(wait=1, warmup=2, active=3)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan) as profiler:
        steps(6 + more)(profiler.step)

    kept = Counter({row.key: row.count for row in profiler.key_averages()})
    assert {0: 3, 1: 0, 4: 1}[more] == kept["part"]


def test_each_part_has_a_row_within_its_step() -> None:
    """Every part is called once a step, and no part is longer than all of it."""
    found = rows_of(profiled(TRAININGS["A"].prepare(CPU), CPU))

    assert [1] * len(PARTS) == [found[part][0] for part in PARTS]
    assert all(0 < found[part][1] for part in PARTS)
    assert sum(found[part][1] for part in PARTS) <= found["ProfilerStep*"][1]


def test_both_losses_are_the_same_with_the_same_gradients() -> None:
    """What is computed one by one differs in its rounding alone."""
    found = []
    for loss_of in (whole_batch, one_by_one):
        torch.manual_seed(0)
        model = MNISTClassifier()
        loss = loss_of(model, *ten())
        loss.backward()
        found.append([loss, *(p.grad for p in model.parameters())])

    torch.testing.assert_close(*found)


def test_an_image_comes_back_from_its_file_as_it_was() -> None:
    """PNG loses nothing, so both data sets train on the same numbers."""
    images, labels = ten()
    files = CompressedDigits(images, labels)
    decoded = [files[index] for index in range(len(files))]

    torch.testing.assert_close(torch.stack([image for image, _ in decoded]), images)
    assert labels.tolist() == [int(label) for _, label in decoded]


def test_a_profile_does_not_look_into_workers() -> None:
    """With a worker the loader's row is there, and the decoding in it is not."""
    loaders = [DataLoader(CompressedDigits(*ten()), num_workers=n) for n in (0, 1)]
    found = []
    for loader in loaders:
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            list(loader)
        found.append({row.key for row in profiler.key_averages()})

    loads = [[key for key in keys if key.startswith("enumerate(DataLoader)")] for keys in found]
    assert [1, 1] == list(map(len, loads))
    assert [True, False] == ["aten::sub" in keys for keys in found]


def times(target: str) -> list[list[float]]:
    """The durations in each line that a function printed."""
    lines = printed(f"foundations/profiling:{target}").text.splitlines()
    return [[float(ms) for ms in re.findall(r"([\d.]+) ms", line)] for line in lines]


def test_most_of_the_time_is_where_the_page_says() -> None:
    """A loads, and the others compute; B's products are short and the lesser part, C's long."""
    a, b, c = times("print_parts")
    *_, step = a

    assert a[0] > 0.5 * step
    assert all(row[1] + row[2] > 0.8 * sum(row[:4]) for row in (b, c))
    assert all(c_ms / few > 10 * b_ms / many for b_ms, c_ms, many, few in products())
    assert sum(b_ms for b_ms, *_ in products()) < 0.5 * b[-1]


def products() -> list[tuple[float, float, int, int]]:
    """For each row its time in B and in C, and its calls in both."""
    found = []
    for line in printed("foundations/profiling:print_products").text.splitlines():
        _, many, b, _, few, c, _ = line.split()
        found.append((float(b), float(c), int(many), int(few)))
    return found


def test_b_has_as_many_products_as_images_times_those_of_c() -> None:
    """Three go forward and five back, for each image or for each batch."""
    assert {"A": 8, "B": 32 * 8, "C": 8} == printed("foundations/profiling:print_parts").data
    assert [(5 * 32, 5), (3 * 32, 3)] == [(many, few) for _, _, many, few in products()]


def test_what_is_mended_is_faster() -> None:
    """By the clock, and not by the profile."""
    assert all(before > 1.5 * after for before, after in times("print_mended"))
    assert {"A", "B"} == set(MENDED)


def test_a_step_is_the_median_without_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is read after each step, and the first reading begins."""
    readings = iter([10.0, 11.0, 14.0, 16.0])
    monkeypatch.setattr(profiling.time, "perf_counter", lambda: next(readings))

    assert 2.0 == step_seconds(steps(4), CPU)


@pytest.mark.parametrize("traced", [False, True])
def test_the_command_prints_rows_and_writes_a_trace(
    traced: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The trace has each part in each step that counts."""
    file = tmp_path / "trace.json"

    assert 0 == main(["A", *(["--trace", str(file)] if traced else [])])

    assert "enumerate(DataLoader)" in capsys.readouterr().out
    assert traced == file.exists()
    if traced:
        events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
        named = Counter(event["name"] for event in events if event.get("cat") == "user_annotation")
        assert [STEPS] * 5 == [named[part] for part in ("move", *PARTS)]
