"""Code and pages belong together: no section is shown nowhere."""

from lesson_site.snippets import CODE_FOLDER, PAGES, orphans, shown_sections
from tests.building import REPOSITORY


def test_every_section_is_shown_on_a_page() -> None:
    """A section that no page shows is deleted, or put on a page."""
    found = orphans(REPOSITORY / PAGES, REPOSITORY / CODE_FOLDER)

    assert [] == found


def test_pages_show_sections() -> None:
    """The search for shown sections finds what there is: the comparison of the first two loops."""
    shown = {section.target for section in shown_sections(REPOSITORY / PAGES)}

    assert {"gpu_training/loop_cpu.py:loop", "gpu_training/loop_gpu.py:loop"} <= shown
