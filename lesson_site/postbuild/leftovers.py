"""Markdown that stayed as it was typed, because nothing recognised it."""

from lesson_site.postbuild.documents import Document

LEFTOVERS = {
    "[^": "a footnote that is defined nowhere; define it",
    "][": "a link whose address is defined nowhere; define it",
    "///": "a block that Markdown did not recognise; check its name and its end",
    "--8<--": "a section marker; show code with a lesson-code fence",
    "\\": "TeX that was not understood; write it another way",
    "[[": "a figure that was not filled in; check its name",
}
SHOWN = 40


def leftover_problems(page: Document) -> list[str]:
    """Each leftover in the page's visible text, with the words around it."""
    text = " ".join(page.text.split())
    problems = []
    for mark, advice in LEFTOVERS.items():
        place = text.find(mark)
        if place >= 0:
            around = text[max(0, place - SHOWN // 4) : place + SHOWN]
            problems.append(f"{page.path}: …{around}… is {advice}")
    return problems
