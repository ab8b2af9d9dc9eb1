"""Five pitfalls with their cures, ten tips, a rule that holds, nine boxes and four thoughts."""

import re
import tomllib
from pathlib import Path

import pytest

from lesson_code.accounting import model_flop_per_s, model_flop_utilisation

PAGE = Path("docs/lab/pitfalls-and-tips.md")
TEXT = PAGE.read_text(encoding="utf-8")
PROSE = " ".join(re.sub(r"^```.*?^```$", "", TEXT, flags=re.DOTALL | re.MULTILINE).split())
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


@pytest.mark.parametrize(
    ("anchor", "facts"),
    [
        ("device-mismatch", ["inputs *and* targets", "gives you another tensor"]),
        (
            "out-of-memory",
            [
                "Find leaks",
                "Take a smaller batch",
                "16-bit autocast. It shrinks activations only",
                "Accumulate gradients",
                "BatchNorm and dropout",
                "Recompute activations",
                "smaller state",
                "more GPUs",
                "[[accumulation.resnet50.peak_memory_saving]]",
            ],
        ),
        ("synchronise", ["[[synchronisation.cuda_waited]]", "[[synchronisation.cuda_not_waited]]"]),
        (
            "leaks",
            [
                "`backward()` has freed what the training graphs had saved",
                "references to the parameters",
                "never went backward",
                "`retain_graph=True`",
                "makes Python wait for the GPU",
                "`loss.detach()`",
            ],
        ),
        ("wrong-amp", ["`scaler.scale(loss).backward()`", "inside `autocast`; outside it"]),
        (
            "golden-rule",
            [
                "at least one* kernel",
                "a sixth of a second to a second",
                "proves nothing",
                "[[utilisation.tiny.cuda_busy]]",
                "[[utilisation.large.cuda_mfu]]",
                "[[lab_tips.resnet50_float16_mfu]]",
                "[[lab_tips.resnet50_tf32_mfu]]",
                "“SM active”",
                "**Know which of data, launches, memory bandwidth or arithmetic limits you, "
                "and prove it with a measurement.**",
            ],
        ),
    ],
)
def test_facts_stand_where_they_belong(anchor: str, facts: list[str]) -> None:
    """Each section states what was corrected or added in it."""
    assert [] == [fact for fact in facts if fact not in section(anchor)]


TIPS = (
    ["accelerator trains from a CPU loader", "non_blocking=True"],
    ["until images per second stop growing", "a tenth", "[[largest_batch.cuda_float32_best]]"],
    ["is_bf16_supported(including_emulation=False)", "Ampere and later"],
    ["nvidia-smi"],
    ["Profile before you optimise"],
    ["scale the learning rate with the batch and warm it up", "[[lab_tips.imagenet_batch]]"],
    ["empty_cache", "rarely helps"],
    ["num_workers", "measure", '__name__ == "__main__"', "persistent_workers=True"],
    ["channels_last", "the model *and* the input"],
    ["multiples of 8"],
)


@pytest.mark.parametrize(("number", "phrases"), [*enumerate(TIPS, start=1)])
def test_each_tip_says_when_it_holds(number: int, phrases: list[str]) -> None:
    """Ten tips, in their order, each with its condition."""
    tips = dict(re.findall(r"^(\d+)\. (.*)$", section("tips"), re.MULTILINE))

    assert 10 == len(tips)
    assert [] == [phrase for phrase in phrases if phrase not in tips[str(number)]]


def test_nine_boxes_are_kept() -> None:
    """The list has an id under which the browser keeps nine ticks."""
    tasks = section("ready").split('<kept-tasks id="lab-ready" markdown>')[1]

    assert 9 == len(re.findall(r"^- \[ \] ", tasks.split("</kept-tasks>")[0], re.MULTILINE))


def test_four_thoughts_end_the_page() -> None:
    """A different machine, careful precision, memory beside speed, and all of it at once."""
    thoughts = section("ready").split("</kept-tasks>")[1]

    assert 4 == len(re.findall(r"^- ", thoughts, re.MULTILINE))
    for phrase in ("not a faster CPU", "no magic", "as much as work on speed", "Production"):
        assert phrase in thoughts


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("lab-kept-losses", 'of="lab/kept_graphs:print_bytes_kept"'),
        ("lab-busy-gpu", "So a low value does tell you something"),
    ],
)
def test_questions_stand_before_what_answers_them(question: str, answer: str) -> None:
    """The reader predicts, then looks."""
    assert TEXT.index(f"id: {question}") < TEXT.index(answer)


@pytest.mark.parametrize(
    "mistake",
    [
        r"always (use|set) `?pin_memory",
        r"DataLoader on (the )?GPU",
        r"(keep|aim for|at least|above) 80 ?%",
        r"increase .{0,30}until (it runs )?out of memory",
        r"scale before autocast",
        r"torch\.cuda\.amp",
        r"batch\.x",
        r"keeps? the whole graph in memory",
    ],
)
def test_old_mistakes_are_not_repeated(mistake: str) -> None:
    """What the plan of the lab had wrong stands nowhere on the page."""
    assert not re.search(mistake, PROSE, flags=re.IGNORECASE)


def figures() -> dict[str, dict[str, object]]:
    """The catalogue of the key concepts and the pitfalls."""
    text = Path("benchmarks/catalogue/lab_key_concepts.toml").read_text(encoding="utf-8")
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
    for path in Path("lesson_site/citations").glob("*.toml"):
        cited |= tomllib.loads(path.read_text(encoding="utf-8"))

    assert {
        "flop_per_sample": 24_299_077_632,
        "samples_per_s": cited[rate]["value"],
        "peak_flop_per_s": cited[peak]["value"],
    } == figures()[figure]["arguments"]
