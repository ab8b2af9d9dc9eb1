"""Checks: the HTML that the two blocks become, and every mistake that stops a build."""

import json
import re
import xml.etree.ElementTree as etree
from collections import Counter
from pathlib import Path

import markdown
import pytest

from lesson_site.checks.options import KINDS, read_check
from lesson_site.errors import PageError

DOCS = Path(__file__).parents[2] / "docs"
CHOICE = """\
//// check | Predict the error
    id: predict
    kind: choice
    choices: ["a `RuntimeError`", nothing: Two *devices* meet.]
    right: 1
Which *one*?

/// answer
The first.
///
////
"""
PLACES = """\
//// check | Place them
    id: place
    kind: place
    code: gpu_training/loop_gpu.py:loop
    without: gpu_training/loop_cpu.py:loop
    places:
      device =:
        before: [model =, optimizer =]
        reply: It is asked below.
      model.to:
        before: optimizer =
        reply: Once.
      images, labels =:
        before: optimizer.zero_grad
        reply: Each time.
Place three lines.

/// answer
So.
///
////
"""
MATCH = """\
//// check | Say which
    id: match
    kind: match
    options: [float32, float16]
    rows:
      the *loss*:
        is: float32
        reply: It needs range.
      the product:
        is: float16
        reply: It wants speed.
Which is which?

/// answer
So.
///
////
"""
AFTER = CHOICE + "\n/// after | predict\n## Heading\n\n- a\n///\n"
LINE = {
    "id": "x",
    "kind": "line",
    "code": "gpu_training/loop_cpu.py:loop",
    "right": "loss.backward()",
    "replies": '{"": Not that one.}',
}


def convert(text: str) -> str:
    """The HTML of a page, by the extensions that matter here."""
    extensions = [
        "admonition",
        "md_in_html",
        "tables",
        "pymdownx.superfences",
        "pymdownx.tabbed",
        "lesson_site.checks",
    ]
    settings = {"pymdownx.tabbed": {"alternate_style": True}}
    return markdown.markdown(text, extensions=extensions, extension_configs=settings)


def check_in(text: str) -> etree.Element:
    """The first check on a page, as a tree."""
    found = re.search(r"<lesson-check.*?</lesson-check>", convert(text), re.DOTALL)
    assert found, "no check was built"
    return etree.fromstring(found[0])


def with_options(**options: object) -> str:
    """A page with one check, its options written as YAML."""
    lines = "\n".join(f"    {name}: {value}" for name, value in options.items())
    return f"//// check | Title\n{lines}\nQuestion\n\n/// answer\nAnswer\n///\n////\n"


def a_line(**options: object) -> str:
    """A page with one good check of a line, but for these options."""
    return with_options(**{**LINE, **options})


def words(element: etree.Element | None) -> str:
    """All text in an element."""
    return "".join(element.itertext()).strip() if element is not None else ""


def test_a_choice_says_everything_without_javascript() -> None:
    """Title, question and choices are open in this order, and the answer comes last, closed."""
    check = check_in(CHOICE)

    title, question, choices, answer = check
    assert words(title) == "Predict the error"
    assert words(question) == "Which one?"
    assert ["a RuntimeError", "nothing"] == [words(choice) for choice in choices]
    assert "RuntimeError" == words(choices.find("li/code"))
    assert ("details", "check-answer", None) == (
        answer.tag,
        answer.get("class"),
        answer.get("open"),
    )
    assert ["Answer", "The first."] == [words(part) for part in answer][:2]


def test_a_wrong_choice_has_its_reply_in_the_answer() -> None:
    """The reply knows the choice that it answers, and is Markdown."""
    [reply] = check_in(CHOICE).findall("details/details/dl/div")

    assert "2" == reply.get("data-to")
    assert ["nothing", "Two devices meet."] == [words(part) for part in reply]
    assert "devices" == words(reply.find("dd/em"))


def test_replies_to_lines_share_out_the_lines() -> None:
    """A line belongs to the first part that it contains; the right one gets none."""
    replies = {"model = ": "Too early.", "loss": "Not this one.", "": "Any other."}

    check = read_check("Title", {**LINE, "replies": replies})

    lines = check.section.lines if check.section else ()
    first, second, rest = (reply.to.split() for reply in check.replies)
    assert ["1"] == first
    assert all("loss" in lines[int(number) - 1] for number in second)
    assert check.attributes["right"] not in (*second, *rest)


