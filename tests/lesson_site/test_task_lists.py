"""Task lists: checkboxes with labels, under names that last, complete without JavaScript."""

import re

import markdown
import pytest

from lesson_site.errors import PageError

LIST = """\
<kept-tasks id="lab-step-1" markdown>

- [ ] **auto** `.venv` is inside & *runs*
- [ ] **self** you read [the page](x.md)
- no task

</kept-tasks>
"""


def convert(text: str) -> str:
    """The HTML of a page with task lists."""
    return markdown.markdown(text, extensions=["md_in_html", "lesson_site.task_lists"])


def names(html: str) -> list[str]:
    """The ids of all checkboxes."""
    return re.findall(r'<input[^>]* id="([^"]+)"', html)


def test_each_task_is_a_labelled_checkbox_that_is_disabled() -> None:
    """Without JavaScript nobody can tick what nobody would keep."""
    html = convert(LIST)

    assert 2 == html.count("<li><label><input disabled")
    assert (
        "<span><strong>auto</strong> <code>.venv</code> is inside &amp; <em>runs</em></span>"
        in (html)
    )
    assert '<a href="x.md">the page</a></span></label></li>' in html
    assert "[ ]" not in html


def test_other_items_stay_as_they_are() -> None:
    """An item without a box is text."""
    assert "<li>no task</li>" in convert(LIST)


def test_the_element_keeps_its_id_for_the_browser() -> None:
    """The custom element wakes up where the author put it."""
    assert '<kept-tasks id="lab-step-1">' in convert(LIST)


def test_a_tick_is_kept_under_the_words_of_its_item() -> None:
    """Names have the list's id and the item's words, so that items can be moved."""
    expected = ["lab-step-1-auto-venv-is-inside-runs", "lab-step-1-self-you-read-the-page"]

    assert expected == names(convert(LIST))


def test_items_with_empty_lines_between_them_and_items_below_them() -> None:
    """The label holds an item's text, not the list below it."""
    text = '<kept-tasks id="a" markdown>\n\n- [ ] one\n\n    - more\n\n- [ ] two\n\n</kept-tasks>'
    html = convert(text)

    assert ["a-one", "a-two"] == names(html)
    assert "<span>one</span></label></p>\n<ul>\n<li>more</li>" in html


def test_a_list_outside_of_the_element_is_not_touched() -> None:
    """Only what is asked to be kept becomes a checkbox."""
    assert "<li>[ ] plain</li>" in convert("- [ ] plain\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LIST.replace(' id="lab-step-1"', ""), r"page.md: kept-tasks: id is ''"),
        (LIST.replace("lab-step-1", "Lab 1"), "id is 'Lab 1'; give one in small letters"),
        (LIST.replace("[ ]", "[]"), "has no task; write items as"),
        (LIST.replace("no task", "[ ] **auto** .venv is inside & runs"), "two items begin with"),
    ],
)
def test_a_list_that_could_not_be_kept_stops_the_build(text: str, message: str) -> None:
    """The message says what is missing and how to write it."""
    with pytest.raises(PageError, match=message):
        convert(text)
