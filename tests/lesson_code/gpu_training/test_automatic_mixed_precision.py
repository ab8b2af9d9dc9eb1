"""Under autocast the products are float16; weights, their gradients and the loss are float32."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

from lesson_code.foundations.autograd import made_up_batches, made_up_model
from lesson_code.gpu_training import automatic_mixed_precision as automatic


def test_mixed_splits_the_step_as_the_lesson_says(device: torch.device) -> None:
    """Float16: outputs of layers and gradients between them. Float32: everything that stays."""
    formats = automatic.formats_in_one_step(device, use_amp=True)

    assert formats == {
        "output of a linear layer": torch.float16,
        "loss": torch.float32,
        "gradient between two layers": torch.float16,
        "gradient of the weights": torch.float32,
        "Adam's averages": torch.float32,
        "weights": torch.float32,
    }


def test_without_autocast_everything_is_float32(device: torch.device) -> None:
    """The plain step has one format."""
    formats = automatic.formats_in_one_step(device, use_amp=False)

    assert set(formats.values()) == {torch.float32}
    assert len(formats) == 6


def test_the_table_has_both_steps(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each thing that takes part, with both formats, in 72 columns."""
    data = automatic.print_who_computes_in_what()

    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 72
    assert list(data["plain"]) == list(data["mixed"])
    for line, (what, mixed) in zip(lines[1:], data["mixed"].items(), strict=True):
        assert line.startswith(what)
        assert line.split()[-2:] == ["float32", mixed]


def test_default_formats_differ_between_devices(capsys: pytest.CaptureFixture[str]) -> None:
    """float16 on CUDA, bfloat16 on a CPU, and float16 there too when it is named."""
    defaults = automatic.print_default_dtypes()

    assert defaults == {"cuda": "float16", "cpu": "bfloat16"}
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == [
        "float16",
        "bfloat16",
        "float16",
    ]


def test_autocast_without_a_format_uses_the_default() -> None:
    """On a CPU a linear layer's output is bfloat16 unless the format is named."""
    with torch.amp.autocast("cpu"):
        output = nn.Linear(2, 2)(torch.rand(1, 2))

    assert output.dtype == torch.bfloat16


def test_a_loss_outside_autocast_is_float16(device: torch.device) -> None:
    """Float16 scores make a float16 loss there: the loss belongs under the `with`."""
    layer = nn.Linear(4, 3).to(device)
    labels = torch.tensor([0, 1], device=device)
    with torch.amp.autocast(device.type, dtype=torch.float16):
        scores = layer(torch.rand(2, 4, device=device))
        inside = nn.functional.cross_entropy(scores, labels)

    outside = nn.functional.cross_entropy(scores, labels)

    assert (inside.dtype, outside.dtype) == (torch.float32, torch.float16)


@pytest.mark.parametrize(
    ("optimizer", "rate", "unscaled", "least", "most"),
    [
        (torch.optim.SGD, 0.5, True, 0.0, 0.6),
        (torch.optim.SGD, 0.5, False, 0.99, 1.0),
        (torch.optim.Adam, 0.01, True, 0.0, 0.6),
        (torch.optim.Adam, 0.01, False, 0.0, 0.6),
    ],
)
def test_adam_hides_that_scaled_gradients_were_clipped(
    optimizer: type[torch.optim.Optimizer], rate: float, unscaled: bool, least: float, most: float
) -> None:
    """With SGD the loss stays where it was; with Adam it falls as with ``unscale_``."""
    model, [(features, labels)] = made_up_model(), made_up_batches([64])
    optimize = optimizer(model.parameters(), lr=rate)  # type: ignore[call-arg]
    scaler = torch.amp.GradScaler("cpu")
    losses = []
    for _ in range(60):
        optimize.zero_grad()
        loss = cross_entropy(model(features), labels)
        losses.append(loss.item())
        if unscaled:
            automatic.clipped_step(loss, model, optimize, scaler)
            continue
        scaler.scale(loss).backward()
        clip_grad_norm_(model.parameters(), max_norm=1.0)
        scaler.step(optimize)
        scaler.update()

    assert least <= losses[-1] / losses[0] <= most


def test_a_clipped_step_is_that_of_a_loop_without_a_scaler() -> None:
    """The limit is asked of the true gradients, and they are divided by the scale once."""
    [(features, labels)] = made_up_batches([64])
    plain, scaled = made_up_model(), made_up_model()
    scaled.load_state_dict(plain.state_dict())
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    (100 * cross_entropy(plain(features), labels)).backward()
    length = clip_grad_norm_(plain.parameters(), max_norm=1.0)
    optimizer.step()

    automatic.clipped_step(
        100 * cross_entropy(scaled(features), labels),
        scaled,
        torch.optim.SGD(scaled.parameters(), lr=0.1),
        torch.amp.GradScaler("cpu", init_scale=1024.0),
    )

    assert 1.0 < length
    for expected, found in zip(plain.parameters(), scaled.parameters(), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(("weights", "least", "most"), [(1e5, 0.6, 1.0), (1e8, 0.05, 0.15)])
def test_adam_slows_down_in_a_large_model_whose_scaled_gradients_were_clipped(
    weights: float, least: float, most: float
) -> None:
    """Of a length of 1, spread over all weights and divided by the scale, epsilon is left."""
    weight = nn.Parameter(torch.zeros(1000))
    optimizer = torch.optim.Adam([weight], lr=1e-3)
    generator = torch.Generator().manual_seed(0)
    weight.grad = torch.randn(1000, generator=generator) / weights**0.5 / 2**16

    optimizer.step()

    assert least < weight.detach().abs().mean().item() / 1e-3 < most


@pytest.mark.parametrize(("fused", "asked"), [(False, 1), (True, 0)])
def test_a_scaler_asks_the_device_once_a_step_unless_the_optimizer_is_fused(
    monkeypatch: pytest.MonkeyPatch, fused: bool, asked: int
) -> None:
    """Whether all gradients are finite is a number that Python waits for."""
    layer, scaler = nn.Linear(4, 2), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, fused=fused)
    scaler.scale(layer(torch.rand(3, 4)).sum()).backward()
    item, asks = torch.Tensor.item, list[int]()
    monkeypatch.setattr(torch.Tensor, "item", lambda self: asks.append(1) or item(self))

    scaler.step(optimizer)
    scaler.update()

    assert asked == len(asks)


def test_outputs_reach_numpy_without_their_graph_and_in_a_format_that_it_has() -> None:
    """Neither an output with a graph nor a bfloat16 one becomes an array."""
    with torch.amp.autocast("cpu"):
        output = nn.Linear(2, 2)(torch.rand(1, 2))

    with pytest.raises(RuntimeError, match="requires grad"):
        output.cpu().numpy()
    with pytest.raises(TypeError, match="BFloat16"):
        output.detach().cpu().numpy()
    assert (1, 2) == output.detach().cpu().float().numpy().shape
