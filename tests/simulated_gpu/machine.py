"""What ``torch.cuda`` asks of the driver, answered without one; its own Python stays in place."""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import torch

from results.result_file import SIMULATED_GPU
from tests.simulated_gpu import tensors
from tests.simulated_gpu.memory import MEMORY, TOTAL_BYTES
from tests.simulated_gpu.tensors import (
    CPU,
    GPU,
    Placement,
    SimulatedTensor,
    each,
    names_gpu,
    tensors_in,
)

PROPERTIES = SimpleNamespace(
    name=SIMULATED_GPU,
    major=8,
    minor=0,
    total_memory=TOTAL_BYTES,
    multi_processor_count=1,
    uuid="00000000-0000-0000-0000-000000000000",
    L2_cache_size=1,
)


class Event:
    """A moment on the computer's clock."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self.timing = enable_timing
        self.at_s = 0.0

    def record(self, stream: Any = None) -> None:
        self.at_s = time.perf_counter()

    def synchronize(self) -> None:
        """All work is done already."""

    def elapsed_time(self, later: Event) -> float:
        if not (self.timing and later.timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        return 1e3 * (later.at_s - self.at_s)


class Stream:
    """A queue whose work is done at once."""

    cuda_stream = 0

    def __init__(self, device: Any = None, **_: Any) -> None:
        self.device = GPU

    def wait_stream(self, other: Stream) -> None:
        """That one is done."""

    def synchronize(self) -> None:
        """So is this one."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to put back."""


class CUDAGraph:
    """Operations that ran within ``graph``, done again on what the tensors hold now.

    It keeps what it made, and of other tensors only the address.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        self.operations: list[tuple[Any, Any, Any, Any]] = []

    @torch.no_grad()
    def replay(self) -> None:
        for func, args, kwargs, before in self.operations:
            again = tensors.dispatch(func, each(_found, args), kwargs)
            for new, old in zip(tensors_in(again), tensors_in(each(_found, before)), strict=True):
                if isinstance(old, SimulatedTensor) and new.data_ptr() != old.data_ptr():
                    old._cpu.copy_(new._cpu)  # type: ignore[attr-defined]


@contextlib.contextmanager
def graph(recorded: CUDAGraph, **_: Any) -> Iterator[None]:
    """Record what runs within it; it runs as well."""
    tensors.recording = []
    try:
        yield
    finally:
        operations, tensors.recording = tensors.recording, None
        recorded.operations = [
            (func, each(_place, args), kwargs, each(_place, result))
            for func, args, kwargs, result in operations
        ]


def _place(leaf: Any) -> Any:
    return weakref.ref(leaf) if isinstance(leaf, SimulatedTensor) and not leaf.in_graph else leaf


def _found(leaf: Any) -> Any:
    """The tensor at a place.

    Raises:
        RuntimeError: If it has been freed, where a GPU would read what is in that memory now.
    """
    if not isinstance(leaf, weakref.ref):
        return leaf
    tensor = leaf()
    if tensor is None:
        raise RuntimeError("a graph reads memory that has been freed; keep its tensors")
    return tensor


class Generator(torch.Generator):
    """One that says on which device it was made; its numbers are the CPU's."""

    def __new__(cls, device: Any = "cpu") -> Generator:
        return super().__new__(cls, CPU)  # type: ignore[call-arg]

    def __init__(self, device: Any = "cpu") -> None:
        self._gpu = names_gpu(device)

    @property
    def device(self) -> torch.device:
        return GPU if self._gpu else CPU


class Device:
    """The context of ``torch.cuda.device``; there is one."""

    def __init__(self, device: Any) -> None:
        self.idx = _index(device)

    def __enter__(self) -> None:
        """Nothing to switch."""

    def __exit__(self, *_: object) -> None:
        """Nor to switch back."""


def _index(device: Any = None) -> int:
    """PyTorch's own check of a device.

    Raises:
        ValueError: If it is none of CUDA's.
        RuntimeError: If it is a second one.
    """
    index = torch.cuda._utils._get_device_index(device, optional=True)
    names_gpu(index)
    return index


def _checked(value: Any) -> Any:
    """A function of a device that gives this."""
    return lambda device=None: (_index(device), value)[1]


