"""The GPT-2 that the mission measures is the one that its formulas describe."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from functools import partial
from typing import Any, get_args

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from lesson_code.mission.choices import Recompute
from lesson_code.mission.gpt2 import (
    GPT2,
    GPT2_SMALL,
    GPT2_XL,
    Block,
    GPT2Config,
    Regime,
    build,
    next_token_loss,
    precision,
    step_flops,
)

TINY = GPT2Config(layers=2, width=32, heads=4, vocabulary=100, context=16, dropout=0.1)
SBH = 1_024 * 1_600  # values of one text between two blocks of GPT-2 XL
CAST_WEIGHTS = 12 * 1_600**2 * 2  # bytes of a block's weights that autocast casts


@pytest.fixture(autouse=True)
def _one_thread(one_thread: None) -> None:
    """Small products are faster on one thread."""


def text(config: GPT2Config, batch: int = 2) -> torch.Tensor:
    """Random tokens, (B, S)."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(config.vocabulary, (batch, config.context), generator=generator)


@contextmanager
def gpu_autocast(enabled: bool) -> Iterator[None]:
    """CUDA's autocast where no GPU is: its usual switch turns itself off there."""
    usual = torch.get_autocast_dtype("cuda")
    torch.set_autocast_enabled("cuda", enabled)
    torch.set_autocast_dtype("cuda", torch.bfloat16)
    try:
        yield
    finally:
        torch.set_autocast_enabled("cuda", False)
        torch.set_autocast_dtype("cuda", usual)
        torch.clear_autocast_cache()


@contextmanager
def made_in(regime: Regime) -> Iterator[None]:
    """Modules made here have the regime's number format."""
    torch.set_default_dtype(torch.bfloat16 if regime == "pure16" else torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def kept_bytes(module: nn.Module, run: Callable[[], torch.Tensor]) -> int:
    """Bytes of everything but parameters that the forward pass keeps for backward."""
    parameters = {p.untyped_storage()._cdata for p in module.parameters()}
    kept = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in parameters:
            kept[storage._cdata] = storage  # held, so that no other gets its number
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = run()
    assert result.grad_fn is not None
    return sum(storage.nbytes() for storage in kept.values())


def kept_by_model(regime: Regime, layers: int) -> int:
    """The same for a model as wide as GPT-2 XL, its loss included, on a GPU that is not there."""
    with FakeTensorMode():
        config = replace(GPT2_XL, layers=layers)
        model = build(config, regime, torch.device("cuda"))
        tokens = torch.zeros(1, config.context, dtype=torch.int64, device="cuda")
        with gpu_autocast(regime == "autocast"):
            return kept_bytes(model, lambda: next_token_loss(model, tokens, tokens))


@pytest.mark.parametrize(
    ("config", "parameters"), [(GPT2_SMALL, 124_439_808), (GPT2_XL, 1_557_611_200)]
)
def test_the_published_models_have_their_exact_parameter_count(
    config: GPT2Config, parameters: int
) -> None:
    """The head is the embedding itself, so it counts once."""
    model = build(config, "fp32", torch.device("meta"))

    assert parameters == sum(p.numel() for p in model.parameters())
    assert parameters == config.parameters


@pytest.mark.parametrize(
    ("regime", "expected"),
    [
        ("pure16", 187_842_560),
        ("fp32", 345_128_960),
        ("autocast", 246_824_960 + CAST_WEIGHTS),
    ],
)
def test_a_block_keeps_what_the_formula_says_to_the_byte(regime: Regime, expected: int) -> None:
    """114, 210 and 150 bytes for each of S x B x W, the mask, and the norms' statistics."""
    with FakeTensorMode(), made_in(regime), torch.device("cuda"):
        block = Block(GPT2_XL, "none")
        x = torch.randn(1, 1_024, 1_600, requires_grad=True)
        with gpu_autocast(regime == "autocast"):
            kept = kept_bytes(block, lambda: block(x))

    assert expected == kept


@pytest.mark.parametrize(
    ("regime", "per_value", "per_score", "cast_head"),
    [("pure16", 5, 2, 0), ("fp32", 9, 4, 0), ("autocast", 7, 6, 50_257 * 1_600 * 2)],
)
def test_what_lies_outside_the_blocks_is_what_the_formula_says(
    regime: Regime, per_value: int, per_score: int, cast_head: int
) -> None:
    """A model of two blocks less twice what the second adds leaves embedding, head and loss."""
    expected = per_value * SBH + per_score * 1_024 * 50_257 + cast_head

    one, two = (kept_by_model(regime, layers) for layers in (1, 2))

    assert expected == pytest.approx(2 * one - two, rel=5e-4)


@pytest.mark.uncounted
@pytest.mark.parametrize(
    ("config", "recompute", "per_token"),
    [(GPT2_XL, "none", 10_273_545_600), (GPT2_SMALL, "none", 854_438_400)],
)
def test_flops_are_those_of_the_formula(
    config: GPT2Config, recompute: Recompute, per_token: int
) -> None:
    """72 L W^2 (1 + S/6W + V/12WL) for each token, counted product by product."""
    layers, width = config.layers, config.width
    formula = 72 * layers * width**2 + 12 * layers * config.context * width
    formula += 6 * config.vocabulary * width

    assert per_token == formula
    assert per_token * config.context == step_flops(config, 1, recompute)


def test_recomputing_every_block_costs_one_more_forward_pass_of_the_blocks() -> None:
    """Forward, forward again and backward are 4 parts in place of 3; the head is not repeated."""
    whole = step_flops(TINY, batch=2)
    head = 6 * 2 * TINY.context * TINY.vocabulary * TINY.width

    assert 2 * (whole - head) // 3 == 2 * (step_flops(TINY, 2, "full") - whole)
    assert whole == step_flops(TINY, batch=2, recompute="selective")


@pytest.mark.parametrize("recompute", ["selective", "full"])
def test_recomputing_changes_neither_loss_nor_gradients(
    recompute: Recompute, device: torch.device
) -> None:
    """Without dropout all three ways are the same function."""
    config = replace(TINY, dropout=0.0)
    tokens = text(config).to(device)
    plain = build(config, "fp32", device)
    other = build(config, "fp32", device, recompute)
    other.load_state_dict(plain.state_dict())

    losses = [next_token_loss(model, tokens, tokens) for model in (plain, other)]
    for loss in losses:
        loss.backward()

    assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-5)
    for expected, found in zip(plain.parameters(), other.parameters(), strict=True):
        assert expected.grad is not None
        assert found.grad is not None
        assert torch.allclose(expected.grad, found.grad, rtol=1e-3, atol=1e-5)


