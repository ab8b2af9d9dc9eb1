"""The lesson's pages keep what the lesson promises: order, scope, phrases, and honest wording."""

import re
from pathlib import Path

import pytest

LESSON = Path("docs/gpu-training")
PAGES = sorted(LESSON.glob("[0-9][0-9]-*.md"))
TEXT = {int(page.name[:2]): page.read_text(encoding="utf-8") for page in PAGES}
WHOLE = "\n".join(TEXT.values())

PARTS = {
    "Start here": [1, 2, 3],
    "The loop": [4, 5, 6],
    "When it pays, and checkpoints": [7, 8, 9, 10],
    "Mixed precision": [11, 12, 13, 14],
    "Practise and go on": [15, 16, 17],
}

BELIEFS = {
    2: "A GPU is always faster",
    4: "Moving to the GPU is just `model.to(device)`",
    5: "I need to rewrite my training loop",
    11: "Mixed precision means float16 everywhere",
    12: "I must manage dtypes by hand",
}

PHRASES = {
    "same heartbeat, new instruments": [5, 9, 12, 16],
    "gpu wins at scale": [2, 7],
    "rough sketch with a micrometer": [11],
    "not magic -- automation": [12],
    "shape, dtype, device": [4],
    "snapshot of all the knobs": [1],
}


def answers(text: str) -> list[str]:
    """The bodies of all answer blocks."""
    return re.findall(r"^/// answer\n(.*?)^///$", text, flags=re.DOTALL | re.MULTILINE)


def test_there_are_seventeen_numbered_pages() -> None:
    """Every section has a page of its own, with its number in the file, the title and an anchor."""
    assert list(range(1, 18)) == sorted(TEXT)
    for number, page in zip(sorted(TEXT), PAGES, strict=True):
        title = re.search(r"^# (\d+)\. .+ \{ #([\w-]+) \}$", TEXT[number], flags=re.MULTILINE)

        assert title is not None, f"{page} has no numbered title with an anchor"
        assert number == int(title[1])
        assert page.stem[3:].endswith(title[2]) or title[2] in page.stem


def test_navigation_groups_the_sections_in_five_parts() -> None:
    """The navigation has the five parts, each with its sections in order."""
    navigation = Path("mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    for (part, numbers), following in zip(
        PARTS.items(), [*list(PARTS)[1:], "The whole lesson"], strict=True
    ):
        listed = navigation.split(f"- {part}:")[1].split(following)[0]

        assert numbers == [int(n) for n in re.findall(r"gpu-training/(\d\d)-", listed)]


@pytest.mark.parametrize(("number", "belief"), BELIEFS.items())
def test_each_misconception_is_named_where_it_is_disproved(number: int, belief: str) -> None:
    """The five beliefs stand on their pages in the learner's own words."""
    named = re.findall(r'^!!! belief "(.+)"$', TEXT[number], flags=re.MULTILINE)

    assert [belief] == [name for name in [belief] if any(belief in text for text in named)]


@pytest.mark.parametrize(("phrase", "numbers"), PHRASES.items())
def test_mental_models_return_in_the_same_words(phrase: str, numbers: list[int]) -> None:
    """Each catch-phrase stands word for word in the sections that lean on it."""
    for number in numbers:
        words = " ".join(TEXT[number].split()).lower()

        assert phrase in words, f"section {number} lacks {phrase!r}"


def test_tensors_were_several_lessons_ago() -> None:
    """The distance to the tensors lesson is never given as six."""
    assert "several lessons ago" in WHOLE.lower()
    assert not re.search(r"\bsix lessons\b", WHOLE, flags=re.IGNORECASE)


def test_problem_comes_before_solution() -> None:
    """The error precedes the fix, underflow precedes autocast, and manual precedes automatic."""
    assert "images.to(device)" not in TEXT[4]
    assert "torch.amp" not in TEXT[11]
    assert TEXT[12].index("manual_mixed_precision.py") < TEXT[12].index("torch.amp")


def test_assembly_line_is_mapped_in_the_text() -> None:
    """Section 5 names four stations, faster workers and the new lines as logistics, in its body."""
    body = "\n".join(line for line in TEXT[5].splitlines() if not line.startswith((" ", "!", "`")))

    for word in ("four stations", "forward, loss, backward, update", "faster", "logistics"):
        assert word in body


