"""A built page as the finishing pass reads it, where HTML allows more than one spelling."""

from pathlib import Path

import pytest

from lesson_site.postbuild.documents import Document, Reference, read_document


def document(html: str) -> Document:
    """What is read of a page."""
    return read_document(Path("page.html"), html)


@pytest.mark.parametrize(
    ("html", "address"),
    [
        ('<a href="other/">', "other/"),
        ("<A HREF='other/'>", "other/"),
        ("<a href=other/>", "other/"),
        ('<a\n title="a > b"\n href = "other/" >', "other/"),
        ("<a title=don't href=other/ class='x'>", "other/"),
        ('<a href="?a=1&amp;b=2">', "?a=1&b=2"),
    ],
)
def test_a_link_is_found_however_it_is_written(html: str, address: str) -> None:
    """Cases of letters, quotes, spaces and what is escaped make no difference."""
    assert [Reference("link", "a", address)] == document(html).references


def test_what_is_no_element_counts_for_none() -> None:
    """A comment, a declaration, a script's text and an angle bracket in a sentence."""
    html = "<!doctype html><!-- <a id=x> --><p>1 < 2</p><script>if (a<b) '<a id=y></b>'</script>"

    page = document(html)

    assert 2 == page.element_count
    assert set() == page.ids
    assert ["if (a<b) '<a id=y></b>'"] == page.inline_scripts
    assert "1 < 2" == page.text


def test_a_script_that_never_ends_is_read_to_the_last_letter() -> None:
    """So that the policy knows it."""
    assert ["go()"] == document("<script>go()").inline_scripts


def test_only_scripts_without_a_file_are_inline() -> None:
    """Data is none either; within the article it is counted."""
    data = '<script type="application/json">{}</script>'

    page = document(f'<script src="a.js"></script>{data}<article>{data}</article><p id="p">')

    assert [] == page.inline_scripts
    assert 1 == page.data_scripts_in_content
    assert {"p"} == page.ids


def test_code_is_no_visible_text() -> None:
    """What follows it is, also behind an element that closes itself."""
    html = "<p>See <code>a<b>b</b></code><svg><path d='M0'/></svg> &amp; read.</p>"

    assert "See  & read." == document(html).text


def test_styles_and_handlers_are_named_by_their_element() -> None:
    """The policy would stop both."""
    page = document('<style>p{}</style><p style="x">a</p><br onclick="x">')

    assert ["<style>", "<p>"] == page.inline_styles
    assert ["<br>"] == page.handlers
    assert "a" == page.text