def test_full_recomputation_draws_the_same_dropout_again(device: torch.device) -> None:
    """With dropout, too, the gradients are those of the step that kept everything."""
    tokens = text(TINY).to(device)
    plain = build(TINY, "fp32", device)
    other = build(TINY, "fp32", device, "full")
    other.load_state_dict(plain.state_dict())
    gradients = []
    for model in (plain, other):
        torch.manual_seed(7)
        next_token_loss(model, tokens, tokens).backward()
        gradients.append(model.tokens.weight.grad)

    expected, found = gradients

    assert expected is not None
    assert found is not None
    assert torch.allclose(expected, found, rtol=1e-3, atol=1e-5)


def test_gradients_of_some_weights_alone_can_be_asked_for() -> None:
    """With a checkpoint around each block, too."""
    model = build(TINY, "fp32", torch.device("cpu"), "full").eval()
    loss = next_token_loss(model, text(TINY), text(TINY))

    [alone] = torch.autograd.grad(loss, [model.positions.weight], retain_graph=True)
    loss.backward()

    assert model.positions.weight.grad is not None
    assert torch.allclose(model.positions.weight.grad, alone)


@pytest.mark.parametrize(("recompute", "times"), [("none", 3), ("selective", 2)])
def test_attention_probabilities_are_kept_unless_selective_recomputation_leaves_them(
    recompute: Recompute, times: int
) -> None:
    """Of a text twice as long a block keeps twice as much without them, more with them."""
    block = Block(replace(TINY, dropout=0.0), recompute)
    short, long = (
        kept_bytes(block, partial(block, torch.zeros(1, length, TINY.width)))
        for length in (256, 512)
    )

    assert round(long / short) == times


def test_the_loss_is_that_of_the_tokens_that_come_next() -> None:
    """The average of what the model's probabilities say of each."""
    scores = nn.Embedding(5, 5)
    tokens, targets = torch.tensor([[0, 1, 2], [3, 4, 0]]), torch.tensor([[1, 2, 3], [4, 0, 2]])

    found = next_token_loss(scores, tokens, targets)

    expected = -scores.weight.log_softmax(-1)[tokens.flatten(), targets.flatten()].mean()
    assert found.item() == pytest.approx(expected.item())