def test_a_reply_to_a_number_is_known_by_its_value() -> None:
    """The number is what the browser reads from it."""
    options = {"id": "n", "kind": "number", "right": 7, "unit": "batches"}

    check = read_check("Title", options | {"replies": {"6": "The last one is smaller."}})

    assert ("6.0", "6 batches") == (check.replies[0].to, check.replies[0].said)


def test_lines_to_place_are_those_that_the_other_section_lacks() -> None:
    """They lose their indentation, which would tell the place; gaps count the lines above."""
    check = check_in(PLACES)

    missing = [words(line) for line in check.findall("div[@class='highlight check-missing']/ol/li")]
    assert ["device", "model.", "images"] == [line[:6] for line in missing]
    assert [[0, 1], [1], [8]] == json.loads(check.get("right", ""))
    assert ["1", "2", "3"] == [
        reply.get("data-to") for reply in check.findall("details/details/dl/div")
    ]


def test_lines_can_be_taken_out_of_the_section_itself() -> None:
    """What is placed is what the places name; the rest is there."""
    text = PLACES.replace("    without: gpu_training/loop_cpu.py:loop\n", "")

    assert convert(PLACES) == convert(text).replace("loop_gpu", "loop_cpu")


def test_rows_are_matched_with_options() -> None:
    """Without JavaScript both lists can be read; what judges counts options from one."""
    check = check_in(MATCH)

    rows, options = (check.findall(f"div/{kind}/li") for kind in ("ol", "ul"))
    assert ["the loss", "the product"] == [words(row) for row in rows]
    assert ["float32", "float16"] == [words(option) for option in options]
    assert "1 2" == check.get("right")


def test_a_sentence_says_what_must_be_in_it() -> None:
    """Each becomes a tick."""
    check = check_in(with_options(id="s", kind="sentence", must=["the *fixed* costs", "the size"]))

    ticks = check.findall("details/div[@class='check-ticks']/ul/li")
    assert ["the fixed costs", "the size"] == [words(tick) for tick in ticks]


def test_what_comes_after_a_check_is_closed_and_knows_it() -> None:
    """Headings and lists inside are Markdown as anywhere else."""
    html = convert(AFTER)

    assert '<details class="check-after" data-check="predict">' in html
    assert "<h2>Heading</h2>" in html
    assert ' open=""' not in html


def test_the_whole_lesson_shows_every_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to predict with on paper."""
    (tmp_path / "page.md").write_text("[whole lesson]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    html = convert(AFTER)

    assert 2 == html.count(' open=""')
    assert "answered" in html


def test_the_element_carries_what_judging_needs() -> None:
    """Id, kind and the right value are attributes, and the title names the group."""
    check = check_in(CHOICE)

    expected = {
        "id": "predict",
        "kind": "choice",
        "right": "1",
        "class": "check admonition question",
        "role": "group",
        "aria-labelledby": "predict-title",
    }
    assert expected == check.attrib
    assert check[0].get("id") == "predict-title"


def test_a_number_carries_its_unit_and_tolerance() -> None:
    """The element compares; the values are the author's."""
    check = check_in(with_options(id="n", kind="number", right=7, unit="batches", tolerance=0.1))

    assert ("7", "batches", "0.1") == tuple(check.get(n) for n in ("right", "unit", "tolerance"))


def test_a_check_says_how_it_is_asked() -> None:
    """Bounds, a prediction that stays, and an answer that waits are attributes."""
    check = check_in(with_options(id="n", kind="number", right=7, within="[0, 10]", stays="true"))
    waits = check_in(CHOICE.replace("right:", "waits: true\n    right:"))

    assert ("0 10", "", None) == tuple(check.get(n) for n in ("within", "stays", "waits"))
    assert ("", None) == (waits.get("waits"), waits.get("stays"))


def test_a_reply_may_be_for_a_range_of_numbers() -> None:
    """The element finds by the two ends whether a number lies between them."""
    check = check_in(with_options(id="n", kind="number", right=7, replies='{"8 to 10": too many}'))

    [reply] = check.iter("dd")
    [pair] = [each for each in check.iter("div") if each.get("data-to")]
    assert ("8.0:10.0", "too many") == (pair.get("data-to"), reply.text)


