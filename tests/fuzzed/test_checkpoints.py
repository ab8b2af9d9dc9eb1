"""Whatever a checkpoint holds, the portable script goes on from it or says why not."""

import copy
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lesson_code.gpu_training import portable_training
from lesson_code.gpu_training.portable_settings import BEST_FILE, LAST_FILE, InputError
from tests.fuzzed.by_chance import by_chance

# PyTorch warns of it once a process, when the test itself copies such a tensor.
pytestmark = pytest.mark.filterwarnings("ignore:Validating sparse tensor:UserWarning")

CPU = torch.device("cpu")
PRECISIONS = {"float32": None, "float16 with a scaler": torch.float16}
VALUES: tuple[Any, ...] = (
    *(-1, 0, 1, 7, 10**5000, True, None, 0.5, -0.0, 1e30, float("nan"), float("-inf"), 1 + 1j),
    *("", "x", "two\nlines", [], {}, (), [[]], [(0.5, 50.0)], {"x": 1}),
    *(torch.tensor(-1.0), torch.ones(3), torch.full((10, 4), -1.0), torch.zeros(10, 4).bool()),
    *(torch.tensor([float("nan")]), torch.empty(0), torch.ones(10, 4, dtype=torch.complex64)),
    *(torch.ones(10, 4).to_sparse(), torch.ones(10, 4, device="meta")),
)


class SmallModel(nn.Sequential):
    """So few weights that most of a damaged file is something else."""

    def __init__(self) -> None:
        super().__init__(nn.AvgPool2d(14), nn.Flatten(), nn.Linear(4, 10))


def few_loaders(batch_size: int, *_: object) -> tuple[DataLoader[Any], ...]:
    """Eight images, to train with, to validate with, and to test with."""
    images = TensorDataset(torch.ones(8, 1, 28, 28), torch.arange(8))
    order = torch.Generator()
    training = DataLoader(images, batch_size, shuffle=True, generator=order)
    return training, DataLoader(images), DataLoader(images)


@pytest.fixture(params=PRECISIONS)
def saved(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    one_thread: None,
) -> bytes:
    """The checkpoint of a run of two epochs, which any run goes on from meanwhile."""
    precision = CPU, PRECISIONS[request.param]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(portable_training, "MNISTClassifier", SmallModel)
    monkeypatch.setattr(portable_training, "make_loaders", few_loaders)
    monkeypatch.setattr(portable_training, "choose_precision", lambda _settings: precision)
    assert 0 == portable_training.main(["--epochs", "2"])
    return Path("saved_models", LAST_FILE).read_bytes()


