"""The memory model gives what PyTorch keeps: to the byte where it can be counted without a GPU.

Fake tensors are on a GPU that is not there: they have shapes and types and no contents.
"""

import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from lesson_code.lab.peak_memory import peak_memory
from lesson_code.lab.training_memory import fill_state
from lesson_code.mission import gpt2, worked
from lesson_code.mission.activations import (
    activation_bytes,
    io_activation_bytes,
    layer_activation_bytes,
)
from lesson_code.mission.architecture import (
    GPT2_SMALL,
    GPT2_XL,
    Arch,
    castable_param_count,
    gpt_param_count,
    model_flops_per_token,
)
from lesson_code.mission.choices import Optimizer, Recompute
from lesson_code.mission.memory import (
    kept_copy_bytes,
    logits_gradient_bytes,
    static_bytes,
    weight_copy_bytes,
)
from lesson_code.mission.recomputation import recompute_flop_factor
from lesson_code.saved_tensors import SavedBytes
from tests.lesson_code.mission.test_gpt2 import gpu_autocast

TINY = gpt2.GPT2Config(layers=2, width=32, heads=4, vocabulary=100, context=16)
REGIMES: tuple[gpt2.Regime, ...] = ("fp32", "autocast", "pure16")
S, A = GPT2_XL.context, GPT2_XL.n_head
NORM_STATISTICS = 8 * S  # bytes of a norm for a text: a float32 mean and deviation of each token
PLACES = 8 * S  # bytes of the int64 positions, which all texts share
SCALARS = 100  # bytes at most, of dropout and of the loss
LOG_SUMS = 4 * A * S  # bytes that fused attention keeps in place of the scores


@pytest.fixture(autouse=True)
def _one_thread(one_thread: None) -> None:
    """Small products are faster on one thread."""


def fused_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dropout_p: float,
    is_causal: bool,
) -> torch.Tensor:
    """The kernels that PyTorch takes on a GPU; without one it would fall back to the scores."""
    aten = torch.ops.aten
    if query.dtype == torch.float32:
        efficient = aten._scaled_dot_product_efficient_attention
        return efficient(query, key, value, None, True, dropout_p, is_causal)[0]
    return aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal)[0]


def kept_bytes(regime: gpt2.Regime, recompute: Recompute, layers: int, batch: int) -> int:
    """What the forward pass of a model as wide as GPT-2 XL keeps, its loss included."""
    with FakeTensorMode():
        config = replace(gpt2.GPT2_XL, layers=layers)
        model = gpt2.build(config, regime, torch.device("cuda"), recompute)
        tokens = torch.zeros(batch, S, dtype=torch.int64, device="cuda")
        meter = SavedBytes(model, tokens)
        with gpu_autocast(regime == "autocast"), meter:
            loss = gpt2.next_token_loss(model, tokens, tokens)
        total = meter.total()
        del loss  # until here it kept them alive
    return total


@pytest.fixture(scope="module")
def kept(request: pytest.FixtureRequest) -> dict[tuple[int, int], int]:
    """Those bytes of one and two layers, with one and two texts."""
    regime, recompute = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nn.functional, "scaled_dot_product_attention", fused_attention)
        return {
            (layers, batch): kept_bytes(regime, recompute, layers, batch)
            for layers in (1, 2)
            for batch in (1, 2)
        }


def every_regime(*recomputations: Recompute) -> pytest.MarkDecorator:
    """Measure each regime with each of these ways to recompute."""
    cases = [(regime, recompute) for regime in REGIMES for recompute in recomputations]
    return pytest.mark.parametrize(
        ("kept", "regime", "recompute"),
        [(case, *case) for case in cases],
        indirect=["kept"],
        ids=["-".join(case) for case in cases],
        scope="module",
    )


@every_regime("none", "selective", "full")
def test_activations_are_what_autograd_keeps(
    kept: dict[tuple[int, int], int], regime: gpt2.Regime, recompute: Recompute
) -> None:
    """A text adds what the formula says to a layer and to the rest, and the norms' statistics."""
    a_text = {layers: kept[layers, 2] - kept[layers, 1] for layers in (1, 2)}
    in_a_layer = a_text[2] - a_text[1]
    outside = a_text[1] - in_a_layer
    two_layers, one_layer = (replace(GPT2_XL, n_layer=layers) for layers in (2, 1))

    predicted = activation_bytes(regime, recompute, 1, two_layers) - activation_bytes(
        regime, recompute, 1, one_layer
    )
    not_predicted = {
        "none": 2 * NORM_STATISTICS,
        "selective": 2 * NORM_STATISTICS + LOG_SUMS,
        "full": 0,
    }
    assert predicted + not_predicted[recompute] == in_a_layer
    assert io_activation_bytes(regime, 1, GPT2_XL) + NORM_STATISTICS == outside


