"""The lesson's pages keep what the lesson promises, whatever their words are."""

import itertools
import re

import pytest

from lesson_site.markdown_source import Source
from lesson_site.numbering import sections

PAGES = [section.source for section in sections()]
TEXT = {section.slug: section.markdown.text for section in sections()}
WHOLE = "\n".join(TEXT.values())


def answers(text: str) -> list[str]:
    """The bodies of all answer blocks."""
    return re.findall(r"^/// answer\n(.*?)^///$", text, flags=re.DOTALL | re.MULTILINE)


def test_each_heading_of_a_section_has_its_slug_as_anchor() -> None:
    """Links to a section keep their target when its title is reworded."""
    for slug, text in TEXT.items():
        heading = Source(text).headings[0]
        assert slug == heading.anchor, f"write `# {heading.title} {{ #{slug} }}` in {slug}.md"


def test_each_section_says_what_one_learns_to_do() -> None:
    """A page that spells its front matter's `aim` otherwise would say nothing under its title."""
    without = [str(section.source) for section in sections() if not section.aim]

    assert [] == without, "write it as `aim:` into the front matter, in words that follow 'to'"


@pytest.mark.parametrize(("slug", "following"), list(itertools.pairwise(TEXT)))
def test_each_section_ends_with_the_way_to_the_next(slug: str, following: str) -> None:
    """A section that is put in between takes its place in this chain, too."""
    last = TEXT[slug].strip().splitlines()[-1]

    wanted = f"({following}.md){{ .next-step }}"
    assert wanted in last, f"end docs/gpu-training/{slug}.md with a line such as [Go on]{wanted}"


def test_problem_comes_before_solution() -> None:
    """The error precedes the fix, underflow precedes autocast, and manual precedes automatic."""
    assert "images.to(device)" not in TEXT["device-mismatch"]
    assert "torch.amp" not in TEXT["why-mixed-precision"]
    manual_first = TEXT["automatic-mixed-precision"]
    assert manual_first.index("manual_mixed_precision.py") < manual_first.index("torch.amp")


def test_the_breather_leads_to_the_exercises() -> None:
    """Half way the learner may rest, or practise what they have."""
    breather = TEXT["check-the-slow-gpu"].split('<div class="breather"')[1]

    assert "practice.md#exercise-1" in breather
    assert "practice.md#exercise-2" in breather


def test_every_question_has_its_answer() -> None:
    """Anyone who asks, answers; and the three check sections ask at least twice."""
    for slug, text in TEXT.items():
        questions = text.count("//// check |")

        assert questions == len(answers(text)), slug
        assert questions >= 2 or not slug.startswith("check-")


def test_answers_do_not_speak_about_themselves() -> None:
    """No answer comments on the question or on what it tests."""
    for answer in answers(WHOLE):
        assert not re.search(r"this (question|check|answer|exercise|tests)", answer, re.IGNORECASE)


def test_unsafe_and_deprecated_calls_stay_out() -> None:
    """The deprecated module, the missing attribute and the harmful save appear on no page."""
    for slug, text in TEXT.items():
        for call in (r"torch\.cuda\.amp", r"total_mem\b", r"model\.cpu\(\)\.state_dict\(\)"):
            assert not re.search(call, text), slug


def test_unsafe_loading_is_named_once() -> None:
    """`weights_only=False` is said in the one place that restricts it."""
    assert 1 == len([line for line in WHOLE.splitlines() if "weights_only=False" in line])


def test_one_sentence_a_line() -> None:
    """Prose has one sentence a line, so that a change reads well."""
    for page in PAGES:
        fenced = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            fenced ^= line.strip().startswith("```")
            if fenced or re.match(r"description:|[#|!\-\d *?]", line):
                continue

            assert not re.search(r"[a-z`)][.?] [A-Z]", line), f"{page}:{number}: {line}"
