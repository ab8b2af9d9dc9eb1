"""The theme's style sheets lose the rules that no page can match, and no other."""

from pathlib import Path

import pytest

from lesson_site.postbuild.rules import drop_unmatched_rules, join_sheets, matched

WORDS = {"grid", "md-nav", "tabbed-control--", "open"}


@pytest.mark.parametrize(
    "rule",
    [
        ".md-nav{color:red}",
        "a>.md-nav:hover,.grid{color:red}",
        "h1,h2{margin:0}",
        ".tabbed-control--next{color:red}",
        ".md-nav:not(.md-banner){color:red}",
        ":is(.md-banner,.md-nav) a{color:red}",
        "@font-face{font-family:md-banner;src:url('a.md-banner{')}",
        "@keyframes turn{0%{opacity:0}to{opacity:1}}",
        '@charset "UTF-8";',
        "[dir=ltr] .grid{color:red}",
        "[data-x='.md-banner']{color:red}",
        "@media print{.grid{color:red}}",
    ],
)
def test_a_rule_that_something_may_match_stays(rule: str) -> None:
    """Elements, known classes, joined names, and what is in brackets."""
    assert rule == matched(rule, WORDS)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (".md-banner{color:red}", ""),
        (".md-banner,.grid{color:red}", ".grid{color:red}"),
        (".grid .md-banner>a{color:red}", ""),
        ("[dir=rtl] .grid{color:red}", ""),
        ("@media print{.md-banner{color:red}}a{top:0}", "a{top:0}"),
        ("@media print{.md-banner{top:0}.grid{top:0}}", "@media print{.grid{top:0}}"),
        (".md-banner{background:url('data:a{b}c;d')}a{top:0}", "a{top:0}"),
    ],
)
def test_a_rule_that_nothing_matches_goes(rule: str, expected: str) -> None:
    """It needs a class that no page and no script names."""
    assert expected == matched(rule, WORDS)


def test_rules_for_text_from_right_to_left_stay_where_there_is_some() -> None:
    """Only a site without any drops them."""
    assert "[dir=rtl] a{top:0}" == matched("[dir=rtl] a{top:0}", WORDS, to_the_left=True)


def test_a_site_s_pages_and_scripts_say_which_classes_there_are(tmp_path: Path) -> None:
    """Each of them counts, and a second time changes nothing."""
    sheet = tmp_path / "assets/stylesheets/main.css"
    sheet.parent.mkdir(parents=True)
    sheet.write_text(".a{top:0}.b{top:0}.c{top:0}[dir=rtl] a{top:0}", encoding="utf-8")
    (tmp_path / "index.html").write_text('<html dir="ltr"><p class="a">', encoding="utf-8")
    (tmp_path / "script.js").write_text("one.classList.add('b')", encoding="utf-8")

    drop_unmatched_rules(tmp_path)
    first = sheet.read_text(encoding="utf-8")
    drop_unmatched_rules(tmp_path)

    assert ".a{top:0}.b{top:0}" == first == sheet.read_text(encoding="utf-8")


def test_the_palette_joins_the_main_sheet(tmp_path: Path) -> None:
    """Its rules come last, pages ask for one sheet, and a second time changes nothing."""
    sheets = tmp_path / "assets/stylesheets"
    sheets.mkdir(parents=True)
    main = sheets / "main.1.min.css"
    main.write_text("a{top:0}/*# sourceMappingURL=main.1.css.map */\n", encoding="utf-8")
    (sheets / "palette.2.min.css").write_text("a{top:1px}", encoding="utf-8")
    names = ("main.1.min", "palette.2.min")
    links = [f'<link rel="stylesheet" href="assets/stylesheets/{name}.css">' for name in names]
    page = tmp_path / "index.html"
    page.write_text("".join(links), encoding="utf-8")

    join_sheets(tmp_path)
    join_sheets(tmp_path)

    assert "a{top:0}a{top:1px}" == main.read_text(encoding="utf-8")
    assert links[0] == page.read_text(encoding="utf-8")