@every_regime("none", "selective")
def test_copies_of_the_weights_are_there_once_whatever_the_batch(
    kept: dict[tuple[int, int], int], regime: gpt2.Regime, recompute: Recompute
) -> None:
    """Autocast's linear layers keep their 16-bit weights; the small biases are not needed."""
    causal_masks = 2 * S**2 if recompute == "none" else 0
    fixed = kept[2, 1] - (kept[2, 2] - kept[2, 1]) - PLACES - causal_masks
    predicted = weight_copy_bytes(regime, replace(GPT2_XL, n_layer=2))

    assert fixed == pytest.approx(predicted, rel=5e-4, abs=SCALARS)
    assert fixed <= predicted + SCALARS


@every_regime("full")
def test_full_recomputation_keeps_the_heads_copy_only(
    kept: dict[tuple[int, int], int], regime: gpt2.Regime, recompute: Recompute
) -> None:
    """After forward the layers' weights are in 16 bits no more; backward casts them again."""
    fixed = kept[2, 1] - (kept[2, 2] - kept[2, 1]) - PLACES
    head_alone = 2 * GPT2_XL.vocab * GPT2_XL.d_model if regime == "autocast" else 0

    assert head_alone == kept_copy_bytes(regime, recompute, GPT2_XL)
    assert fixed == pytest.approx(head_alone, abs=SCALARS)


class Alive(TorchDispatchMode):
    """Counts the storages that operations make, gradients' and temporary ones too, until they go.

    Attributes:
        now: Bytes that are alive.
        most: The most that this has been.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self.known: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        """Do it, and look for storages that nobody has seen."""
        result = func(*args, **(kwargs or {}))
        for tensor in tree_iter(result):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                if storage._cdata not in self.known:
                    self.known.add(storage._cdata)
                    self.now += storage.nbytes()
                    weakref.finalize(storage, self._gone, storage._cdata, storage.nbytes())
        self.most = max(self.most, self.now)
        return result

    def _gone(self, storage: int, size: int) -> None:
        self.known.discard(storage)
        self.now -= size


def autocast_loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy as a GPU's autocast computes it: log-softmax in 16 bit, the rest in float32."""
    with torch.autocast("cpu", enabled=False):
        return nn.functional.nll_loss(logits.log_softmax(-1).float(), targets)


def saved_types(loss: torch.Tensor) -> list[tuple[str, list[torch.dtype]]]:
    """What each step from the loss back to the logits is, and which wide tensors it has kept."""
    found = []
    node: Any = loss.grad_fn
    while "Mm" not in node.name():
        saved = (getattr(node, name) for name in dir(node) if name.startswith("_saved"))
        wide = [each for each in saved if isinstance(each, torch.Tensor) and each.dim() == 2]
        found.append((node.name(), [each.dtype for each in wide]))
        node = node.next_functions[0][0]
    return found


def test_the_loss_under_autocast_keeps_what_it_keeps_on_a_gpu() -> None:
    """The CPU's own autocast takes another way, so that one of a GPU is imitated here."""

    def kept(device: str, loss: Callable[..., torch.Tensor]) -> list[tuple[str, list[torch.dtype]]]:
        width, targets = torch.zeros(8, 4, device=device), torch.zeros(8, device=device).long()
        head = torch.zeros(10, 4, device=device, requires_grad=True)
        with gpu_autocast(device == "cuda"), torch.autocast("cpu", torch.bfloat16):
            return saved_types(loss(nn.functional.linear(width, head), targets))

    with FakeTensorMode():
        assert kept("cuda", nn.functional.cross_entropy) == kept("cpu", autocast_loss)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("recompute", ["none", "full"])
