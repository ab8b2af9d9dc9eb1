"""Five pitfalls with their cures, ten tips, a rule that holds, nine boxes and four thoughts."""

import re
import tomllib
from pathlib import Path

import pytest

from lesson_code.accounting import model_flop_per_s, model_flop_utilisation

PAGE = Path("docs/lab/pitfalls-and-tips.md")
TEXT = PAGE.read_text(encoding="utf-8")
PITFALLS = ("device-mismatch", "out-of-memory", "synchronise", "leaks", "wrong-amp")


def section(name: str) -> str:
    """The text under the heading with this anchor, up to the next heading of its level."""
    return TEXT.split(f"{{ #{name} }}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("anchor", PITFALLS)
def test_the_failure_stands_before_the_cure(anchor: str) -> None:
    """Each pitfall shows something that fails, then says what cures it."""
    failure, _, cure = section(anchor).partition("**The cure")

    assert "```" in failure
    assert cure


def test_pitfalls_come_in_their_order() -> None:
    """Five of them, numbered."""
    assert list(PITFALLS) == re.findall(r"^## [1-5]\. .*\{ #([a-z-]+) \}$", TEXT, re.MULTILINE)


def test_nine_boxes_are_kept() -> None:
    """The list has an id under which the browser keeps nine ticks."""
    tasks = section("ready").split('<kept-tasks id="lab-ready" markdown>')[1]

    assert 9 == len(re.findall(r"^- \[ \] ", tasks.split("</kept-tasks>")[0], re.MULTILINE))


def test_four_thoughts_end_the_page() -> None:
    """They follow the boxes."""
    thoughts = section("ready").split("</kept-tasks>")[1]

    assert 4 == len(re.findall(r"^- ", thoughts, re.MULTILINE))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("lab-kept-losses", 'of="lab/kept_graphs:print_bytes_kept"'),
        ("lab-busy-gpu", "[[utilisation.tiny.cuda_busy]]"),
    ],
)
def test_questions_stand_before_what_answers_them(question: str, answer: str) -> None:
    """The reader predicts, then looks."""
    assert TEXT.index(f"id: {question}") < TEXT.index(answer)


def figures() -> dict[str, dict[str, object]]:
    """The catalogue of the key concepts and the pitfalls."""
    text = Path("results/catalogue/lab_key_concepts.toml").read_text(encoding="utf-8")
    catalogue: dict[str, dict[str, object]] = tomllib.loads(text)["figure"]
    return catalogue


def test_the_published_run_is_a_fifth_of_the_peak() -> None:
    """2,470 images of 24.3 GFLOP make 60 TFLOP/s: 19 % of an A100's peak; in TF32 15 %."""
    assert pytest.approx(60e12, rel=0.01) == model_flop_per_s(24_299_077_632, 2470)
    assert pytest.approx(0.19, abs=0.005) == model_flop_utilisation(24_299_077_632, 2470, 312e12)
    assert pytest.approx(0.15, abs=0.005) == model_flop_utilisation(24_299_077_632, 938, 156e12)


@pytest.mark.parametrize(
    ("figure", "rate", "peak"),
    [
        ("lab_tips.resnet50_float16_mfu", "resnet50_a100_amp_images_per_s", "a100_float16"),
        ("lab_tips.resnet50_tf32_mfu", "resnet50_a100_tf32_images_per_s", "a100_tf32"),
    ],
)
def test_computed_figures_use_the_cited_values(figure: str, rate: str, peak: str) -> None:
    """The arguments in the catalogue are those of the sources, and of the recorded count."""
    cited: dict[str, dict[str, float]] = {}
    for path in Path("results/cited").glob("*.toml"):
        cited |= tomllib.loads(path.read_text(encoding="utf-8"))

    assert {
        "flop_per_sample": 24_299_077_632,
        "samples_per_s": cited[rate]["value"],
        "peak_flop_per_s": cited[peak]["value"],
    } == figures()[figure]["arguments"]
