"""What two faults that raise nothing do on all of MNIST: no gradient reset, and softmax first.

The foundations' 784-128-10 network on 60,000 images for three epochs, with three optimizers. Loss
is that of the last epoch, accuracy that on the 10,000 test images; a sample is one seed.
"""

from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.cases import MissingDataError, Part, Plan
from lesson_code.data import as_tensors, load_mnist
from lesson_code.foundations.losses import DIGIT_BATCH, DIGIT_EPOCHS, SoftmaxFirst, train_digits
from lesson_code.foundations.modules import DigitClassifier
from results.cases import Family, names_of
from results.entry import Entry, entry

OPTIMIZERS: dict[str, tuple[type[torch.optim.Optimizer], float]] = {
    "adam": (torch.optim.Adam, 1e-3),
    "sgd": (torch.optim.SGD, 0.1),
    "slow_sgd": (torch.optim.SGD, 0.01),
}
ARMS = {  # the model, and whether gradients are reset
    "healthy": (DigitClassifier, True),
    "never_reset": (DigitClassifier, False),
    "softmax_first": (SoftmaxFirst, True),
}
WORDS = {
    "adam": "Adam",
    "sgd": "SGD with rate 0.1",
    "slow_sgd": "SGD with rate 0.01",
    "healthy": "healthy",
    "never_reset": "gradients never reset",
    "softmax_first": "softmax before the loss",
}
FAMILIES = tuple(
    Family(
        f"{{optimizer}}.{{arm}}.{what}",
        f"60,000 digits, 3 epochs, {{optimizer}}, {{arm}}: {words}, median over seeds",
        {"optimizer": tuple(OPTIMIZERS), "arm": tuple(ARMS)},
        unit=unit,
        words=WORDS,
    )
    for what, words, unit in (
        ("loss", "loss of the last epoch", "plain"),
        ("accuracy", "accuracy on 10,000 others", "percent"),
    )
)
ENTRIES = names_of(FAMILIES)


def parts(plan: Plan) -> Iterator[Part]:
    """Both faults and the healthy run, one optimizer at a time."""
    for name in OPTIMIZERS:
        yield Part(name, partial(_train, plan, name), expected_s=40, cpu_only=True)


def _train(plan: Plan, name: str) -> dict[str, Entry]:
    source = "subset" if plan.quick else "full"
    try:
        training, test = (
            as_tensors(load_mnist(plan.data, part, source))  # type: ignore[arg-type]
            for part in (True, False)
        )
    except FileNotFoundError as problem:
        raise MissingDataError(str(problem)) from problem
    optimizer_type, rate = OPTIMIZERS[name]
    seeds = range(1 if plan.quick else 3)
    settings = {
        "training_images": len(training[0]),
        "test_images": len(test[0]),
        "batch_size": DIGIT_BATCH,
        "epochs": DIGIT_EPOCHS,
        "optimizer": f"{optimizer_type.__name__}, lr {rate}",
        "seeds": list(seeds),
    }
    entries: dict[str, Entry] = {}
    for arm, (model_type, reset) in ARMS.items():
        runs = []
        for seed in seeds:
            torch.manual_seed(seed)
            model = model_type()
            optimizer = optimizer_type(model.parameters(), lr=rate)  # type: ignore[call-arg]
            runs.append(train_digits(model, optimizer, training, test, reset))
        losses, accuracies = zip(*runs, strict=True)
        found = {
            "loss": entry(list(losses), "plain", device="cpu", settings=settings),
            "accuracy": entry(
                [100 * accuracy for accuracy in accuracies],
                "percent",
                device="cpu",
                settings=settings,
            ),
        }
        entries |= {f"{name}.{arm}.{what}": measured for what, measured in found.items()}
    return entries
