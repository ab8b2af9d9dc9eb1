"""The table of memory as a reader uses it: by keyboard, on paper, and without JavaScript."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import small_site
from tests.browser.states import expect_accessible

TABLE = """\
# Memory { #memory }

```lesson-memory-table show="parts"
```

[Start](index.md)
"""
STANDING = ["102.2", "102.2", "1.00"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A small site with the table."""
    pages = {"index.md": "# Start\n\n[Memory](memory.md)\n", "memory.md": TABLE}
    with small_site(tmp_path_factory.mktemp("memory"), pages, below="course") as course:
        yield course


Opener = Callable[..., Page]


@pytest.fixture
def open_table(new_window: Opener, course: str) -> Opener:
    """Open the table in a fresh window, and wait for it."""

    def opener(**options: object) -> Page:
        page = new_window(**options)
        page.goto(f"{course}memory/")
        page.locator("memory-table").scroll_into_view_if_needed()
        if options.get("java_script_enabled", True):
            expect(page.locator("memory-table select")).to_have_count(3)
        return page

    return opener


def row(page: Page, name: str) -> list[str]:
    """The cells of a row that can be seen."""
    cells = page.locator("memory-table tr", has_text=name).locator("td:not([hidden])")
    return cells.all_text_contents()


def test_without_javascript_the_standing_table_reads(open_table: Opener) -> None:
    """Batch 32 with Adam, both precisions and their ratio, and no list that does nothing."""
    page = open_table(java_script_enabled=False)

    expect(page.locator("memory-table caption")).to_contain_text("batch 32, Adam")
    expect(page.locator("memory-table select")).to_have_count(0)
    assert row(page, "Weights") == STANDING


def test_the_lists_stand_where_the_table_does(open_table: Opener) -> None:
    """Nothing changes until something is chosen."""
    page = open_table()

    expect(page.get_by_label("Precision")).to_have_value("both")
    expect(page.get_by_label("Optimizer")).to_have_value("Adam")
    expect(page.get_by_label("Batch size")).to_have_value("32")
    expect(page.get_by_role("group", name="The step")).to_be_visible()
    assert row(page, "Weights") == STANDING


def test_choosing_by_keyboard_alone(open_table: Opener) -> None:
    """Tab reaches each list, an arrow chooses, and the live sentence says what came of it."""
    page = open_table()
    optimizer = page.get_by_label("Optimizer")
    for _ in range(60):
        page.keyboard.press("Tab")
        if optimizer.evaluate("list => list === document.activeElement"):
            break

    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")

    expect(optimizer).to_have_value("SGD with momentum")
    expect(page.get_by_label("Batch size")).to_have_value("8")
    expect(page.locator("memory-table caption")).to_contain_text("batch 8, SGD with momentum")
    expect(page.get_by_role("status").filter(has_text="ResNet-50")).to_contain_text("the peak is")
    assert row(page, "Optimizer state") == STANDING


def test_one_precision_hides_the_other_column(open_table: Opener) -> None:
    """Head and cells go together, and come back."""
    page = open_table()
    precision = page.get_by_label("Precision")

    precision.select_option("autocast")

    assert row(page, "weight copies") == ["51.0"]
    expect(page.locator("memory-table thead th:visible")).to_have_text(["Part", "autocast"])
    expect(page.locator(".memory-says")).to_contain_text("autocast: the parts add up to")
    expect_accessible(page, "memory-table", "one precision")
    precision.select_option("both")
    assert row(page, "Weights") == STANDING
    expect_accessible(page, "memory-table", "both precisions")


def test_the_table_survives_instant_navigation(open_table: Opener) -> None:
    """Coming back, the lists are there once."""
    page = open_table()

    page.get_by_role("article").get_by_role("link", name="Start").click()
    page.get_by_role("article").get_by_role("link", name="Memory").click()

    expect(page.locator("memory-table select")).to_have_count(3)
    page.get_by_label("Batch size").select_option("64")
    expect(page.locator("memory-table caption")).to_contain_text("batch 64")


def test_print_shows_the_chosen_table(open_table: Opener) -> None:
    """On paper there are no lists."""
    page = open_table()
    page.get_by_label("Optimizer").select_option("SGD")

    page.emulate_media(media="print")

    expect(page.locator("memory-table fieldset")).to_be_hidden()
    expect(page.locator("memory-table caption")).to_contain_text("SGD")
    expect(page.locator("memory-table table")).to_be_visible()


def test_the_bars_of_a_batch_need_no_script(page_without_javascript: Page, site: str) -> None:
    """One batch is shown at a time, the one that is chosen."""
    page = page_without_javascript
    page.goto(site + "gpu-training/when-mixed-precision-helps/")
    bars = page.locator(".memory-bars")
    page.locator("details", has=bars).locator("summary").press("Enter")
    expect(bars.locator("figure:visible")).to_have_class("batch-32")

    bars.get_by_label("8", exact=True).check()

    expect(bars.locator("figure:visible")).to_have_class("batch-8")
