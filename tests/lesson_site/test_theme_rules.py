"""The theme's style sheets lose the rules that no page can match, and no other.

`tests/browser/test_theme_sheet.py` asks the same of the real site.
"""

from pathlib import Path

import pytest

from lesson_site.postbuild.rules import (
    Known,
    drop_unmatched_rules,
    join_sheets,
    matched,
    without_properties,
)

PAGE = """<html lang="en" dir="ltr"><body data-scheme="default"><p class="grid md-nav">
<ul class="tags"><input name="__tabbed_1"><input name="__tabbed_1"><input type="checkbox"></ul>
"""
SCRIPT = """const shown = one.dataset.state; "open"; `tabbed-control--${side}`; "wide";
one.querySelector(".sought")"""


def known(page: str = PAGE) -> Known:
    """What there is on a site of one page and one script."""
    return Known([page], [SCRIPT])


@pytest.mark.parametrize(
    "rule",
    [
        ".md-nav{color:red}",
        ".grid.md-nav.open{color:red}",
        "body .md-nav:hover,p.grid{color:red}",
        "ul,h1:not(h2),input{margin:0}",
        ".tabbed-control--next{color:red}",
        ".md-nav:not(.md-banner){color:red}",
        ":is(.md-banner,.md-nav) p{color:red}",
        ":is(.md-nav:hover,.md-banner>p)::before{color:red}",
        "@font-face{font-family:md-banner;src:url('a.md-banner{')}",
        "@keyframes turn{0%{opacity:0}to{opacity:1}}",
        '@charset "UTF-8";',
        "[dir=ltr] .grid{color:red}",
        "[data-scheme=default] .grid{color:red}",
        "[data-state=wide]{color:red}",
        "input[type=checkbox]:checked~p{color:red}",
        "input[type^=check],input[type]{color:red}",
        ".tabbed-set>input:nth-child(2){color:red}",
        "@media print{.grid{color:red}}",
    ],
)
def test_a_rule_that_something_may_match_stays(rule: str) -> None:
    """What pages have, what a script may give it, joined names, and what is in brackets."""
    with_more = known(PAGE + "<h1 class='tabbed-set'>")

    assert rule == matched(rule, with_more)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (".md-banner{color:red}", ""),
        (".md-banner,.grid{color:red}", ".grid{color:red}"),
        (".grid .md-banner>a{color:red}", ""),
        (".grid.tags{color:red}", ""),
        ("ul.grid{color:red}", ""),
        (".sought{color:red}", ""),
        ("[data-md-color-switching] *,.grid{top:0}", ".grid{top:0}"),
        ("table:not([class])+*,.grid,h2+h3{top:0}", ".grid{top:0}"),
        ("table:not([class]) td>:first-child{top:0}", ""),
        ("[dir=rtl] .grid{color:red}", ""),
        ("[data-scheme=slate]{color:red}", ""),
        ("[data-state=narrow]{color:red}", ""),
        ("input[type$=radio]{color:red}", ""),
        (":is(.md-banner,ul.grid) p{color:red}", ""),
        (".tabbed-set>input:nth-child(3){color:red}", ""),
        ("@media print{.md-banner{color:red}}p{top:0}", "p{top:0}"),
        ("@media print{.md-banner{top:0}.grid{top:0}}", "@media print{.grid{top:0}}"),
        (".md-banner{background:url('data:a{b}c;d')}p{top:0}", "p{top:0}"),
    ],
)
def test_a_rule_that_nothing_matches_goes(rule: str, expected: str) -> None:
    """It asks for what no page has and no script gives, of one element or at all."""
    assert expected == matched(rule, known())


@pytest.mark.parametrize(
    ("rule", "sign"),
    [
        (".md-annotation__index{top:0}", '<p class="wide annotate">'),
        (
            "[role=dialog] p{top:0}",
            '<script id="__config">{"features": ["content.tooltips"]}</script>',
        ),
        (".card>:last-child{top:0}", '<div class="grid cards">'),
    ],
)
def test_what_the_theme_makes_only_of_something_goes_where_there_is_none(
    rule: str, sign: str
) -> None:
    """Its script names the class or the role, and a page says whether it makes such a thing."""
    made = 'h("aside", {class: "md-annotation__index card", role: "dialog"})'

    assert "" == matched(rule, Known([PAGE], [made]))
    assert rule == matched(rule, Known([PAGE, sign], [made]))


def test_properties_that_nothing_asks_for_go() -> None:
    """The others stay, with what is in quotes and brackets."""
    css = "a{--one:url('a;b)');--two:1;top:var(--one)}b{--three:2}"

    assert "a{--one:url('a;b)');top:var(--one)}" == without_properties(css, {"--one"})


def test_a_site_s_pages_and_scripts_say_which_classes_there_are(tmp_path: Path) -> None:
    """Each of them counts, and a second time changes nothing."""
    sheet = tmp_path / "assets/stylesheets/main.css"
    sheet.parent.mkdir(parents=True)
    css = ".a{--d:1;--e:var(--f);--f:2;top:0}.b{top:var(--d)}.c{top:var(--e)}[dir=rtl] a{top:0}"
    sheet.write_text(css, encoding="utf-8")
    (tmp_path / "index.html").write_text('<html dir="ltr"><p class="a">', encoding="utf-8")
    (tmp_path / "assets/lesson.js").write_text("one.classList.add('b')", encoding="utf-8")

    drop_unmatched_rules(tmp_path)
    first = sheet.read_text(encoding="utf-8")
    drop_unmatched_rules(tmp_path)

    assert ".a{--d:1;top:0}.b{top:var(--d)}" == first == sheet.read_text(encoding="utf-8")


def test_the_themes_sheets_join_ours(tmp_path: Path) -> None:
    """Its rules come first, pages ask for one sheet, and a second time changes nothing."""
    sheets = tmp_path / "assets/stylesheets"
    sheets.mkdir(parents=True)
    text = "a{top:0}/*# sourceMappingURL=main.1.css.map */\n"
    (sheets / "main.1.min.css").write_text(text, encoding="utf-8")
    (sheets / "palette.2.min.css").write_text("a{top:1px}", encoding="utf-8")
    ours = tmp_path / "assets/style.css"
    ours.write_text("a{top:2px}", encoding="utf-8")
    names = ("stylesheets/main.1.min", "stylesheets/palette.2.min", "style")
    links = [f'<link rel="stylesheet" href="assets/{name}.css">' for name in names]
    page = tmp_path / "index.html"
    page.write_text("".join(links), encoding="utf-8")

    join_sheets(tmp_path)
    join_sheets(tmp_path)

    assert "a{top:0}a{top:1px}a{top:2px}" == ours.read_text(encoding="utf-8")
    assert links[2] == page.read_text(encoding="utf-8")
    assert [] == list(sheets.iterdir())
