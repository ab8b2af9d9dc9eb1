"""What the other tests rely on, on a real GPU and on the simulated one alike."""

import copy
import io
from contextlib import nullcontext

import pytest
import torch
from torch import nn

from results.result_file import SIMULATED_GPU

pytestmark = pytest.mark.gpu
GPU = torch.device("cuda", 0)


def test_tensors_of_two_devices_do_not_meet() -> None:
    """In no product, sum or loss; a single number may come from anywhere."""
    here, there = torch.ones(2, 2), torch.ones(2, 2, device="cuda")

    for operation in (torch.mm, torch.add, nn.functional.mse_loss):
        with pytest.raises(RuntimeError, match="same device"):
            operation(here, there)
    assert 8.0 == (there + torch.tensor(1.0)).sum().item()
    assert [1.0, 1.0] == there[torch.tensor([0])][0].tolist()
    with pytest.raises(RuntimeError, match="indices should be either on cpu"):
        here[torch.tensor([0], device="cuda")]


def test_values_travel_and_so_do_gradients() -> None:
    """There and back again they are the same, and NumPy wants them back first."""
    x = torch.arange(3.0, requires_grad=True)

    y = (x.to("cuda") ** 2).cpu().sum()
    y.backward()

    assert 5.0 == y.item()
    assert torch.tensor([0.0, 2.0, 4.0]).equal(x.grad)
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        x.detach().cuda().numpy()


def test_a_module_moves_and_a_copy_of_it_is_apart() -> None:
    """Its parameters say where they are, and training the copy leaves it as it was."""
    model = nn.Linear(2, 1).to(GPU)
    before = model.weight.detach().clone()
    other = copy.deepcopy(model)

    other(torch.ones(1, 2, device=GPU)).sum().backward()
    torch.optim.AdamW(other.parameters(), lr=0.1).step()

    assert {GPU} == {p.device for p in (*model.parameters(), *other.parameters())}
    assert model.weight.equal(before)
    assert not other.weight.equal(before)


def test_memory_is_counted_and_capped() -> None:
    """What lives counts in blocks of 512 bytes; beyond the cap there is no more of it."""
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()

    held = torch.ones(1000, device=GPU)
    torch.ones(2000, device=GPU)

    assert 4096 == torch.cuda.memory_allocated() - before
    assert 4096 + 8192 == torch.cuda.max_memory_allocated() - before
    del held
    assert before == torch.cuda.memory_allocated()


def test_a_cap_ends_in_an_error() -> None:
    """The functions want a device with its number, and a tensor above the cap is refused."""
    with pytest.raises(ValueError, match="specified index"):
        torch.cuda.set_per_process_memory_fraction(0.5, torch.device("cuda"))
    torch.cuda.empty_cache()
    _, total = torch.cuda.mem_get_info(GPU)
    torch.cuda.set_per_process_memory_fraction(100_000_000 / total, GPU)
    try:
        with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
            torch.empty(200_000_000, dtype=torch.uint8, device=GPU)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, GPU)


def test_saved_tensors_remember_where_they_were() -> None:
    """They are loaded there again, unless told otherwise."""
    file = io.BytesIO()
    torch.save({"there": torch.ones(2, device=GPU), "here": torch.ones(2)}, file)

    found = {}
    for place in (None, "cpu", "cuda"):
        file.seek(0)
        loaded = torch.load(file, map_location=place)
        found[place] = [loaded["there"].device.type, loaded["here"].device.type]

    assert {None: ["cuda", "cpu"], "cpu": ["cpu", "cpu"], "cuda": ["cuda", "cuda"]} == found


def test_a_graph_computes_again_from_what_its_tensors_hold() -> None:
    """Its results stay where they were."""
    x = torch.ones(3, device=GPU)
    warm = torch.cuda.Stream()
    with torch.cuda.stream(warm):
        (2 * x).sum()
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        total = (2 * x).sum()

    x.fill_(5.0)
    recorded.replay()

    assert 30.0 == total.item()


def test_a_graph_keeps_no_tensor_that_it_reads() -> None:
    """A real GPU uses the memory all the same, and raises nothing; the simulated one refuses."""
    is_simulated = torch.cuda.get_device_name(0) == SIMULATED_GPU
    refused = pytest.raises(RuntimeError, match="has been freed") if is_simulated else nullcontext()
    x = torch.ones(3, device=GPU)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        x.mul_(2)

    del x

    with refused:
        recorded.replay()


def test_events_measure_and_generators_have_a_device() -> None:
    """An event without timing has none, and a generator of the CPU draws nothing on the GPU."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    end.record()
    torch.cuda.synchronize()

    assert 0 <= start.elapsed_time(end)
    with pytest.raises(RuntimeError, match="'cuda' device type for generator"):
        torch.randn(2, device=GPU, generator=torch.Generator())


def test_autocast_multiplies_in_float16() -> None:
    """The loss is float32 all the same."""
    x = torch.ones(2, 2, device=GPU)

    with torch.autocast("cuda"):
        product = x @ x
        loss = nn.functional.cross_entropy(product, torch.tensor([0, 1], device=GPU))

    assert (torch.float16, torch.float32) == (product.dtype, loss.dtype)