@pytest.mark.parametrize("right", ["7", "0.5", "-3", "1e-4", "6.0e-8", "60_000"])
def test_numbers_as_yaml_and_python_write_them(right: str) -> None:
    """JavaScript reads what is in the attribute as the same number."""
    attribute = check_in(with_options(id="n", kind="number", right=right)).get("right", "")

    assert float(right) == float(attribute)
    assert "_" not in attribute


def test_a_line_shows_its_section_numbered_and_highlighted() -> None:
    """Every line of the section is an item, and the right one is known by its number."""
    check = check_in(a_line())

    lines = check.findall("div[@class='highlight check-code']/ol/li")
    assert "loss.backward()" == words(lines[int(check.get("right", 0)) - 1])
    assert check.find("div/ol/li/code/span") is not None
    assert words(check.find("div/p/a")) == "lesson_code/gpu_training/loop_cpu.py"


def test_empty_lines_of_code_keep_their_number() -> None:
    """They are marked, so that nobody is asked to choose one."""
    lines = check_in(a_line()).findall("div/ol/li")

    blank = [words(line) for line in lines if line.get("class") == "check-blank"]
    assert blank
    assert not any(blank)


def test_a_sentence_needs_no_right_value() -> None:
    """Only its writer can judge a sentence."""
    assert check_in(with_options(id="s", kind="sentence", must="[a, b]")).get("right") is None


def test_a_check_inside_a_tab_is_built() -> None:
    """Indentation by other blocks does not matter."""
    indented = "".join(f"    {line}" if line.strip() else line for line in CHOICE.splitlines(True))

    assert "Which one?" == words(check_in(f'=== "Tab"\n\n{indented}')[1])


def test_a_question_may_hold_lists_and_code() -> None:
    """Fences and lists in question and answer are Markdown as anywhere else."""
    text = CHOICE.replace("Which *one*?", "1. a\n2. b\n\n```text\nx = 1\n```").replace(
        "The first.", "- c\n\n```text\ny\n```"
    )

    check = check_in(text)

    assert check.find("div[@class='check-question']/ol") is not None
    assert "x = 1" in words(check[1])
    assert "y" in words(check[-1])


def test_syntax_shown_in_a_fence_is_left_alone() -> None:
    """A page may explain how checks are written."""
    html = convert(f"```text\n{CHOICE}```\n")

    assert "lesson-check" not in html
    assert "id: predict" in html


def test_two_checks_on_a_page_follow_each_other() -> None:
    """Each block takes its own options."""
    html = convert(CHOICE + "\nBetween.\n\n" + CHOICE.replace("id: predict", "id: second"))

    assert ["predict", "second"] == re.findall(r'<lesson-check[^>]* id="([^"]+)"', html)


