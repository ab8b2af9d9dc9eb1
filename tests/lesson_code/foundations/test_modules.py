"""What is registered is trained, moved and saved; what is not fails as its page says, or not."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from lesson_code.foundations import modules
from lesson_code.foundations.modules import (
    Container,
    DigitClassifier,
    ListWithoutInit,
    NoInit,
    PlainList,
    RegisteredStack,
    ThreeLayers,
    digit_sequential,
    failure_of,
    memorise_twelve,
    print_digit_classifier,
    print_inspection,
    print_loud_failures,
    print_registered_stack,
    print_sequential,
    print_silent_failure,
)
from tests.printed import printed

OPTIMIZERS = [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop]


class Parameterless(nn.Module):
    """Assigns a parameter before the module is ready."""

    def __init__(self) -> None:
        self.scale = nn.Parameter(torch.ones(1))


class Bufferless(nn.Module):
    """Registers a buffer before the module is ready."""

    def __init__(self) -> None:
        self.register_buffer("mean", torch.ones(1))


def images(rows: int = 8) -> torch.Tensor:
    """A batch of random images (B, 1, 28, 28), the same at every call."""
    return torch.rand(rows, 1, 28, 28, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def silent() -> dict[str, dict[str, float]]:
    """What the page shows of its silent failure, over ten seeds."""
    data: dict[str, dict[str, float]] = printed("foundations/modules:print_silent_failure").data
    return data


def test_the_classifier_has_four_tensors_and_the_sizes_on_the_page() -> None:
    """Two weights, two biases, 100,352 + 128 + 1,280 + 10 values."""
    sizes = [parameter.numel() for parameter in DigitClassifier().parameters()]

    assert [100_352, 128, 1_280, 10] == sizes
    assert 101_770 == sum(sizes)


@pytest.mark.parametrize(
    "batch",
    [
        images(),
        images().permute(0, 1, 3, 2),
        torch.rand(8, 4, 14, 14).to(memory_format=torch.channels_last),
    ],
    ids=["plain", "permuted", "channels last"],
)
def test_the_classifier_takes_every_memory_layout(batch: torch.Tensor) -> None:
    """Logits come out, also where ``view`` would refuse to flatten."""
    logits = DigitClassifier()(batch)

    assert (8, 10) == logits.shape


def test_the_classifier_gives_raw_logits() -> None:
    """Its outputs are no probabilities: some are negative, and no row sums to one."""
    torch.manual_seed(0)

    logits = DigitClassifier().eval()(images())

    assert logits.min() < 0
    assert not torch.isclose(logits.sum(dim=1), torch.ones(8)).any()


@pytest.mark.parametrize(
    ("broken", "what"), [(NoInit, "module"), (Parameterless, "parameters"), (Bufferless, "buffer")]
)
def test_without_init_an_assignment_fails_in_the_constructor(
    broken: type[nn.Module], what: str
) -> None:
    """A layer, a parameter and a buffer are refused, each by its name."""
    with pytest.raises(AttributeError, match=rf"cannot assign {what} before Module.__init__\(\)"):
        broken()


@pytest.mark.parametrize(
    ("use", "missing"),
    [
        (lambda model: list(model.parameters()), "_parameters"),
        (lambda model: model(images()), "_backward_hooks"),
        (repr, "_modules"),
        (lambda model: model.to("cpu"), "_modules"),
        (lambda model: model.train(), "_modules"),
        (lambda model: model.eval(), "_modules"),
    ],
)
def test_without_init_a_list_fails_at_first_use(
    use: Callable[[nn.Module], object], missing: str
) -> None:
    """The constructor passes; parameters, a call, printing, moving and both modes do not."""
    model = ListWithoutInit()

    with pytest.raises(AttributeError, match=f"has no attribute '{missing}'"):
        use(model)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_all_layers_in_a_list_stop_at_the_optimizer(optimizer: Callable[..., object]) -> None:
    """The forward pass works, and every optimizer finds nothing to train."""
    model = PlainList()

    assert (8, 10) == model(images()).shape
    with pytest.raises(ValueError, match="empty parameter list"):
        optimizer(model.parameters(), lr=0.1)


def test_nothing_reaches_layers_in_a_list() -> None:
    """No parameters, an empty state, dropout still on after eval, layers still float32 and here."""
    model = PlainList()
    model.eval()

    assert [] == list(model.parameters())
    assert {} == model.state_dict()
    assert not torch.equal(model(images()), model(images()))
    model.double()
    assert torch.float32 == model.layers[0].get_parameter("weight").dtype
    model.to("meta")
    assert "cpu" == model.layers[0].get_parameter("weight").device.type


def test_some_layers_in_a_list_fail_silently(silent: dict[str, dict[str, float]]) -> None:
    """Two of six tensors are trained, the hidden ones stay, and the loss stops too early."""
    registered, hidden = silent["registered"], silent["hidden"]

    assert (6, 2) == (registered["tensors"], hidden["tensors"])
    assert 0.0 == hidden["change"]
    assert registered["change"] > 0.1
    assert registered["largest_loss"] < 0.3
    assert hidden["smallest_loss"] > registered["largest_loss"]


def test_some_layers_in_a_list_stop_a_forward_pass_on_another_device() -> None:
    """`.to` moves the head and leaves the list; moved by hand it is silent again."""
    model, features = ThreeLayers(list).to("meta"), torch.ones(5, 4, device="meta")

    assert {"meta"} == {parameter.device.type for parameter in model.parameters()}
    with pytest.raises(RuntimeError, match="device"):
        model(features)
    for layer in model.hidden:
        layer.to("meta")
    assert (5, 3) == model(features).shape


@pytest.mark.gpu
def test_on_a_gpu_some_layers_in_a_list_stop_the_first_forward_pass() -> None:
    """The page says so of every GPU that `.to` moves a model to."""
    model = ThreeLayers(list).to("cuda")

    with pytest.raises(RuntimeError, match="device"):
        model(torch.ones(5, 4, device="cuda"))


def test_a_file_of_a_model_with_a_list_misses_the_hidden_layers() -> None:
    """It loads without a complaint, and the fresh model keeps hidden layers of its own."""
    torch.manual_seed(0)
    model, fresh = ThreeLayers(list), ThreeLayers(list)

    fresh.load_state_dict(model.state_dict())

    features = torch.randn(5, 4)
    assert (model(features) - fresh(features)).abs().max() > 0.1


def test_hidden_gradients_are_never_reset(silent: dict[str, dict[str, float]]) -> None:
    """They add up over all steps; a registered layer's gradient is that of the last step."""
    hidden = silent["hidden"]

    assert hidden["hidden_gradient"] > 10 * hidden["head_gradient"]
    assert hidden["hidden_gradient"] > 10 * silent["registered"]["hidden_gradient"]


