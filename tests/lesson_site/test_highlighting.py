"""Code has spans for what the style colours, and keeps every sign and its lines."""

import re

from lesson_site.highlighting import highlighted_lines, in_few_spans

CODE = 'if x.y not in (1, "(") and z:  # why\n\n    pass\n'


def text_of(html: str) -> str:
    """What a reader sees of it; the code has no sign that HTML spells otherwise but quotes."""
    return re.sub(r"<[^>]*>", "", html).replace("&quot;", '"')


def test_each_line_of_code_is_a_piece_of_its_own() -> None:
    """An empty one too, with its indentation."""
    assert CODE.rstrip("\n").split("\n") == [text_of(line) for line in highlighted_lines(CODE)]


def test_only_coloured_words_have_spans() -> None:
    """Keywords, numbers, texts and comments; names, signs and words between them have none."""
    html = in_few_spans("\n".join(highlighted_lines(CODE)))

    coloured = [text_of(span) for span in re.findall("<span.*?</span>", html)]
    assert ["if", "1", '"("', "# why", "pass"] == coloured
    assert CODE.strip("\n") == text_of(html)


def test_what_holds_others_stays() -> None:
    """As the mark of a line does, in which there are spans."""
    line = '<span class="hll"><span class="n">x</span> <span class="o">=</span> 1</span>'

    assert '<span class="hll">x = 1</span>' == in_few_spans(line)
