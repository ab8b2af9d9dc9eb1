"""Runs of eight words as numbers, to see whether a text was copied without carrying the other."""

import hashlib
import re
from pathlib import Path

RUN_WORDS = 8
HASH_BYTES = 4


def hashes_of(text: str) -> list[bytes]:
    """A hash of each run of eight words, whatever stands between them."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    runs = (" ".join(words[i : i + RUN_WORDS]) for i in range(len(words) - RUN_WORDS + 1))
    return [hashlib.blake2b(run.encode(), digest_size=HASH_BYTES).digest() for run in runs]


def pack(texts: list[str]) -> bytes:
    """The hashes of all texts, each once, in order."""
    return b"".join(sorted({run for text in texts for run in hashes_of(text)}))


def shared_part(text: str, packed: Path) -> float:
    """Which part of a text's runs occurs in the packed texts."""
    content = packed.read_bytes()
    known = {content[i : i + HASH_BYTES] for i in range(0, len(content), HASH_BYTES)}
    runs = hashes_of(text)
    return sum(run in known for run in runs) / max(1, len(runs))