MISTAKES = {
    "no title": (CHOICE.replace(" | Predict the error", ""), "needs a title"),
    "no options": (re.sub(r"^    .*\n", "", CHOICE, flags=re.M), "needs its options right below"),
    "an empty line before options": (
        CHOICE.replace("error\n", "error\n\n"),
        "needs its options right below",
    ),
    "broken YAML": (CHOICE.replace("right: 1", "right: [1"), "options are no YAML"),
    "options as a list": (
        re.sub(r"(    .*\n)+", "    - a\n", CHOICE, count=1),
        "needs its options right below",
    ),
    "no id": (CHOICE.replace("    id: predict\n", ""), "id is None"),
    "a bad id": (CHOICE.replace("id: predict", "id: Predict it"), "id is 'Predict it'"),
    "no kind": (CHOICE.replace("    kind: choice\n", ""), "kind is None"),
    "an unknown kind": (CHOICE.replace("kind: choice", "kind: essay"), "kind is 'essay'"),
    "an unknown option": (
        CHOICE.replace("right:", "hint: x\n    right:"),
        "takes no option 'hint'",
    ),
    "a key that is no word": (CHOICE.replace("right:", "1: x\n    right:"), "takes no option 1"),
    "no right": (CHOICE.replace("    right: 1\n", ""), "needs the option 'right'"),
    "right is no choice": (CHOICE.replace("right: 1", "right: 3"), "right is 3"),
    "right is zero": (CHOICE.replace("right: 1", "right: 0"), "right is 0"),
    "right is a text": (CHOICE.replace("right: 1", "right: nothing"), "right is 'nothing'"),
    "right is yes": (CHOICE.replace("right: 1", "right: yes"), "right is True"),
    "one choice": (re.sub(r", nothing.*", "]", CHOICE), "at least two, and all different"),
    "a choice twice": (CHOICE.replace("nothing:", '"a `RuntimeError`":'), "all different"),
    "choices as a text": (
        re.sub(r"choices: .*", "choices: x", CHOICE),
        "choices must be a list",
    ),
    "a choice as a number": (
        CHOICE.replace("nothing: Two *devices* meet.", "7"),
        "neither a text nor a text with its reply",
    ),
    "a reply to the right choice": (
        CHOICE.replace("right: 1", "right: 2"),
        "the choice 'nothing' is right and has a reply",
    ),
    "a wrong choice without a reply": (
        CHOICE.replace("nothing: Two *devices* meet.", "nothing"),
        "the choice 'nothing' is wrong and has no reply; say after a colon why",
    ),
    "an empty reply": (
        CHOICE.replace(" Two *devices* meet.", ' ""'),
        "neither a text nor a text with its reply",
    ),
    "a reply to the right line": (
        a_line(replies='{"backward": x}'),
        "no line is left that contains 'backward'",
    ),
    "a line without a reply": (
        a_line(replies='{"model": x}'),
        "has no reply; name a part of it",
    ),
    "a reply to no line": (
        a_line(replies='{"sleep": x}'),
        "no line is left that contains 'sleep'",
    ),
    "replies as a list": (
        a_line(replies="[x]"),
        "replies must name what each reply is for",
    ),
    "a reply to the right number": (
        with_options(id="n", kind="number", right=7, tolerance=0.2, replies="{8: x}"),
        "8 is right, and has a reply",
    ),
    "a reply to no number": (
        with_options(id="n", kind="number", right=7, replies="{eight: x}"),
        "replies is 'eight'",
    ),
    "one thing to tick": (
        with_options(id="s", kind="sentence", must='["a"]'),
        "must is what a good sentence says, 2 to 4",
    ),
    "places for two of three": (
        PLACES.replace("      model.to:\n        before: optimizer =\n        reply: Once.\n", ""),
        "places must name each of the 3 lines",
    ),
    "a place nowhere": (PLACES.replace("before: optimizer =", "before: sleep"), "found in 0 lines"),
    "a place without a reply": (
        PLACES.replace("        reply: Once.\n", ""),
        "needs before, a list of lines, and reply",
    ),
    "sections the other way round": (
        PLACES.replace("loop_gpu", "x")
        .replace("loop_cpu", "loop_gpu")
        .replace("x.py", "loop_cpu.py"),
        "must have all lines of gpu_training/loop_gpu.py",
    ),
    "one option": (MATCH.replace(", float16]", "]"), "options must be 2 to 4 different texts"),
    "an option twice": (MATCH.replace("[float32, float16]", "[x, x]"), "2 to 4 different texts"),
    "rows as a list": (
        re.sub(r"    rows:\n(      .*\n)+", "    rows: [a]\n", MATCH),
        "at least two",
    ),
    "a row that is no option": (
        MATCH.replace("is: float16", "is: float64"),
        "the row 'the product' is 'float64', not one of float32, float16",
    ),
    "a row without a reply": (
        MATCH.replace("        reply: It wants speed.\n", ""),
        "needs is, one of the options, and reply",
    ),
    "after no check": (
        CHOICE + "\n/// after | other\nx\n///\n",
        "no check above it has the id 'other'; it waits for one of predict",
    ),
    "after without end": (CHOICE + "\n/// after | predict\nx\n", "has no end"),
    "a number in words": (with_options(id="n", kind="number", right="seven"), "is not a number"),
    "no finite number": (with_options(id="n", kind="number", right=".inf"), "is not a number"),
    "a number that is a truth": (
        with_options(id="n", kind="number", right="yes"),
        "is not a number",
    ),
    "bounds without an end": (
        with_options(id="n", kind="number", right=7, within="[0]"),
        "within is [0]",
    ),
    "bounds that leave the answer out": (
        with_options(id="n", kind="number", right=7, within="[8, 9]"),
        "within allows 8 to 9",
    ),
    "a range around the answer": (
        with_options(id="n", kind="number", right=7, replies='{"5 to 8": x}'),
        "5 to 8 is right",
    ),
    "once in a number": (CHOICE.replace("right:", "stays: 1\n    right:"), "stays is 1"),
    "a tolerance in words": (
        with_options(id="n", kind="number", right=7, tolerance="some"),
        "tolerance is 'some'",
    ),
    "too much tolerance": (
        with_options(id="n", kind="number", right=7, tolerance=1),
        "tolerance is 1",
    ),
    "a tolerance around zero": (
        with_options(id="n", kind="number", right=0, tolerance=0.1),
        "none where the right number is 0",
    ),
    "a line that is not there": (
        a_line(right="step_backwards()"),
        "found in 0 lines",
    ),
    "a line that is not unique": (a_line(right="loss"), "name one line"),
    "no line named": (a_line(right='""'), "name one line"),
    "no such section": (
        a_line(code="gpu_training/loop_cpu.py:lop"),
        "has no section 'lop'",
    ),
    "no such file": (
        a_line(code="nowhere.py"),
        "there is no file",
    ),
    "a file outside": (
        a_line(code="../pyproject.toml", right="name ="),
        "lies outside",
    ),
    "the same id twice": (f"{CHOICE}\n{CHOICE}", "the id 'predict' is taken"),
    "no end": (CHOICE.removesuffix("////\n"), "has no end"),
    "no end before the next": (CHOICE.removesuffix("////\n") + "\n" + CHOICE, "has no end"),
    "no answer": (CHOICE.replace("/// answer\nThe first.\n///\n", ""), "has 0 answers"),
    "two answers": (
        CHOICE.replace("///\n////", "///\n\n/// answer\nTwo\n///\n////"),
        "has 2 answers",
    ),
    "an empty answer": (CHOICE.replace("The first.\n", ""), "its answer is empty"),
    "an answer without end": (CHOICE.replace("first.\n///\n", "first.\n"), "has no end"),
    "an answer with a title": (CHOICE.replace("/// answer", "/// answer | So"), "nothing behind"),
    "as many slashes as the check": (CHOICE.replace("////", "///"), "with fewer slashes"),
    "an answer alone": ("/// answer\nText\n///\n", "is outside a check"),
    "an answer in a list": (
        CHOICE.replace("Which *one*?", "- a list").replace(
            "/// answer\nThe first.\n///", "    /// answer\n    The first.\n    ///"
        ),
        "its answer must not be in a list",
    ),
    "a check inside HTML": (f"<div>\n{CHOICE}</div>\n", "no block can begin here"),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_stops_the_build_and_says_which(text: str, message: str) -> None:
    """No mistake of an author turns a check silently into text."""
    with pytest.raises(PageError, match=re.escape(message)):
        convert(text)


def test_a_mistake_names_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is that of the check in its Markdown file, front matter counted."""
    page = tmp_path / "page.md"
    page.write_text(f"---\ntitle: x\n---\n\n# Page\n\n{CHOICE}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(PageError, match=r"^page\.md:7: check: kind is 'essay'"):
        convert(f"# Page\n\n{CHOICE.replace('kind: choice', 'kind: essay')}")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_what_it_needs(kind: str) -> None:
    """An author who leaves out an option that is needed learns which."""
    needed = [name for name, must in KINDS[kind].items() if must]

    assert needed
    for name in needed:
        options = dict.fromkeys(set(needed) - {name}, "x")
        with pytest.raises(PageError, match=f"kind {kind} needs the option '{name}'"):
            read_check("Title", {"id": "x", "kind": kind, **options})


def test_no_two_checks_of_the_site_share_an_id() -> None:
    """A prediction is kept under the check's id, so the whole site has each id once."""
    ids = [
        found
        for page in DOCS.rglob("*.md")
        for found in re.findall(
            r"^/{3,} *check\b.*\n(?:    .*\n)*?    id: *(\S+)",
            page.read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
    ]

    assert {} == {name: count for name, count in Counter(ids).items() if count > 1}
