"""The claims in a page's front matter; ``results.claims`` evaluates them."""

from pathlib import Path

from lesson_site.markdown_source import Source
from results.claims import ClaimError


def claims_of(page: Path) -> list[str]:
    """The claims in a page's front matter.

    Raises:
        ClaimError: If they are not a list of strings.
    """
    claims = Source.read(page).front_matter.get("claims", [])
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise ClaimError(f"{page}: claims must be a list of comparisons")
    return claims
