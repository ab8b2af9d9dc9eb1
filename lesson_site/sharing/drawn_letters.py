"""Draws the letters of shared links' pictures, once: the site is built without Pillow.

They are those of Aileron Regular, which Sora Sagano gave to the public (CC0) and which Pillow
carries. After them come the three bars of our mark.
"""

import json
import string
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from PIL import __version__ as PILLOW

from lesson_site.files import write_whole
from lesson_site.sharing.letters import FOLDER, PICTURE, PLACES, Alphabet, Letter
from lesson_site.sharing.png import Pixels, written

LETTERS = string.ascii_letters + string.digits + string.punctuation + " “”‘’·…"
SIZES = {"title": 88, "line": 38}  # in pixels
MARK = 96  # its side, in pixels
# The bars of docs/overrides/.icons/lesson/mark.svg, on a square of 24: left, top, right, bottom.
BARS = [(2.5, 4.5, 14.5, 7.5), (2.5, 10.5, 17.5, 13.5), (7.5, 16.5, 21.5, 19.5)]
FINER = 4  # the mark is drawn that many times larger, and then made smaller


def write_letters(folder: Path = FOLDER) -> list[Path]:
    """Draw every letter again, with Pillow.

    Returns:
        The two files.
    """
    drawn = {name: _drawn(size) for name, size in SIZES.items()}
    drawn["mark"] = {"mark": _mark(MARK)}
    heights = {name: len(next(iter(each.values())).pixels.rows) for name, each in drawn.items()}
    widths = [sum(letter.pixels.width for letter in each.values()) for each in drawn.values()]
    strip = Pixels.blank(max(widths), sum(heights.values()))
    places = {}
    top = 0
    for name, alphabet in drawn.items():
        x = 0
        letters = {}
        for character, letter in alphabet.items():
            strip.put(letter.pixels, x, top)
            letters[character] = (x, letter.pixels.width, letter.left, letter.advance)
            x += letter.pixels.width
        places[name] = {"top": top, "height": heights[name], "letters": letters}
        top += heights[name]
    told = json.dumps({"pillow": PILLOW, "alphabets": places}, ensure_ascii=False)
    return [
        write_whole(folder / PICTURE, written(strip)),
        write_whole(folder / PLACES, f"{told}\n"),
    ]


def _drawn(size: int) -> Alphabet:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    height = sum(font.getmetrics())
    alphabet = {}
    for letter in LETTERS:
        box = font.getbbox(letter)
        left, width = int(box[0]), max(1, int(box[2] - box[0]))
        image = Image.new("L", (width, height))
        ImageDraw.Draw(image).text((-left, 0), letter, font=font, fill=255)
        ink = _pixels(image.tobytes(), width)
        alphabet[letter] = Letter(ink, left, round(font.getlength(letter)))
    return alphabet


def _mark(side: int) -> Letter:
    scale = side * FINER / 24
    image = Image.new("L", (side * FINER, side * FINER))
    for bar in BARS:
        box = [edge * scale for edge in bar]
        ImageDraw.Draw(image).rounded_rectangle(box, radius=1.5 * scale, fill=255)
    small = image.resize((side, side), Image.Resampling.LANCZOS)
    return Letter(_pixels(small.tobytes(), side), 0, side)


def _pixels(levels: bytes, width: int) -> Pixels:
    return Pixels([bytearray(levels[at : at + width]) for at in range(0, len(levels), width)])
