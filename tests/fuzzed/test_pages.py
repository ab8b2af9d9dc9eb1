"""Whatever a fence or a check says, it becomes HTML, or one sentence says where it is wrong."""

import re
from functools import cache

import pytest
from hypothesis import strategies as st
from markdown import Markdown
from mkdocs.config import load_config

from lesson_site.errors import PageError
from lesson_site.markdown_source import PAGES
from tests.building import REPOSITORY
from tests.fuzzed.by_chance import by_chance
from tests.fuzzed.damage import damaged

BLOCK = re.compile(r"^```(lesson-[a-z-]+).*?^```$", re.MULTILINE | re.DOTALL)
CHECK = re.compile(r"^////+ check .*?^////+$", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"page\.md(:\d+)?: .{9,}")
LONGEST = 3000  # characters of a block; longer ones have nothing that shorter ones lack


@cache
def blocks() -> dict[str, list[str]]:
    """Some short blocks of each kind that pages have."""
    found: dict[str, list[str]] = {}
    for page in sorted((REPOSITORY / PAGES).rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            found.setdefault(block[1], []).append(block[0])
        for check in CHECK.finditer(text):
            if kind := re.search(r"^ +kind: (\w+)$", check[0], re.MULTILINE):
                found.setdefault(f"check of kind {kind[1]}", []).append(check[0])
    return {kind: sorted(set(all_of), key=len)[:3] for kind, all_of in found.items()}


def kinds() -> list[str]:
    """The kinds of blocks that pages have."""
    return sorted(kind for kind, some in blocks().items() if len(some[0]) < LONGEST)


@pytest.fixture(scope="module")
def markdown() -> Markdown:
    """What turns a page into HTML, as the site is set up."""
    config = load_config(str(REPOSITORY / "mkdocs.yml"))
    return Markdown(extensions=config.markdown_extensions, extension_configs=config.mdx_configs)


def test_a_damaged_block_is_drawn_or_refused(
    markdown: Markdown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other error leaves the build, and that one names the page."""
    monkeypatch.chdir(REPOSITORY)
    sound = st.sampled_from([text for kind in kinds() for text in blocks()[kind]])

    @by_chance(sound.flatmap(damaged))
    def convert(text: str) -> None:
        said = ""
        try:
            markdown.reset()
            assert markdown.convert(f"# Title\n\n{text}\n") is not None
        except PageError as problem:
            said = str(problem)
        assert not said or SAID.fullmatch(said)

    convert()


@pytest.mark.parametrize("kind", kinds())
def test_a_sound_block_is_drawn(
    kind: str, markdown: Markdown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is damaged here could be drawn before."""
    monkeypatch.chdir(REPOSITORY)
    markdown.reset()

    html = markdown.convert(f"# Title\n\n{blocks()[kind][0]}\n")

    assert "```" not in html
    assert len(html) > 100
