"""PNG files of one byte a pixel, written and read with the standard library alone.

The format is the PNG specification's, third edition (W3C, 2025); of it, this is the part without
filters and without interlacing.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import Self

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, PALETTE = 0, 3  # the specification's numbers of two colour types
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Pixels:
    """A picture.

    Attributes:
        rows: From the top; each has one byte a pixel, from 0 for paper to 255 for ink.
    """

    rows: list[bytearray]

    @classmethod
    def blank(cls, width: int, height: int) -> Self:
        """Paper alone."""
        return cls([bytearray(width) for _ in range(height)])

    @property
    def width(self) -> int:
        """In pixels."""
        return len(self.rows[0])

    def cut(self, left: int, width: int, top: int, height: int) -> "Pixels":
        """A part of it, as a picture of its own."""
        return Pixels([row[left : left + width] for row in self.rows[top : top + height]])

    def put(self, other: "Pixels", left: int, top: int, strength: float = 1.0) -> None:
        """Lay another picture over this one; the darker ink stays, what is outside is left out.

        Args:
            other: What to lay.
            left: Where its left edge comes.
            top: Where its upper edge comes.
            strength: How much of its ink is taken, from 0 to 1.
        """
        begin, end = max(0, left), min(self.width, left + other.width)
        weaker = bytes(round(level * strength) for level in range(256))
        for row, new in zip(self.rows[max(0, top) :], other.rows[max(0, -top) :], strict=False):
            ink = new[begin - left : end - left].translate(weaker)
            if any(ink):
                row[begin:end] = bytes(map(max, row[begin:end], ink))


def written(pixels: Pixels, paper: Colour | None = None, ink: Colour = (255, 255, 255)) -> bytes:
    """The file: in shades from ``paper`` to ``ink``, or in grey where no paper is named."""
    kind = GREY if paper is None else PALETTE
    head = struct.pack(">IIBBBBB", pixels.width, len(pixels.rows), 8, kind, 0, 0, 0)
    parts = [_chunk(b"IHDR", head)]
    if paper is not None:
        shades = [
            round(a + (b - a) * level / 255)
            for level in range(256)
            for a, b in zip(paper, ink, strict=True)
        ]
        parts.append(_chunk(b"PLTE", bytes(shades)))
    lines = b"".join(b"\0" + row for row in pixels.rows)
    parts += [_chunk(b"IDAT", zlib.compress(lines)), _chunk(b"IEND", b"")]
    return b"".join([SIGNATURE, *parts])


def read(file: bytes) -> Pixels:
    """What ``written`` made a file of.

    Raises:
        ValueError: If the file is none of ours.
    """
    if not file.startswith(SIGNATURE):
        raise ValueError("it is not a PNG file")
    chunks: dict[bytes, bytes] = {}
    at = len(SIGNATURE)
    while at < len(file):
        (length,) = struct.unpack_from(">I", file, at)
        name = file[at + 4 : at + 8]
        chunks[name] = chunks.get(name, b"") + file[at + 8 : at + 8 + length]
        at += length + 12  # with its length, its name and its checksum
    width, height, depth, kind = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    lines = zlib.decompress(chunks[b"IDAT"])
    step = width + 1
    plain = depth == 8 and kind in (GREY, PALETTE) and len(lines) == step * height
    if not plain or any(lines[::step]):
        raise ValueError("it is a PNG file of another kind, or with filters")
    return Pixels([bytearray(lines[y * step + 1 : (y + 1) * step]) for y in range(height)])


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)