def places(value: object, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside dictionaries and lists, as the keys that lead there."""
    inside = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list | tuple):
        inside = enumerate(value)
    return [way, *(place for key, part in inside for place in places(part, (*way, key)))]


def changed(value: Any, way: tuple[Any, ...], change: Callable[[Any, Any], object]) -> Any:
    """The same with one place changed by ``change``, which is given what holds it and its key."""
    if isinstance(value, tuple):
        return tuple(changed(list(value), way, change))
    if len(way) == 1:
        change(value, way[0])
    else:
        value[way[0]] = changed(value[way[0]], way[1:], change)
    return value


@st.composite
def another_content(draw: st.DrawFn, saved: bytes) -> bytes:
    """A checkpoint with one to three values that are others, missing, or in another's place."""
    content = torch.load(io.BytesIO(saved), weights_only=True)
    for _ in range(draw(st.integers(1, 3))):
        ways = places(content)[1:]
        if not ways:
            break
        way, value = draw(st.sampled_from(ways)), copy.deepcopy(draw(st.sampled_from(VALUES)))
        match draw(st.sampled_from(("value", "value", "number", "element", "drop", "add", "swap"))):
            case "number":
                value = draw(st.integers() | st.floats())
            case "element" | "swap":
                other = content
                for key in draw(st.sampled_from(ways)):
                    other = other[key]
                value = copy.deepcopy(other)
            case "drop":
                content = changed(content, way, lambda holder, key: holder.pop(key))
                continue
            case "add":
                way = (*way[:-1], draw(st.sampled_from(("x", 0, 5, "lr", "best"))))

        def put(holder: Any, key: Any, value: Any = value) -> None:
            if isinstance(holder, dict):
                holder[key] = value
            else:
                holder[: len(holder)] = [*holder, value] if key == len(holder) else holder
                if isinstance(key, int) and key < len(holder):
                    holder[key] = value

        content = changed(content, way, put)
    packed = io.BytesIO()
    torch.save(content, packed)
    return packed.getvalue()


@st.composite
def other_bytes(draw: st.DrawFn, saved: bytes) -> bytes:
    """A file with bits turned, bytes cut out or doubled, or its end missing."""
    content = bytearray(saved)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content) - 1)) if content else 0
        end = min(len(content), at + draw(st.integers(1, 64)))
        match draw(st.sampled_from(("bit", "byte", "zeros", "drop", "double", "cut"))):
            case "bit" if content:
                content[at] ^= 1 << draw(st.integers(0, 7))
            case "byte" if content:
                content[at] = draw(st.integers(0, 255))
            case "zeros":
                content[at:end] = bytes(end - at)
            case "drop":
                del content[at:end]
            case "double":
                content[at:at] = content[at:end]
            case _:
                del content[at:]
    return bytes(content)


@st.composite
def another_record(draw: st.DrawFn, saved: bytes) -> bytes:
    """A sound archive, of which one record has other bytes, and their checksum."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(packed, "w") as new:
        names = old.namelist()
        pickled = [name for name in names if name.endswith("data.pkl")]
        damaged = draw(st.sampled_from([*pickled * len(names), *names]))
        for name in names:
            content = old.read(name)
            new.writestr(name, draw(other_bytes(content)) if name == damaged else content)
    return packed.getvalue()


DAMAGES = {"content": another_content, "bytes": other_bytes, "a record": another_record}


def numbers_of(run: portable_training.Run) -> list[Any]:
    """Everything in a run that a checkpoint can change."""
    states = (run.model.state_dict(), run.optimizer.state_dict(), run.scaler.state_dict())
    return copy.deepcopy([*states, run.history, run.best])


def refusal_of(path: Path) -> str:
    """Why a fresh run does not go on from a file; empty if it does. A refusal changes nothing."""
    device, amp_dtype = portable_training.choose_precision(None)  # type: ignore[arg-type]
    run = portable_training.start_run(device, amp_dtype, {"seed": 42})
    before = numbers_of(run)
    try:
        portable_training.resume(run, path)
    except InputError as problem:
        assert str(before) == str(numbers_of(run))
        return str(problem)
    return ""


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_gone_on_with_or_refused(
    damage: str, saved: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is refused stays as it is; what is taken in can be trained to the end, and again."""
    folder = Path("saved_models")
    command = ["--resume", "--epochs", "3"]

    @by_chance(DAMAGES[damage](saved))
    def read(content: bytes) -> None:
        (folder / LAST_FILE).write_bytes(content)
        (folder / BEST_FILE).write_bytes(b"of an earlier epoch")
        says = refusal_of(folder / LAST_FILE)
        capsys.readouterr()

        status = portable_training.main(command)

        said = capsys.readouterr().err
        if says or status:
            assert 2 == status
            assert re.fullmatch("error: .{20,500}\n", said)
            assert content == (folder / LAST_FILE).read_bytes()
            assert b"of an earlier epoch" == (folder / BEST_FILE).read_bytes()
        else:
            assert "" == said
            assert 0 == portable_training.main(command)

    read()


def test_a_sound_checkpoint_is_gone_on_with(saved: bytes) -> None:
    """What is damaged here could be read before."""
    assert "" == refusal_of(Path("saved_models", LAST_FILE))
