"""The letters of shared links' pictures: drawn once, and kept beside this file as a picture.

So the site is built without a font and without a library that draws; ``drawn_letters`` made them.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lesson_site.sharing.png import Pixels, read

FOLDER = Path(__file__).parent
PICTURE, PLACES = "letters.png", "letters.json"


@dataclass(frozen=True)
class Letter:
    """One letter of one size.

    Attributes:
        pixels: Its ink, as high as a line.
        left: How far right of the pen its ink begins; negative where it begins before it.
        advance: How far it moves the pen.
    """

    pixels: Pixels
    left: int
    advance: int


Alphabet = dict[str, Letter]


@cache
def alphabets(folder: Path = FOLDER) -> dict[str, Alphabet]:
    """Every letter, by the name of its size; ``mark`` is an alphabet of one letter."""
    strip = read((folder / PICTURE).read_bytes())
    places = json.loads((folder / PLACES).read_text(encoding="utf-8"))
    return {
        name: {
            letter: Letter(strip.cut(x, width, top, alphabet["height"]), left, advance)
            for letter, (x, width, left, advance) in alphabet["letters"].items()
        }
        for name, alphabet in places["alphabets"].items()
        for top in [alphabet["top"]]
    }
