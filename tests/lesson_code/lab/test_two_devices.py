"""Two devices without a GPU."""

import re
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence

from lesson_code.devices import choose_device, cpu_name, device_name, synchronize
from lesson_code.lab.two_devices import (
    META,
    MIXED,
    mix_and_mend,
    raises,
    train_what_is_gone,
    where_things_are,
)

LET_PASS = {"Conv2d", "matmul", "Embedding"}


def test_a_mix_is_refused_and_a_move_mends_it() -> None:
    """The same two operands: an error first, the sum on the other device afterwards."""
    assert ("RuntimeError", META) == mix_and_mend()


def test_what_moves_and_what_stays() -> None:
    """Parameters and buffers move with a model; a forgotten result and an attribute do not."""
    expected = {"tensor": "cpu", "weight": "meta", "mean": "meta", "scale": "cpu"}

    assert expected == where_things_are()


def test_an_optimizer_that_was_made_too_early() -> None:
    """It goes on updating parameters that no model uses any more."""
    assert ("meta", "cpu") == train_what_is_gone()


@pytest.mark.parametrize("name", MIXED)
def test_meta_refuses_most_mixes(name: str) -> None:
    """Three operations let a mix pass, so no check may lean on them."""
    assert (name not in LET_PASS) == raises(MIXED[name])


def test_a_training_step_runs_on_meta_but_has_no_numbers() -> None:
    """Forward, loss, backward and update work; reading a value does not."""
    model = nn.Linear(4, 2, device=META)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(torch.ones(3, 4, device=META)).sum()
    loss.backward()
    optimizer.step()

    with pytest.raises(RuntimeError, match="item"):
        loss.item()
    with pytest.raises(NotImplementedError):
        loss.detach().cpu()


def test_cuda_and_cuda_0_compare_as_different() -> None:
    """One names a type of device, the other one device."""
    assert torch.device("cuda") != torch.device("cuda:0")
    assert "cuda" == str(torch.device("cuda"))


@pytest.mark.skipif(
    torch.version.cuda is None, reason="this PyTorch was built without CUDA: it can't pretend"
)
def test_what_may_be_mixed() -> None:
    """A CPU number without dimensions, a CPU index and `copy_` may meet a GPU tensor."""
    with FakeTensorMode():
        there = torch.empty(3, device="cuda")
        number, here = torch.tensor(2.0), torch.empty(3)

        assert "cuda" == (there * number).device.type
        assert "cuda" == there[torch.tensor([0, 2])].device.type
        assert "cuda" == there.copy_(here).device.type
        with pytest.raises(RuntimeError, match=r"Unhandled FakeTensor Device|found at least two"):
            there + here


@pytest.mark.skipif(
    torch.version.cuda is None, reason="this PyTorch was built without CUDA: it can't pretend"
)
@pytest.mark.parametrize(
    "look_up",
    [
        lambda there, here: torch.index_select(there, 0, here),
        lambda there, here: torch.gather(there[:, 0], 0, here),
        lambda there, here: F.embedding(here, there),
    ],
    ids=["index_select", "gather", "embedding"],
)
def test_a_cpu_index_is_an_exception_in_brackets_alone(look_up: Any) -> None:
    """Operations that look up take their index from the device of the tensor."""
    with FakeTensorMode():
        there, here = torch.empty(3, 2, device="cuda"), torch.tensor([0, 2])

        assert "cuda" == there[here].device.type
        with pytest.raises(RuntimeError, match=r"Unhandled FakeTensor Device|found at least two"):
            look_up(there, here)


def test_some_arguments_have_to_stay_on_the_cpu() -> None:
    """Lengths of sequences, and the state of a generator."""
    texts, lengths = torch.ones(2, 3, 4), torch.tensor([3, 2])

    with pytest.raises(RuntimeError, match="should be a 1D CPU int64 tensor"):
        pack_padded_sequence(texts.to(META), lengths.to(META), batch_first=True)
    with pytest.raises(TypeError, match=r"must be a torch\.ByteTensor"):
        torch.Generator().set_state(torch.get_rng_state().to(META))


@pytest.mark.skipif(
    torch.version.cuda is None, reason="this PyTorch was built without CUDA: it can't pretend"
)
def test_fake_tensors_refuse_a_mix_in_words_of_their_own() -> None:
    """A GPU words it by operation: "but got mat1 is on cpu" for a linear layer, not for a sum."""
    said = []
    with FakeTensorMode():
        here, there = torch.ones(2, 3), torch.ones(4, 3, device="cuda")
        with pytest.raises(RuntimeError) as refused:
            F.linear(here, there)
        said.append(str(refused.value))
        with pytest.raises(RuntimeError) as refused:
            here[0] + there[0]
        said.append(str(refused.value))

    assert all("mat1" not in text for text in said)
    begins = r"Unhandled FakeTensor Device|Expected all tensors to be on the same device"
    assert all(re.match(begins, text) for text in said)  # as PyTorch 2.11 and 2.15 begin


def test_is_available_counts_gpus_and_asks_for_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that knows of one GPU is enough, whatever this build could run on it."""
    monkeypatch.delenv("PYTORCH_NVML_BASED_CUDA_CHECK", raising=False)
    monkeypatch.setattr(torch.cuda, "_is_compiled", lambda: True)
    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", lambda: 1, raising=False)
    monkeypatch.setattr(torch._C, "_cuda_getArchFlags", lambda: None, raising=False)

    assert torch.cuda.is_available()


def test_no_helper_needs_a_gpu() -> None:
    """On a machine without one, every shared helper has an answer."""
    if torch.cuda.is_available():
        expected = "cuda"
    else:
        expected = "cpu"
        assert torch.accelerator.current_accelerator(check_available=True) is None
    device = choose_device()
    synchronize(device)

    assert expected == device.type
    assert device_name(torch.device("cpu")) == cpu_name()
