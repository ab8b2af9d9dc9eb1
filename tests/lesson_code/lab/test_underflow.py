"""A deep net loses its first gradients in float16, a scale brings them back."""

import pytest
import torch

from lesson_code.lab import underflow
from lesson_code.lab.underflow import UnderflowNet


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, dict[str, float]]]:
    """What the page shows."""
    return underflow.print_underflow()


def test_the_net_has_the_layers_that_the_page_names() -> None:
    """Twelve linear layers, 128 wide, from 784 numbers to 10."""
    net = UnderflowNet()

    linear = [layer for layer in net.modules() if isinstance(layer, torch.nn.Linear)]

    assert [784, *[128] * 11] == [layer.in_features for layer in linear]
    assert [*[128] * 11, 10] == [layer.out_features for layer in linear]
    assert (3, 10) == net(torch.zeros(3, 784)).shape


@pytest.mark.parametrize(
    ("arm", "share"),
    [("unscaled", 0.999), ("scaled_a_little", 0.017), ("scaled", 0.0), ("bfloat16", 0.0)],
)
def test_the_deep_net_loses_what_the_register_says(
    found: dict[str, dict[str, dict[str, float]]], arm: str, share: float
) -> None:
    """Nearly everything without a scale, and less the larger the scale."""
    assert share == pytest.approx(found["deep"][arm]["lost"], abs=0.02)


def test_the_error_of_the_whole_net_hides_that_of_its_first_layer(
    found: dict[str, dict[str, dict[str, float]]],
) -> None:
    """Layer 1's gradient is wrong by its own length, the whole net's by less than a percent."""
    unscaled = found["deep"]["unscaled"]

    assert 1.0 == pytest.approx(unscaled["first_error"], abs=0.1)
    assert unscaled["error"] < 0.01


def test_bfloat16_is_the_coarsest_over_the_whole_net(
    found: dict[str, dict[str, dict[str, float]]],
) -> None:
    """It loses nothing, and is off by about 1.9 percent."""
    errors = {name: arm["error"] for name, arm in found["deep"].items()}

    assert "bfloat16" == max(errors, key=lambda name: errors[name])
    assert 0.019 == pytest.approx(errors["bfloat16"], abs=0.004)


def test_the_shallow_net_at_a_small_batch_loses_almost_nothing(
    found: dict[str, dict[str, dict[str, float]]],
) -> None:
    """Underflow is not automatic."""
    assert 0.001 == pytest.approx(found["shallow"]["unscaled"]["lost"], abs=0.001)


def test_a_larger_batch_makes_the_shallow_net_lose_more() -> None:
    """The loss is a mean, so each sample's gradient shrinks with the batch."""
    shares = [
        underflow.losses_of(depth=6, width=256, batch=batch)["unscaled"]["lost"]
        for batch in (32, 512)
    ]

    assert 0.012 == pytest.approx(shares[1], abs=0.02)
    assert shares[0] < shares[1]


def test_only_what_was_not_zero_before_can_be_lost() -> None:
    """One of the two entries that had a value."""
    exact, seen = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 0.0, 2.0])

    assert 0.5 == underflow.lost_share(exact, seen)
