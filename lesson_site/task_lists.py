"""Task lists that a browser can keep: ``<kept-tasks>`` around a list of ``- [ ] **auto** text``.

An author writes::

    <kept-tasks id="lab-step-1" markdown>

    - [ ] **auto** The folder exists.
    - [ ] **self** You read the message.

    </kept-tasks>

Each item becomes a labelled checkbox that nobody can tick; the custom element ``kept-tasks`` wakes
them up. Ticks are kept under ids made of the list's id and the item's words, so that items can be
moved; anyone who changes the words of an item asks learners to tick it again.
"""

import re
import xml.etree.ElementTree as etree
from typing import Any

from markdown import Extension, Markdown
from markdown.extensions.toc import slugify
from markdown.treeprocessors import Treeprocessor

from lesson_site.errors import PageError
from lesson_site.page import current_page, line_of

TAG = "kept-tasks"
HOLDERS = (TAG, "quiz-summary", "own-report")  # what may have the attribute `markdown`
BOX = re.compile(r"^\s*\[ \]\s+")
BLOCKS = {"ul", "ol", "p", "pre", "div", "figure", "table", "details", "blockquote"}
LONGEST_SLUG = 60


class TaskLists(Treeprocessor):
    """Turn the items of each ``<kept-tasks>`` into checkboxes with labels."""

    def run(self, root: etree.Element) -> None:
        """Rebuild the items in place; stops the build where a list has no id or no task."""
        page = current_page(self.md)
        for tasks in root.iter(TAG):
            identity = tasks.get("id", "")
            try:
                _complete(tasks, identity)
            except PageError as problem:
                where = line_of(page, f'id="{identity}"' if identity else f"<{TAG}")
                raise PageError(f"{where}: {TAG}: {problem}") from problem


def _complete(tasks: etree.Element, identity: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", identity):
        raise PageError(f"id is {identity!r}; give one in small letters, like lab-step-1")
    taken: set[str] = set()
    items = [item for item in tasks.iter("li") if BOX.match(_first(item).text or "")]
    for item in items:
        name = f"{identity}-{slugify(_words(item), '-')[:LONGEST_SLUG].strip('-')}"
        if name in taken:
            raise PageError(f"two items begin with the same words, {_words(item)!r}; change one")
        taken.add(name)
        _label(_first(item), name)
    if not items:
        raise PageError("has no task; write items as `- [ ] text`, with an empty line before them")


def _first(item: etree.Element) -> etree.Element:
    """What holds an item's text: itself, or its paragraph where the list has empty lines."""
    loose = len(item) and item[0].tag == "p" and not (item.text or "").strip()
    return item[0] if loose else item


def _words(item: etree.Element) -> str:
    return BOX.sub("", "".join(_first(item).itertext())).strip()


def _label(holder: etree.Element, name: str) -> None:
    """Put a checkbox and its label around the text of an item, up to the first block in it."""
    label = etree.Element("label")
    box = etree.SubElement(label, "input", {"type": "checkbox", "id": name, "disabled": "disabled"})
    text = etree.SubElement(label, "span")
    box.tail = " "
    text.text = BOX.sub("", holder.text or "")
    for child in list(holder):
        if child.tag in BLOCKS:
            break
        holder.remove(child)
        text.append(child)
    holder.text = ""
    holder.insert(0, label)


class TaskListExtension(Extension):
    """Registers the above."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """Let our elements hold Markdown, and run after the text has become HTML."""
        md.block_level_elements.extend(HOLDERS)
        md.treeprocessors.register(TaskLists(md), "lesson-task-lists", 3)


def makeExtension(**options: Any) -> TaskListExtension:  # noqa: N802 - Python-Markdown's name
    """Let ``markdown_extensions: [lesson_site.task_lists]`` find the extension."""
    return TaskListExtension(**options)
