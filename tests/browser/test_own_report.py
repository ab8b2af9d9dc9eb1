"""The learner's own report beside the expected one, on the first exercise's page."""

from playwright.sync_api import Page, expect

from tests.browser.states import expect_accessible

PAGE = "lab/exercise-1/"
EXPECTED = (
    "CUDA available: True\nDevice: cuda:0\nGPU name: NVIDIA H100\n"
    "Model on GPU: ✓\nAll parameters on cuda: ✓"
)


def _text(page: Page, site: str) -> None:
    page.goto(site + PAGE)
    page.locator("own-report").scroll_into_view_if_needed()  # it wakes when somebody comes near
    expect(page.get_by_label("What yours printed")).to_be_visible()


def test_a_report_is_compared_and_kept(page: Page, site: str) -> None:
    """What is missing is named, what differs in its value is not, and it is there next time."""
    _text(page, site)
    verdict = page.locator(".report-verdict")
    report = page.get_by_label("What yours printed")
    report.fill("CUDA available: True")
    expect(verdict).to_contain_text("1 of 5 lines are there. The first one missing is: Device: cpu")
    expect_accessible(page, "own-report", "a line is missing")

    report.fill(EXPECTED)
    expect(verdict).to_have_text("All 5 lines of the report are there. Now compare the values.")
    expect_accessible(page, "own-report", "every line is there")
    page.reload()
    page.locator("own-report").scroll_into_view_if_needed()

    expect(page.get_by_label("What yours printed")).to_have_value(EXPECTED)


def test_an_empty_report_is_forgotten(page: Page, site: str) -> None:
    """Clearing the field clears what the browser kept."""
    _text(page, site)
    page.get_by_label("What yours printed").fill("Device: cpu")
    page.get_by_label("What yours printed").fill("")
    page.reload()
    page.locator("own-report").scroll_into_view_if_needed()

    expect(page.get_by_label("What yours printed")).to_have_value("")
    expect(page.locator(".report-verdict")).to_have_text("")


def test_without_javascript_the_expected_report_stands(
    page_without_javascript: Page, site: str
) -> None:
    """Reading needs no script."""
    page_without_javascript.goto(site + PAGE)

    expect(page_without_javascript.locator("own-report pre").first).to_contain_text(
        "CUDA available"
    )
    expect(page_without_javascript.locator("own-report textarea")).to_have_count(0)


def test_the_lesson_s_script_is_compared_as_well(page: Page, site: str) -> None:
    """What another machine prints of it has every line, whatever its numbers are."""
    page.goto(site + "gpu-training/practice/")
    report = page.locator("own-report")
    report.scroll_into_view_if_needed()
    printed = report.locator("pre").inner_text().replace("device: cpu", "device: cuda")

    page.get_by_label("What yours printed").fill(printed.replace("0", "9"))

    expect(page.locator(".report-verdict")).to_contain_text("lines of the report are there. Now")
