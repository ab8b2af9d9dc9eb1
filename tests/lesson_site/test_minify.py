"""Files and pages get shorter, and mean what they meant."""

from pathlib import Path

import pytest

from lesson_site.postbuild.minify import (
    minify_css,
    minify_files,
    minify_js,
    minify_page,
    minify_pages,
)


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ('/* a\n * b */\na { content: "/* no */"; } /* c */', 'a{content:"/* no */"}'),
        (
            "a :is(b, c) > d { top: 0; left: calc(1px - 2px) }",
            "a :is(b,c) > d{top:0;left:calc(1px - 2px)}",
        ),
        ('a::after { content: ";} : ," / ""; }', 'a::after{content:";} : ," / ""}'),
        (
            "@media screen and (min-width: 9em) {\n  a { top: 0; }\n}",
            "@media screen and (min-width:9em){a{top:0}}",
        ),
        (
            "a { animation: fade linear; animation-timeline: scroll(self); }",
            "a{animation:fade linear;animation-timeline:scroll(self)}",
        ),
    ],
)
def test_a_style_sheet_keeps_what_means_something(css: str, expected: str) -> None:
    """Comments and spacing go, but for the spaces in texts, and between selectors and operands."""
    assert expected == minify_css(css)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            "// a\nlet one = f(); // b\n/** @type {X} */\nuse(one, one);",
            "let one=f();\nuse(one,one);",
        ),
        ("use('/* no */', /\\/\\*x\\*\\//);", "use(`/* no */`,/\\/\\*x\\*\\//);"),
        ("use(`one\n  // two`);", "use(`one\n  // two`);"),
    ],
)
def test_a_script_loses_comments_and_spacing(script: str, expected: str) -> None:
    """What only looks like a comment stays, in a text or an expression."""
    assert expected == minify_js(script)


def test_a_module_keeps_what_others_import() -> None:
    """The names that it takes and gives, and what it does when it is loaded."""
    script = 'import { two } from "./two.js";\nexport const three = two + 1;\ntwo();\n'

    assert 'import{two}from"./two.js";export const three=two+1;two();' == minify_js(
        script, module=True
    )


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<ul>\n   <li>a  b</li>   <li>", "<ul>\n<li>a  b</li> <li>"),
        ("<pre>  <b>a</b>\n  <b>b</b></pre>", "<pre>  <b>a</b>\n  <b>b</b></pre>"),
        ("<code><b>a</b>  <b>b</b></code>", "<code><b>a</b>  <b>b</b></code>"),
        ('<code><span class="n">a</span></code>', "<code>a</code>"),
        ("<script>\n// Ours.\nuse(1 + 2);\n</script>", "<script>use(3);</script>"),
        ("<script>theirs( 1 )</script>", "<script>theirs( 1 )</script>"),
    ],
)
def test_a_page_loses_spacing_between_tags(page: str, expected: str) -> None:
    """Not in code, where it is shown; scripts of ours get shorter, and the theme's stay."""
    assert expected == minify_page(page)


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    """Neither in files nor in pages."""
    files = {
        "assets/style.css": "a { top: 1px }",
        "assets/lesson.js": "/** One. */\nexport const one = new Map(); // two\n",
        "index.html": "<p>\n\n<b>a</b><script>\n// b\nuse(`c`)\n</script>",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    def passed_over() -> dict[str, str]:
        minify_files(tmp_path)
        minify_pages(tmp_path)
        return {name: (tmp_path / name).read_text(encoding="utf-8") for name in files}

    once = passed_over()

    assert once == passed_over()
    assert all(len(once[name]) < len(text) for name, text in files.items())