def test_breather_stands_between_ten_and_eleven() -> None:
    """After section 10 the learner may rest, and is led to Exercises 1 and 2."""
    breather = TEXT[10].split('<div class="breather"')[1]

    assert "15-practice.md#exercise-1" in breather
    assert "15-practice.md#exercise-2" in breather


def test_three_sections_are_checks() -> None:
    """Sections 6, 10 and 14 ask, and every question there has its answer."""
    for number in (6, 10, 14):
        questions = TEXT[number].count("//// check |")

        assert questions >= 2
        assert questions == len(answers(TEXT[number]))


def test_answers_say_what_they_must() -> None:
    """Each check's answers name the mechanism, not only the verdict."""
    check_1, check_2, check_3 = (" ".join(answers(TEXT[n])) for n in (6, 10, 14))

    assert "line that calls the model" in check_1
    assert "fresh tensors on the CPU" in check_1
    assert "at the loss" in check_1
    assert "[[tiny.batches]] batches" in check_2
    assert "fixed costs" in check_2
    assert "Stay on the CPU" in check_2
    for word in ("6e-8", "chain rule", "Before the optimizer steps", "skips", "halves", "twice"):
        assert word in check_3


def test_answers_do_not_speak_about_themselves() -> None:
    """No answer comments on the question or on what it tests."""
    for answer in answers(WHOLE):
        assert not re.search(r"this (question|check|answer|exercise|tests)", answer, re.IGNORECASE)


def test_unsafe_and_deprecated_calls_stay_out() -> None:
    """The deprecated module, the missing attribute and the harmful save appear on no page."""
    for page in (*PAGES, LESSON / "index.md"):
        text = page.read_text(encoding="utf-8")

        assert "torch.cuda.amp" not in text
        assert not re.search(r"total_mem\b", text)
        assert "model.cpu().state_dict()" not in text


def test_unsafe_loading_is_only_warned_of() -> None:
    """`weights_only=False` appears once, in the sentence that restricts it to trusted files."""
    sentences = [line for line in WHOLE.splitlines() if "weights_only=False" in line]

    assert len(sentences) == 1
    assert "trust" in sentences[0]


def test_every_use_of_weights_only_has_its_reason() -> None:
    """Each page that mentions the argument says what it does."""
    for number, text in TEXT.items():
        if "weights_only=True" in text:
            assert re.search(r"(refuses|safe|plain)", text), f"section {number} gives no reason"


def test_float16_is_described_truthfully() -> None:
    """Section 11 gives the threshold, names the layers nearest the input, and owns up to λ."""
    assert "2.98e-8" in TEXT[11]
    assert "nearest the input" in TEXT[11]
    assert "deepest layers" not in TEXT[11]
    assert "1e-6 survives" in TEXT[11]
    assert "made small on purpose" in TEXT[11]


def test_summary_has_five_takeaways_and_the_way_on_leads_to_fashion_mnist() -> None:
    """Section 16 lists five points, and section 17 names the project."""
    assert 5 == len(re.findall(r"^\d\. ", TEXT[16], flags=re.MULTILINE))
    assert "Fashion-MNIST" in TEXT[17]


def test_exercises_carry_their_levels() -> None:
    """Three exercises are supported and the fourth is independent."""
    levels = re.findall(r"^\*(Supported|Independent)\.\*$", TEXT[15], flags=re.MULTILINE)

    assert ["Supported", "Supported", "Supported", "Independent"] == levels


def test_what_is_only_mentioned_stays_short() -> None:
    """Names outside the lesson's scope stand in section 1's list and in two sentences at most."""
    others = "\n".join(text for number, text in TEXT.items() if number != 1).lower()
    for name in ("num_workers", "pin_memory", "TF32", "Tensor Cores", "bfloat16"):
        sentences = [line for line in others.splitlines() if name.lower() in line]

        assert name in TEXT[1]
        assert len(sentences) <= 2, f"{name}: {sentences}"


def test_one_sentence_a_line() -> None:
    """Prose has one sentence a line, so that a change reads well."""
    for page in PAGES:
        fenced = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            fenced ^= line.strip().startswith("```")
            if fenced or re.match(r"description:|[#|!\-\d *?]", line):
                continue

            assert not re.search(r"[a-z`)][.?] [A-Z]", line), f"{page}:{number}: {line}"
