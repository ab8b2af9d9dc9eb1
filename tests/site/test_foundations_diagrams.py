"""The diagrams of the foundations: each has the nodes and the arrows that its idea needs."""

import re
from pathlib import Path

import pytest

from lesson_site.diagrams.source import Diagram, parse

FENCE = re.compile(r'^```lesson-diagram title="([^"]+)" text="([^"]+)"\n(.*?)^```$', re.M | re.S)
FOUND = {
    title: (text, parse(body))
    for page in sorted(Path("docs/foundations").glob("*.md"))
    for title, text, body in FENCE.findall(page.read_text(encoding="utf-8"))
}

# Per diagram its arrows, each node by how its text begins; after a bar, the arrow's label
ARROWS = {
    "The training contract": [
        "input > model",
        "model > logits",
        "logits > scalar loss",
        "labels > scalar loss",
        "scalar loss > loss.backward",
        "loss.backward > optimizer.step",
        "optimizer.step > model",
        "model > evaluation",
    ],
    "Six ranks": [f"rank {rank} > rank {rank + 1}" for rank in range(5)],
    "What backward walks": [
        "x > y = x · x",
        "y = x · x > loss",
        "loss > x | backward adds into x.grad",
    ],
    "Data through the classifier": [
        "batch > flatten",
        "flatten > linear 784 → 128",
        "linear 784 → 128 > relu",
        "relu > dropout",
        "dropout > linear 128 → 10",
        "linear 128 → 10 > cross-entropy",
    ],
    "The training loop": [
        "start epoch > model.train",
        "model.train > load batch",
        "load batch > move data and labels",
        "move data and labels > zero_grad",
        "zero_grad > forward",
        "forward > loss",
        "loss > backward",
        "backward > step",
        "step > more batches?",
        "more batches? > load batch | yes",
        "more batches? > model.eval | no",
        "model.eval > validation",
        "validation > metric improved?",
        "metric improved? > save checkpoint | yes",
        "metric improved? > more epochs? | no",
        "save checkpoint > more epochs?",
        "more epochs? > start epoch | yes",
        "more epochs? > end | no",
    ],
    "One batch": [
        "dataloader > model | batch on the chosen device",
        "model > loss function | logits",
        "loss function > autograd | scalar with graph",
        "autograd > model | gradients on parameters",
        "optimizer > model | update",
        "model > dataloader | ready for the next batch",
    ],
    "Should this run on a GPU?": [
        "training workload > enough arithmetic",
        "enough arithmetic > cpu is simpler | no",
        "enough arithmetic > fits accelerator | yes",
        "fits accelerator > reduce batch | no",
        "reduce batch > fits accelerator",
        "fits accelerator > does the data pipeline | yes",
        "does the data pipeline > tune the loader | no",
        "tune the loader > does the data pipeline",
        "does the data pipeline > use the gpu | yes",
    ],
    "What PyTorch saves": [
        "training task > manual implementation",
        "training task > pytorch implementation",
        "manual implementation > higher risk",
        "manual implementation > longer way",
        "pytorch implementation > autograd and optimizers",
        "pytorch implementation > dataloader and checkpoints",
        "pytorch implementation > acceleration once correct",
    ],
}


def node(diagram: Diagram, beginning: str) -> str:
    """The one node whose text is this, or begins with it."""
    texts = {name: " ".join(node.lines).lower() for name, node in diagram.nodes.items()}
    words = {name: text for name, text in texts.items() if f"{text} ".startswith(f"{beginning} ")}
    near = words or {name: text for name, text in texts.items() if text.startswith(beginning)}
    assert near, f"no node begins with {beginning!r}; there are {sorted(texts.values())}"
    return min(near, key=lambda name: len(near[name]))


@pytest.mark.parametrize("title", ARROWS)
def test_a_diagram_has_exactly_the_arrows_of_its_idea(title: str) -> None:
    """Labels reach the loss, the improved metric is a question, remedies lead back to theirs."""
    _, diagram = FOUND[title]
    expected = set()
    for arrow in ARROWS[title]:
        ends, _, label = arrow.partition(" | ")
        source, target = ends.split(" > ")
        expected.add((node(diagram, source), node(diagram, target), label))

    assert expected == {(edge.source, edge.target, edge.label) for edge in diagram.edges}
    assert {end for arrow in expected for end in arrow[:2]} == set(diagram.nodes)


@pytest.mark.parametrize("title", FOUND)
def test_a_diagram_says_in_one_sentence_what_it_shows(title: str) -> None:
    """The text under it stands in for it, so it is a sentence of its own."""
    text, _ = FOUND[title]

    assert text[0].isupper()
    assert text.endswith(".")
    assert len(text.split()) >= 8


@pytest.mark.parametrize("title", ["The training loop", "Should this run on a GPU?"])
def test_what_is_decided_is_drawn_as_a_question(title: str) -> None:
    """A question ends in a question mark, and has a yes and a no."""
    _, diagram = FOUND[title]
    asked = [name for name, node in diagram.nodes.items() if node.question]

    labels = {name: {e.label for e in diagram.edges if e.source == name} for name in asked}

    assert len(asked) == 3
    assert [{"yes", "no"}] * 3 == list(labels.values())
    assert all(diagram.nodes[name].lines[-1].endswith("?") for name in asked)
