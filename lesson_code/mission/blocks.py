"""What PyTorch's allocator gives out on a GPU for weights: blocks, not bytes.

The rules are those of its CUDA caching allocator, ``c10/cuda/CUDACachingAllocator.cpp``, with the
settings that it has by itself; a test holds them against what a GPU's allocator counted.
"""

from collections.abc import Iterable, Iterator

from lesson_code.mission.architecture import GPT2_SMALL, GPT2_XL, Arch

# --8<-- [start:given_out]
MIB = 2**20


def given_out(sizes: Iterable[int]) -> int:
    """Bytes given out for tensors of these sizes, none of them freed."""
    rests: dict[bool, list[int]] = {True: [], False: []}  # small, and others
    given = 0
    for size in sizes:
        size = round_up(size, 512)
        small = size <= MIB
        fitting = [rest for rest in rests[small] if rest >= size]
        block = min(fitting, default=0)
        if block:
            rests[small].remove(block)
        else:
            block = segment(size)
        rest = block - size
        if rest >= 512 if small else rest > MIB:
            rests[small].append(rest)
        else:
            size = block  # the rest is too small, and stays with it
        given += size
    return given


def segment(size: int) -> int:
    """Bytes that the driver is asked for, where no rest is large enough."""
    if size <= MIB:
        return 2 * MIB
    return 20 * MIB if size < 10 * MIB else round_up(size, 2 * MIB)


def round_up(size: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-size // step) * step


# --8<-- [end:given_out]


def weights(arch: Arch) -> Iterator[int]:
    """Elements of each weight and bias of a GPT-2 whose head is its embedding, in their order."""
    width = arch.d_model
    yield from (arch.vocab * width, arch.context * width)
    for _ in range(arch.n_layer):
        yield from (width, width)
        yield from (3 * width * width, 3 * width, width * width, width)
        yield from (width, width)
        yield from (4 * width * width, 4 * width, 4 * width * width, width)
    yield from (width, width)


def try_given_out() -> None:
    """How much more than its bytes a GPT-2 fills."""
    # --8<-- [start:try_given_out]
    for name, arch in (("small", GPT2_SMALL), ("XL", GPT2_XL)):
        sizes = [4 * count for count in weights(arch)]  # float32
        held, given = sum(sizes), given_out(sizes)
        more = given / held - 1
        print(f"GPT-2 {name}: {held:,} bytes fill {given:,}, {more:.1%} more")
    # --8<-- [end:try_given_out]
