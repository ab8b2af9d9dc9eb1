"""The blocks that are given out for weights are those that a GPU's allocator counted."""

import pytest
import torch

from lesson_code.mission import gpt2
from lesson_code.mission.architecture import GPT2_SMALL, GPT2_XL, Arch
from lesson_code.mission.blocks import MIB, given_out, segment, try_given_out, weights
from results.store import open_store


@pytest.mark.parametrize(
    ("sizes", "given"),
    [
        ([], 0),
        ([1], 512),
        ([512, 513], 512 + 1024),
        ([MIB, MIB - 512, 512], 2 * MIB),
        ([MIB - 1024, MIB - 512, 512], 2 * MIB - 1024),
        # Two of 9.5 MiB share a segment of 20; what is left is no more than a MiB, and stays.
        ([19 * MIB // 2, 19 * MIB // 2], 19 * MIB // 2 + 21 * MIB // 2),
        # More than a MiB is left, which the third one takes.
        ([9 * MIB, 9 * MIB, 3 * MIB // 2], 9 * MIB + 9 * MIB + 2 * MIB),
        # What is left is just enough for the second one.
        ([9 * MIB, 11 * MIB], 20 * MIB),
        ([10 * MIB + 1], 10 * MIB + 512),
        ([11 * MIB], 12 * MIB),
    ],
)
def test_blocks_are_cut_from_segments(sizes: list[int], given: int) -> None:
    """In steps of 512 bytes; a small rest stays with its tensor, and a large one waits."""
    assert given == given_out(sizes)


def test_segments_grow_with_what_is_asked_for() -> None:
    """Two MiB for small tensors, twenty for most, and above ten MiB the next even number."""
    asked = (512, MIB, MIB + 512, 10 * MIB - 512, 10 * MIB, 21 * MIB)

    assert [2, 2, 20, 20, 10, 22] == [segment(size) // MIB for size in asked]


@pytest.mark.parametrize(
    ("arch", "config"), [(GPT2_SMALL, gpt2.GPT2_SMALL), (GPT2_XL, gpt2.GPT2_XL)]
)
def test_the_weights_are_those_of_the_model(arch: Arch, config: gpt2.GPT2Config) -> None:
    """One after the other, as they are made."""
    model = gpt2.build(config, "fp32", torch.device("meta"))

    assert [parameter.numel() for parameter in model.parameters()] == list(weights(arch))


def test_a_gpu_counted_the_same() -> None:
    """To the byte, in every result file of a GPU, in float32 and in bfloat16."""
    compared = 0
    for result in open_store().results:
        for name, entry in result.cases.get("transformer_memory", {}).items():
            if name.endswith(".cuda_model"):
                arch = GPT2_XL if name.startswith("xl.") else GPT2_SMALL
                each = 2 if ".pure16." in name else 4
                assert entry.median == given_out(each * count for count in weights(arch)), name
                compared += 1

    assert compared >= 20


def test_it_says_how_much_more(capsys: pytest.CaptureFixture[str]) -> None:
    """The XL's matrices fill their segments badly, the small one's fill them well."""
    try_given_out()

    small, large = capsys.readouterr().out.splitlines()
    assert small.endswith("fill 498,558,976, 0.2% more")
    assert large.endswith("fill 6,371,597,824, 2.3% more")
