"""The float explorer as readers use it: by pointer and keyboard, and without JavaScript."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lesson_code.gpu_training.float_formats import BFLOAT16, E4M3, FLOAT16
from lesson_site.floats import gradients, words
from lesson_site.floats.drawing import WHOLE
from tests.browser.conftest import small_site
from tests.browser.states import expect_accessible

FLOATS = """\
# Floats { #floats }

```lesson-floats show="switches"
```

```lesson-floats show="epochs"
```

```lesson-floats show="scale"
```
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A small site with all three parts."""
    pages = {"index.md": "# Start\n\n[Floats](floats.md)\n", "floats.md": FLOATS}
    with small_site(tmp_path_factory.mktemp("floats"), pages, below="course") as course:
        yield course


Opener = Callable[..., Page]


@pytest.fixture
def open_floats(new_window: Opener, course: str) -> Opener:
    """Open the page in a fresh window, and wait for what is moved there."""

    def opener(**options: object) -> Page:
        page = new_window(**options)
        page.goto(f"{course}floats/")
        if options.get("java_script_enabled", True):
            for element, count in (("float-switches", 16), ("gradient-scale", 0)):
                page.locator(element).scroll_into_view_if_needed()
                expect(page.locator(f"{element} fieldset")).to_be_visible()
                expect(page.locator(element).get_by_role("switch")).to_have_count(count)
        return page

    return opener


def says(page: Page, element: str) -> Locator:
    """The sentences of an element."""
    return page.locator(f"{element} .float-says")


def bits(page: Page) -> int:
    """The pattern that the switches show."""
    switches = page.get_by_role("switch").all()
    return int("".join("1" if switch.is_checked() else "0" for switch in switches), 2)


def test_without_javascript_numbers_and_tables_read(open_floats: Opener) -> None:
    """One number, one scale, three tables, and no control that does nothing."""
    page = open_floats(java_script_enabled=False)

    expect(says(page, "float-switches")).to_contain_text(words.becomes(FLOAT16, 0.1))
    expect(says(page, "gradient-scale")).to_contain_text("Unscaled, float16 rounds")
    expect(page.get_by_role("table")).to_have_count(3)
    expect(page.locator("fieldset")).to_have_count(0)


def test_a_typed_number_is_rounded(open_floats: Opener) -> None:
    """Enter rounds it, sets the switches, and asks every other format."""
    page = open_floats()

    field = page.get_by_label("Round a number")
    field.fill("1e-8")
    field.press("Enter")

    expect(says(page, "float-switches")).to_contain_text(words.becomes(FLOAT16, 1e-8))
    assert 0 == bits(page)
    places = [page.locator(f".float-{name}").get_attribute("x1") for name in ("mark", "asked")]
    assert [WHOLE.place(0), WHOLE.place(1e-8)] == places
    expect(page.locator(".float-asked-at")).to_have_text("1e-8")
    row = page.get_by_role("row", name=re.compile("^bfloat16"))
    expect(row.get_by_role("cell").first).to_have_text(words.written(BFLOAT16.kept(1e-8)))
    expect(page.get_by_role("columnheader", name="1e-8 becomes")).to_be_visible()


def test_what_is_no_number_changes_nothing(open_floats: Opener) -> None:
    """The sentence says what to write instead."""
    page = open_floats()
    before = bits(page)

    page.get_by_label("Round a number").fill("a tenth")
    page.get_by_role("button", name="Round it").click()

    expect(says(page, "float-switches")).to_contain_text("“a tenth” is not a number")
    expect(page.get_by_label("Round a number")).to_have_attribute("aria-invalid", "true")
    assert before == bits(page)
    expect_accessible(page, "float-switches", "what is no number")


def test_a_bit_is_switched_by_keyboard(open_floats: Opener) -> None:
    """Space turns the lowest bit round; its name says what it is worth."""
    page = open_floats()
    pattern = bits(page)
    lowest = page.get_by_role("switch", name="Bit fraction, worth 1/1024")

    lowest.focus()
    page.keyboard.press("Space")

    assert pattern ^ 1 == bits(page)
    expect(says(page, "float-switches")).to_contain_text(words.reading(FLOAT16, pattern ^ 1))
    expect(says(page, "float-switches")).to_contain_text(words.beside(FLOAT16, pattern ^ 1))


def test_a_click_on_a_bit_switches_it(open_floats: Opener) -> None:
    """All sixteen on are not a number, and the line is gone."""
    page = open_floats()

    for switch in page.get_by_role("switch").all():
        switch.check()

    expect(says(page, "float-switches")).to_contain_text("not a number")
    expect(page.locator(".float-mark")).to_be_hidden()
    expect_accessible(page, "float-switches", "not a number", ".floats")


def test_the_other_format_splits_the_bits_otherwise(open_floats: Opener) -> None:
    """bfloat16 has eight bits for the exponent, and the same number other bits."""
    page = open_floats()

    page.get_by_role("radio", name="bfloat16").check()

    exponent = page.get_by_role("group", name="Exponent").get_by_role("switch")
    expect(exponent).to_have_count(8)
    assert BFLOAT16.pattern(0.1) == bits(page)
    expect(says(page, "float-switches")).to_contain_text(words.becomes(BFLOAT16, 0.1))
    expect_accessible(page, "float-switches", "bfloat16", ".floats")


def test_neighbours_are_walked(open_floats: Opener) -> None:
    """From the largest number one step goes to infinity, and no further."""
    page = open_floats()

    page.get_by_role("button", name="Largest").click()
    assert FLOAT16.pattern(65504) == bits(page)
    page.get_by_role("button", name="Next above").click()
    page.get_by_role("button", name="Next above").click()

    expect(says(page, "float-switches")).to_contain_text("above there is none")
    assert FLOAT16.pattern(float("inf")) == bits(page)


def test_the_slider_moves_the_gradients(open_floats: Opener) -> None:
    """By keyboard: the sentences and the bars are those of the new scale."""
    page = open_floats()
    histogram = gradients.read().together("logits", 5)
    slider = page.get_by_role("slider", name="Loss scale")

    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")

    for sentence in gradients.sentences(histogram, FLOAT16, 3):
        expect(says(page, "gradient-scale")).to_contain_text(sentence)
    expect(slider).to_have_attribute("aria-valuetext", "8 (2³)")
    for fate, outline in gradients.paths(histogram, FLOAT16, 3).items():
        drawn = page.locator(f"gradient-scale .float-{fate}")
        assert outline == drawn.get_attribute("d")
    expect_accessible(page, "gradient-scale", "scaled", ".floats")


def test_place_epoch_and_format_are_chosen(open_floats: Opener) -> None:
    """Each list changes what is counted; limits that are out of sight are not drawn."""
    page = open_floats()
    histogram = gradients.read().together("weights", 1)
    element = page.locator("gradient-scale")

    element.get_by_role("combobox", name="Gradients at").select_option("the weights")
    element.get_by_role("combobox", name="Epoch").select_option("1")
    element.get_by_role("combobox", name="Format").select_option("FP8 E4M3")
    page.get_by_role("slider", name="Loss scale").fill("12")

    for sentence in gradients.sentences(histogram, E4M3, 12):
        expect(says(page, "gradient-scale")).to_contain_text(sentence)
    element.get_by_role("combobox", name="Format").select_option("bfloat16")
    expect(page.locator("line.float-low")).to_be_hidden()
    expect_accessible(page, "gradient-scale", "limits out of sight", ".floats")


def test_gradients_that_do_not_load_are_said_to_be_missing(browser: Browser, course: str) -> None:
    """The sentence says what to do; the next touch tries again."""
    page = browser.new_context().new_page()
    page.goto(f"{course}floats/")
    page.route("**/assets/data/*", lambda route: route.abort())
    page.locator("gradient-scale").scroll_into_view_if_needed()
    slider = page.get_by_role("slider", name="Loss scale")

    slider.press("ArrowRight")
    expect(says(page, "gradient-scale")).to_contain_text("did not load")
    expect_accessible(page, "gradient-scale", "not loaded")
    page.unroute("**/assets/data/*")
    slider.press("ArrowRight")

    expect(says(page, "gradient-scale")).to_contain_text("Times 4 (2²), float16 rounds")
    page.context.close()


def test_print_has_no_controls(open_floats: Opener) -> None:
    """On paper the sentences, drawings and tables are left."""
    page = open_floats()

    page.emulate_media(media="print")

    expect(page.locator("float-switches fieldset")).to_be_hidden()
    expect(page.locator("gradient-scale fieldset")).to_be_hidden()
    expect(page.get_by_role("table")).to_have_count(3)