def install() -> None:
    """Put the GPU into this process once, unless it is hidden; nothing takes it out again."""
    if torch.Generator is Generator or os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        return
    cuda: Any = torch.cuda
    driver: Any = torch._C
    cuda._initialized = True
    cuda._lazy_init = cuda.memory._lazy_init = cuda.random._lazy_init = lambda: None
    cuda.is_available = lambda: True
    cuda.is_bf16_supported = lambda including_emulation=True: True
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.set_device = _checked(None)
    cuda.synchronize = _checked(None)
    cuda.get_device_properties = _checked(PROPERTIES)
    cuda.get_device_name = _checked(PROPERTIES.name)
    cuda.get_device_capability = _checked((PROPERTIES.major, PROPERTIES.minor))
    cuda.mem_get_info = cuda.memory.mem_get_info = lambda device=None: (
        TOTAL_BYTES - MEMORY.now - 0 * _index(device),
        TOTAL_BYTES,
    )
    cuda.manual_seed = lambda seed: None
    cuda.manual_seed_all = lambda seed: None
    cuda.get_rng_state = lambda device="cuda": torch.get_rng_state()
    cuda.set_rng_state = lambda state, device="cuda": torch.set_rng_state(state)
    cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    cuda.set_rng_state_all = lambda states: torch.set_rng_state(states[0])
    cuda.Event, cuda.Stream, cuda.device = Event, Stream, Device
    cuda.CUDAGraph, cuda.graph = CUDAGraph, graph
    cuda.current_stream = Stream
    cuda.stream = lambda stream: contextlib.nullcontext()
    driver._cuda_memoryStats = MEMORY.stats
    driver._cuda_resetPeakMemoryStats = MEMORY.reset_peak
    driver._cuda_setMemoryFraction = MEMORY.cap
    driver._cuda_getMemoryFraction = lambda device: MEMORY.fraction
    driver._cuda_emptyCache = driver._cuda_clearCublasWorkspaces = lambda *_: None
    driver._accelerator_getDeviceIndex = lambda: 0
    driver._accelerator_setDeviceIndex = lambda device: None
    torch.Generator = Generator  # type: ignore[misc]
    torch.Tensor.pin_memory = tensors.pin_memory  # type: ignore[assignment]
    torch.Tensor.is_pinned = tensors.is_pinned  # type: ignore[assignment]
    torch.optim.Optimizer._accelerator_graph_capture_health_check = lambda self: None
    torch.__future__.set_swap_module_params_on_conversion(True)  # a parameter changes its class
    _let_autocast_take_the_cpus_way()
    _let_files_remember_the_gpu()
    _let_backward_place_tensors()
    Placement().__enter__()


def _let_backward_place_tensors() -> None:
    """A mode is off while it handles a call, and what is recomputed in backward needs it."""
    run = torch.autograd._engine_run_backward

    def backward(*args: Any, **kwargs: Any) -> Any:
        with Placement():
            return run(*args, **kwargs)

    torch.autograd._engine_run_backward = backward


def _let_autocast_take_the_cpus_way() -> None:
    """C++ sees tensors of the CPU, so its list of operations decides; in float16 unless told."""
    autocast = torch.amp.autocast_mode.autocast
    begin = autocast.__init__
    torch.amp.grad_scaler.torch.cuda.amp.common.amp_definitely_not_available = lambda: False

    def begin_on_the_cpu(
        self: Any, device_type: str, dtype: Any = None, *args: Any, **others: Any
    ) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.float16
        begin(self, device_type, dtype, *args, **others)

    autocast.__init__ = begin_on_the_cpu  # type: ignore[method-assign]


def _let_files_remember_the_gpu() -> None:
    """Saved tensors of the GPU say so, and are there again when they are loaded."""
    rebuild = torch._utils._rebuild_tensor

    def onto(storage: Any, location: str) -> Any:
        if not location.startswith("cuda"):
            return None
        torch.serialization._validate_device(location, "cuda")
        MEMORY.take(storage)
        return storage

    def rebuilt(storage: Any, *args: Any) -> torch.Tensor:
        made = rebuild(storage, *args)
        return SimulatedTensor(made) if storage._untyped_storage in MEMORY else made

    torch.serialization.register_package(
        5, lambda storage: "cuda:0" if storage in MEMORY else None, onto
    )
    torch._utils._rebuild_tensor = rebuilt