def test_one_seed_fails_as_silently(
    silent: dict[str, dict[str, float]], monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """It is one of the ten, and shows what they show."""
    monkeypatch.setattr(modules, "SEEDS", range(1))

    once = print_silent_failure()

    assert silent.keys() == once.keys()
    for name, ten in silent.items():
        assert ten.keys() == once[name].keys()
        assert ten["smallest_loss"] - 1e-3 <= once[name]["largest_loss"]
        assert once[name]["smallest_loss"] <= ten["largest_loss"] + 1e-3
    assert 0.0 == once["hidden"]["change"]
    assert once["hidden"]["hidden_gradient"] > 10 * once["hidden"]["head_gradient"]


@pytest.mark.parametrize(("container", "same"), [(list, True), (nn.ModuleList, False)])
def test_both_containers_start_with_the_same_weights(container: Container, same: bool) -> None:
    """The two arms differ in the container only: one seed gives the same network."""
    torch.manual_seed(0)
    weights = [layer.get_parameter("weight") for layer in ThreeLayers(container).hidden]
    torch.manual_seed(0)
    others = [layer.get_parameter("weight") for layer in ThreeLayers(list).hidden]

    assert all(torch.equal(*pair) for pair in zip(weights, others, strict=True))
    assert same is (0.0 == memorise_twelve(container, 0)["change"])


def test_the_stack_registers_its_layers_and_its_list_cannot_be_called() -> None:
    """Six tensors with 3,168 values; the ModuleList has no forward."""
    model = RegisteredStack()

    assert 6 == len(list(model.parameters()))
    assert 3_168 == sum(parameter.numel() for parameter in model.parameters())
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        model.layers(torch.rand(5, 32))


def test_the_nameless_network_is_the_same_but_for_its_names() -> None:
    """With the class's weights under the other names it gives the class's outputs."""
    model, nameless = DigitClassifier().eval(), digit_sequential().eval()
    names = ["1.weight", "1.bias", "4.weight", "4.bias"]
    assert names == list(nameless.state_dict())

    nameless.load_state_dict(dict(zip(names, model.state_dict().values(), strict=True)))

    torch.testing.assert_close(model(images()), nameless(images()))
    with pytest.raises(RuntimeError, match="Missing key"):
        model.load_state_dict(nameless.state_dict())


def test_the_inspection_lists_four_tensors_and_of_the_partly_registered_model_two(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Name, shape and state in a line, the total below."""
    print_inspection()

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert [
        "DigitClassifier()",
        "fc1.weight (128, 784) trainable",
        "fc1.bias (128,) trainable",
        "fc2.weight (10, 128) trainable",
        "fc2.bias (10,) trainable",
        "total 101770",
        "",
        "ThreeLayers(list)",
        "head.weight (3, 8) trainable",
        "head.bias (3,) trainable",
        "total 27",
    ] == lines


@pytest.mark.parametrize(
    ("show", "fragments"),
    [
        (print_digit_classifier, ["(fc1): Linear(in_features=784", "parameter tensors: 4"]),
        (print_loud_failures, ["empty parameter list", "equal: False", "torch.float32"]),
        (print_registered_stack, ["3,168", "NotImplementedError"]),
        (print_sequential, ["4.bias", "101770", "Missing key(s)", "Unexpected key(s)"]),
    ],
)
def test_the_page_prints_what_it_needs(
    show: Callable[[], None], fragments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every output has its findings, in at most 88 columns."""
    show()

    printed = capsys.readouterr().out
    assert [] == [fragment for fragment in fragments if fragment not in " ".join(printed.split())]
    assert max(len(line) for line in printed.splitlines()) <= 88


def test_a_failure_that_does_not_come_is_said() -> None:
    """An action that works gives no invented error."""
    assert "no error" == failure_of(DigitClassifier)


def test_batch_norm_goes_by_its_batch_in_training_alone() -> None:
    """It computes what the page says, its averages are buffers, and eval() takes those."""
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(3)
    image, *others = torch.randn(5, 1, 3, 4, 4).unbind()
    first, second = torch.cat([image, *others[:2]]), torch.cat([image, *others[2:]])
    mean = first.mean(dim=(0, 2, 3), keepdim=True)
    variance = first.var(dim=(0, 2, 3), keepdim=True, correction=0)

    trained = norm(first)
    assert torch.allclose((first - mean) / (variance + norm.eps).sqrt(), trained, atol=1e-6)
    assert not torch.allclose(trained[0], norm(second)[0], atol=0.01)

    assert {"weight", "bias"} == set(dict(norm.named_parameters()))
    assert {"running_mean", "running_var"} < set(dict(norm.named_buffers()))
    norm.eval()
    assert torch.equal(norm(first)[0], norm(second)[0])
