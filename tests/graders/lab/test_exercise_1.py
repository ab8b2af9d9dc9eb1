"""Exercise 1 beyond its checks: what its page claims."""

import torch
from torch import nn


def test_a_plain_attribute_does_not_move() -> None:
    """The page's first thing to try: it is in no list of names, and stays on the CPU."""
    model = nn.Linear(2, 2)
    model.scale = torch.ones(2)
    model.to("meta")

    assert torch.device("cpu") == model.scale.device
    assert "scale" not in model.state_dict()


def test_an_optimizer_made_too_early_keeps_the_old_parameters() -> None:
    """The page's second thing to try."""
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to("meta")

    assert torch.device("cpu") == optimizer.param_groups[0]["params"][0].device
    assert torch.device("cuda") != torch.device("cuda:0")
