"""The picture that networks show with a shared link: the page's title under the site's name."""

from lesson_site.sharing.letters import Alphabet, alphabets
from lesson_site.sharing.png import Colour, Pixels, written

WIDTH, HEIGHT = 1200, 630  # what Facebook, LinkedIn, Mastodon and X show uncut
GREEN: Colour = (11, 106, 75)  # --green in docs/assets/style.css
EDGE = 80
ROOM = WIDTH - 2 * EDGE
LINES = 3
LINE_HEIGHT = 104
TITLE_TOP, FOOT_TOP = 196, 534
QUIET = 0.82  # of the ink


class PictureError(ValueError):
    """Words that no picture can show."""


def picture(title: str, name: str, track: str) -> bytes:
    """A PNG file of 1200 by 630 pixels.

    Args:
        title: The page's, in three lines at most.
        name: The site's.
        track: Which part of the site the page belongs to; it may be empty.

    Raises:
        PictureError: If a letter is not among ours, or the title is too long.
    """
    known = alphabets()
    page = Pixels.blank(WIDTH, HEIGHT)
    page.put(known["mark"]["mark"].pixels, EDGE - 10, 62)
    _write(page, name, known["line"], EDGE + 104, 88)
    for number, line in enumerate(lines_of(title)):
        _write(page, line, known["title"], EDGE, TITLE_TOP + number * LINE_HEIGHT)
    _write(page, track, known["line"], EDGE, FOOT_TOP, QUIET)
    return written(page, GREEN)


def lines_of(title: str) -> list[str]:
    """The title, broken where a line is full.

    Raises:
        PictureError: If it needs more lines than there are, or has a letter that is not ours.
    """
    letters = alphabets()["title"]
    lines: list[str] = []
    for word in title.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _width(longer, letters) <= ROOM:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > LINES or any(_width(line, letters) > ROOM for line in lines):
        raise PictureError(f"the title {title!r} is too long for its picture; shorten it")
    return lines


def _width(text: str, letters: Alphabet) -> int:
    unknown = sorted(set(text) - set(letters))
    if unknown:
        raise PictureError(
            f"{text!r} has {unknown[0]!r}, which the pictures of shared links lack; "
            "add it to LETTERS in lesson_site/sharing/drawn_letters.py"
        )
    return sum(letters[letter].advance for letter in text)


def _write(
    page: Pixels, text: str, letters: Alphabet, left: int, top: int, strength: float = 1.0
) -> None:
    _width(text, letters)
    for character in text:
        letter = letters[character]
        page.put(letter.pixels, left + letter.left, top, strength)
        left += letter.advance
