"""The claims in a page's front matter; ``results.claims`` evaluates them."""

import re
from pathlib import Path

import yaml

from results.claims import ClaimError


def claims_of(page: Path) -> list[str]:
    """The claims in a page's front matter.

    Raises:
        ClaimError: If they are no list of strings.
    """
    text = page.read_text(encoding="utf-8")
    found = re.match(r"---\n(.*?)\n---\n", text, flags=re.DOTALL)
    claims = (yaml.safe_load(found[1]) or {}).get("claims", []) if found else []
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise ClaimError(f"{page}: claims must be a list of comparisons")
    return claims