@pytest.mark.filterwarnings("ignore:CUDA is not available")
def test_autocast_is_in_bfloat16_on_a_gpu_too() -> None:
    """Of itself PyTorch would take float16 there."""
    found = precision("autocast", torch.device("cuda"))

    assert isinstance(found, torch.autocast)
    assert found.fast_dtype == torch.bfloat16


def test_the_usual_number_format_is_as_it_was_once_a_model_is_built_or_refused() -> None:
    """Only the model's own weights are in 16 bits."""
    build(TINY, "pure16", torch.device("cpu"))
    assert torch.get_default_dtype() == torch.float32

    with pytest.raises(ValueError, match="heads"):
        build(replace(TINY, heads=5), "pure16", torch.device("cpu"))
    assert torch.get_default_dtype() == torch.float32


def test_a_model_of_some_sizes_has_them() -> None:
    """As the formulas take them, there and back."""
    assert GPT2Config.of(TINY.arch) == TINY
    assert (2, 32, 4, 100, 16) == astuple(TINY.arch)


def test_sizes_that_are_left_out_are_those_of_gpt2() -> None:
    """The vocabulary, the context and the share that is dropped; and nothing is recomputed."""
    assert GPT2Config(12, 768, 12) == GPT2_SMALL
    assert pytest.approx(0.1) == GPT2_SMALL.dropout
    assert GPT2(TINY).recompute == "none"


def test_a_token_sees_only_those_before_it() -> None:
    """A changed last token changes the scores at its own place and nowhere else."""
    tokens = text(TINY)
    changed = tokens.clone()
    changed[:, -1] = (tokens[:, -1] + 1) % TINY.vocabulary
    for recompute in ("none", "selective"):
        model = build(TINY, "fp32", torch.device("cpu"), recompute).eval()

        before, after = model(tokens), model(changed)

        assert torch.allclose(before[:, :-1], after[:, :-1], atol=1e-6)
        assert not torch.allclose(before[:, -1], after[:, -1], atol=1e-3)


@pytest.mark.parametrize(
    ("regime", "expected"),
    [("fp32", torch.float32), ("autocast", torch.float32), ("pure16", torch.bfloat16)],
)
def test_gradients_have_the_number_format_of_the_weights(
    regime: Regime, expected: torch.dtype, device: torch.device
) -> None:
    """Autocast computes in bfloat16 and leaves weights and gradients in float32."""
    model = build(TINY, regime, device)
    tokens = text(TINY).to(device)

    with precision(regime, device):
        scores = model(tokens)
        next_token_loss(model, tokens, tokens).backward()

    assert {expected} == {p.grad.dtype for p in model.parameters() if p.grad is not None}
    assert (torch.float32 if regime == "fp32" else torch.bfloat16) == scores.dtype


@pytest.mark.parametrize(
    ("regime", "optimizer", "expected"),
    [
        ("fp32", "sgd", 0),
        ("fp32", "momentum", 4),
        ("fp32", "adam", 8),
        ("pure16", "sgd", 0),
        ("pure16", "momentum", 2),
        ("pure16", "adam", 4),
    ],
)
def test_optimizer_state_has_the_number_format_of_the_weights(
    regime: Regime, optimizer: str, expected: int
) -> None:
    """None, one or two values are kept for each weight, counters of single numbers left out."""
    model = build(TINY, regime, torch.device("cpu"))
    weights = list(model.parameters())
    makers = {
        "sgd": lambda: torch.optim.SGD(weights, lr=1e-3),
        "momentum": lambda: torch.optim.SGD(weights, lr=1e-3, momentum=0.9),
        "adam": lambda: torch.optim.AdamW(weights, lr=1e-3),
    }
    made = makers[optimizer]()

    next_token_loss(model, text(TINY), text(TINY)).backward()
    made.step()

    kept = [
        value
        for state in made.state.values()
        for value in state.values()
        if isinstance(value, torch.Tensor) and value.numel() > 1
    ]
    assert expected * sum(p.numel() for p in weights) == sum(v.nbytes for v in kept)


