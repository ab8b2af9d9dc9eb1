"""The page about acceleration has its tables, drawings and facts, and none of the old errors."""

import re
from pathlib import Path

import pytest

TEXT = Path("docs/foundations/acceleration.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
ROWS = {
    "paths": "CPU; one GPU; mixed precision; `torch.compile`; gradient accumulation; distributed",
    "drivers": "development time; compute time; failure recovery; debugging time; deployment risk; "
    "team learning",
    "frameworks": "PyTorch; TensorFlow; JAX; manual NumPy; higher-level wrappers",
}
GPU_EDGES = [
    'workload["Training workload"] --> enough',
    'enough -->|"no"| cpu',
    'enough -->|"yes"| fits',
    'fits -->|"no"| smaller',
    "smaller --> fits",
    'fits -->|"yes"| busy',
    'busy -->|"no"| pipeline',
    "pipeline --> busy",
    'busy -->|"yes"| gpu',
]
SAVED_EDGES = [
    "task --> pytorch",
    "manual --> risk",
    "manual --> way",
    "pytorch --> autograd",
    "pytorch --> loaders",
    "pytorch --> speed",
]


@pytest.mark.parametrize("table", ROWS)
def test_each_table_has_its_rows(table: str) -> None:
    """Execution paths, cost drivers and frameworks are all there."""
    first_cells = re.findall(r"^\| ([^|]+?) \|", TEXT, flags=re.MULTILINE)

    assert [] == [row for row in ROWS[table].split("; ") if row not in first_cells]


@pytest.mark.parametrize("edge", GPU_EDGES + SAVED_EDGES)
def test_each_drawing_has_its_edges(edge: str) -> None:
    """Both drawings are complete, with the ways back from the two remedies."""
    assert edge in TEXT


def test_the_drawings_are_described() -> None:
    """Each has a title and a sentence."""
    assert 2 == len(re.findall(r'```lesson-diagram title="[^"]+" text="[^"]+\."', TEXT))


def test_the_judgement_on_frameworks_is_dated() -> None:
    """It says that it is a judgement, whose, and of when."""
    assert "judgement, ours, of November 2026" in WORDS


def test_static_graphs_are_history() -> None:
    """TensorFlow is eager by default since 2.0 (FC24)."""
    [row] = [line for line in TEXT.splitlines() if line.startswith("| TensorFlow")]

    assert "eager by default since 2.0, of 2019" in row


def test_old_names_stand_only_where_they_are_called_old() -> None:
    """torch.cuda.amp occurs in one line, which says that it is deprecated (FC22)."""
    lines = [line for line in TEXT.splitlines() if "torch.cuda.amp" in line]

    assert 1 == len(lines)
    assert "FutureWarning" in lines[0]


@pytest.mark.parametrize(
    "fact",
    [
        "GPU wins at scale",
        "runs on **one thread** unless you tell it otherwise",  # FC21
        "a median does not",
        "bfloat16 has the range of float32 and needs none",
        "wrapping a model compiles nothing, and the first call does the work",  # FC23
        "protects you from nothing",
        "except for a batch of one",
        "`_orig_mod.` before every name",  # FC39
        "Save from the model that you wrapped, or compile it in place",
    ],
)
def test_the_page_says_what_was_corrected(fact: str) -> None:
    """The facts that earlier material had wrong or left out stand on the page."""
    assert fact in WORDS


def test_the_closing_model_has_six_layers() -> None:
    """Tensors, autograd, modules, losses, optimizers, operational controls, in this order."""
    layers = re.findall(r"^\d\. \*\*(.+?)\*\*", TEXT, flags=re.MULTILINE)

    assert layers == [
        "Tensors",
        "Autograd",
        "Modules",
        "Losses",
        "Optimizers",
        "Operational controls",
    ]


@pytest.mark.parametrize(
    "anchor", ["cost-not-contract", "paths", "mixed-precision", "compile", "economics"]
)
def test_other_pages_can_link_here(anchor: str) -> None:
    """The sections keep the names under which they are linked."""
    assert re.search(rf"^## .+ \{{ #{anchor} \}}$", TEXT, flags=re.MULTILINE)