def test_two_gradients_as_wide_as_the_logits_meet_early_in_backward(
    regime: gpt2.Regime, recompute: Recompute, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In float32 and pure 16 bit; whole backward passes, of tensors without contents, on the CPU.

    The fullest moment is that much above what forward left, as the model of the peak has it.
    """
    if regime == "autocast":
        monkeypatch.setattr(nn.functional, "cross_entropy", autocast_loss)
    config = replace(gpt2.GPT2_SMALL, layers=2)
    with FakeTensorMode(), Alive() as alive:
        model = gpt2.build(config, regime, torch.device("cpu"), recompute)
        tokens = torch.zeros(2, config.context, dtype=torch.int64)
        with gpt2.precision(regime, torch.device("cpu")):
            loss = gpt2.next_token_loss(model, tokens, tokens)
        after_forward, alive.most = alive.now, 0
        loss.backward()

    predicted = logits_gradient_bytes(regime, 2, config.arch)
    assert predicted == pytest.approx(alive.most - after_forward, rel=1e-3)


def test_logits_that_a_name_holds_are_there_at_the_fullest_moment() -> None:
    """One tensor more in float32 than where the name is deleted before backward."""
    config = replace(gpt2.GPT2_SMALL, layers=2)

    def fullest(held: bool) -> int:
        with FakeTensorMode(), Alive() as alive:
            model = gpt2.build(config, "fp32", torch.device("cpu"))
            tokens = torch.zeros(2, config.context, dtype=torch.int64)
            logits = model(tokens)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())
            if not held:
                del logits
            alive.most = 0
            loss.backward()
        return alive.most

    size = 4 * 2 * config.context * config.vocabulary
    assert size == pytest.approx(fullest(held=True) - fullest(held=False), rel=1e-3)


def test_on_the_cpu_dropout_keeps_wider_masks() -> None:
    """Real tensors, 54 bytes for each value by the formula and 6.4 more, all explained."""
    length, batch, width, heads = 256, 2, 320, 5
    arch = Arch(1, width, heads, 100, length)
    scores = heads * length**2 * batch
    torch.set_default_dtype(torch.bfloat16)
    try:
        block = gpt2.Block(gpt2.GPT2Config(1, width, heads, context=length), "none")
        x = torch.randn(batch, length, width, requires_grad=True)
        meter = SavedBytes(block)
        with meter:
            out = block(x)
    finally:
        torch.set_default_dtype(torch.float32)
    found = meter.total()
    del out  # until here it kept them alive

    wider_masks = scores + 2 * length * batch * width
    causal_mask = length**2
    statistics = 8 * length * batch  # two norms, in bfloat16
    expected = layer_activation_bytes("pure16", batch, arch) + wider_masks + causal_mask
    assert expected + statistics == found
    assert found / (length * batch * width) == pytest.approx(60.42, abs=0.01)


@pytest.mark.parametrize(
    ("arch", "config"), [(GPT2_XL, gpt2.GPT2_XL), (GPT2_SMALL, gpt2.GPT2_SMALL)]
)
def test_parameters_are_those_of_the_model(arch: Arch, config: gpt2.GPT2Config) -> None:
    """All of them, and those that autocast casts: of linear layers, and the tied head."""
    model = gpt2.build(config, "fp32", torch.device("meta"))
    linear = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    cast = sum(p.numel() for layer in linear for p in layer.parameters())

    assert arch == config.arch
    assert gpt_param_count(arch) == sum(p.numel() for p in model.parameters())
    assert castable_param_count(arch) == cast + model.tokens.weight.numel()


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
def test_static_bytes_are_what_a_step_leaves(regime: gpt2.Regime, optimizer: Optimizer) -> None:
    """Weights, gradients and state after a step, single numbers left out."""
    model = gpt2.build(TINY, regime, torch.device("cpu"))
    weights = list(model.parameters())
    makers: dict[Optimizer, Callable[[], torch.optim.Optimizer]] = {
        "sgd": lambda: torch.optim.SGD(weights, lr=1e-3),
        "momentum": lambda: torch.optim.SGD(weights, lr=1e-3, momentum=0.9),
        "adam": lambda: torch.optim.AdamW(weights, lr=1e-3),
    }
    updates = makers[optimizer]()
    tokens = torch.zeros(2, TINY.context, dtype=torch.int64)

    with gpt2.precision(regime, torch.device("cpu")):
        loss = gpt2.next_token_loss(model, tokens, tokens)
    loss.backward()
    updates.step()

    left = [*weights, *(p.grad for p in weights)]
    for state in updates.state.values():
        left += [value for value in state.values() if torch.is_tensor(value) and value.numel() > 1]
    expected = static_bytes(regime, optimizer, gpt_param_count(TINY.arch))
    assert expected == sum(tensor.nbytes for tensor in left if tensor is not None)


@pytest.mark.parametrize(("way", "copies"), [("foreach", 1), ("fused", 0)])
def test_adams_temporaries_are_one_copy_of_the_parameters_unless_it_is_fused(
    way: str, copies: int
) -> None:
    """On a GPU ``foreach`` is the default; a quarter of what the XL's parameters are there with."""
    with FakeTensorMode(), torch.device("cuda"):
        model = nn.Sequential(*(nn.Linear(256, 256, bias=False) for _ in range(8)))
        optimizer = torch.optim.Adam(model.parameters(), **{way: True})
        fill_state(optimizer, model)
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        peak = peak_memory(optimizer.step, model, optimizer, torch.zeros(1))
    parameters = peak.parameters

    assert pytest.approx(4 + copies, abs=0.01) == peak.total / parameters
    weights = worked.ledger_part("params", "fp32")
    assert 4 * weights == worked.static_memory("fp32", "adam")


def test_arithmetic_is_what_pytorch_counts() -> None:
    """Of two layers as wide as GPT-2 small's, computed once and twice."""
    config = replace(gpt2.GPT2_SMALL, layers=2)
    plain, recomputed = (gpt2.step_flops(config, 1, mode) for mode in ("none", "full"))

    assert model_flops_per_token(config.arch) * config.context == plain
    assert recompute_flop_factor("full", config.arch) == pytest.approx(recomputed / plain)