@pytest.mark.parametrize("recompute", get_args(Recompute))
def test_the_scores_are_those_that_pytorchs_own_layers_compute(recompute: Recompute) -> None:
    """With any weights, and without dropout once training is over."""
    torch.manual_seed(0)
    model = build(TINY, "fp32", torch.device("cpu"), recompute).eval().double()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    tokens = text(TINY)[:, :-1]
    causal = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1]).double()

    x = model.tokens.weight[tokens] + model.positions.weight[: tokens.shape[1]]
    for block in model.blocks:
        x = same_layer(block)(x, src_mask=causal)
    x = nn.functional.layer_norm(x, (TINY.width,), model.norm.weight, model.norm.bias)

    assert torch.allclose(x @ model.tokens.weight.T, model(tokens))


def same_layer(block: nn.Module) -> nn.Module:
    """PyTorch's layer of a transformer with a block's weights."""
    layer = nn.TransformerEncoderLayer(
        *(TINY.width, TINY.heads, 4 * TINY.width),
        activation=partial(nn.functional.gelu, approximate="tanh"),
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    ours = dict(block.named_parameters())
    layer.load_state_dict(
        {
            theirs: ours[f"{name}.{kind}"]
            for kind in ("weight", "bias")
            for theirs, name in (
                (f"self_attn.in_proj_{kind}", "attention.1.query_key_value"),
                (f"self_attn.out_proj.{kind}", "attention.1.output"),
                (f"norm1.{kind}", "attention.0"),
                (f"norm2.{kind}", "feed_forward.0"),
                (f"linear1.{kind}", "feed_forward.1"),
                (f"linear2.{kind}", "feed_forward.3"),
            )
        }
    )
    return layer.eval()


def test_pytorchs_own_layers_call_fused_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """In training as well, an encoder's once and a decoder's twice; ours of ``none`` never."""
    calls = []
    plain = nn.functional.scaled_dot_product_attention

    def counted(*args: torch.Tensor, **options: Any) -> torch.Tensor:
        calls.append(args)
        return plain(*args, **options)

    monkeypatch.setattr(nn.functional, "scaled_dot_product_attention", counted)
    x = torch.randn(1, 3, 8)
    nn.TransformerEncoderLayer(8, 2, 8)(x)
    nn.TransformerDecoderLayer(8, 2, 8)(x, x)
    tokens = torch.zeros(1, 3, dtype=torch.int64)

    assert 3 == len(calls)
    for recompute, more in (("none", 0), ("selective", TINY.layers)):
        calls.clear()
        build(TINY, "fp32", torch.device("cpu"), recompute)(tokens)
        assert more == len(calls)


def test_weights_start_small_and_biases_at_zero() -> None:
    """Norms let everything through; of all other weights the standard deviation is 0.02."""
    torch.manual_seed(0)
    model = build(replace(TINY, vocabulary=10_000), "fp32", torch.device("cpu"))

    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
        elif parameter.dim() == 1:
            assert (parameter == 1).all()
        else:
            four_standard_errors = 4 / (2 * parameter.numel()) ** 0.5
            assert parameter.std().item() == pytest.approx(0.02, rel=four_standard_errors)


@pytest.mark.parametrize("recompute", get_args(Recompute))
def test_training_drops_the_share_that_is_configured(recompute: Recompute) -> None:
    """All of it: nothing is left of the embedding, of attention or of either branch."""
    model = build(replace(TINY, dropout=1.0), "fp32", torch.device("cpu"), recompute)
    block = model.blocks[0]
    assert isinstance(block, Block)
    x = torch.randn(2, TINY.context, TINY.width)

    assert torch.equal(x, block(x))
    assert not block.attention[1](x).any()
    assert not model(text(TINY)).any()
    assert not torch.equal(x, block.eval()(x))


def test_a_few_steps_learn_a_repeated_text(device: torch.device) -> None:
    """It is a language model: on one text, again and again, the loss falls."""
    torch.manual_seed(0)
    model = build(replace(TINY, dropout=0.0), "fp32", device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    texts = text(TINY, batch=4).to(device)
    losses = []
    for _ in range(30):
        loss = next_token_loss(model, texts[:, :-1], texts[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    assert losses[0] > 4.0
    assert losses[-1] < 1.0


def test_what_can_not_be_built_is_refused() -> None:
    """Sizes that don't fit and unknown names end in a sentence."""
    with pytest.raises(ValueError, match="no multiple of 5 heads"):
        GPT2(replace(TINY, heads=5))
    with pytest.raises(ValueError, match=r"^recompute must be one of none, selective, full"):
        GPT2(TINY, "some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^regime must be one of fp32, autocast, pure16"):
        build(TINY, "fp16", torch.device("cpu"))  # type: ignore[arg-type]
