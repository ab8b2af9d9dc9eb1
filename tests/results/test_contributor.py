"""Under which names people are shown, and what of a file may lead to them."""

import re
from typing import Any

import pytest

from results.contributor import folder_of, machine_of, problem_of_name, problems, shown

LENGTH = "a name has 2 to 24 characters"
LETTERS = (
    "a name begins with a letter, and after it are letters, digits, spaces, hyphens, "
    "apostrophes and full stops"
)
USUAL = "a name has single spaces within it, and letters in their usual form"
MACHINE = "this looks like the name of a machine; a full stop has a space behind it"
ACCENTS = "three accents are on one letter"
STROKE = "\N{COMBINING SHORT STROKE OVERLAY}"
VOWEL = "\N{DEVANAGARI VOWEL SIGN AA}"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", LENGTH),
        ("A", LENGTH),
        ("A" * 25, LENGTH),
        ("1st", LETTERS),
        ("-Ada", LETTERS),
        (f"{STROKE}Ada", LETTERS),
        *((f"Ada{letter}", LETTERS) for letter in "&/<>\\@:|\n\u202e\u200b🚀½_,"),
        ("Ada  L", USUAL),
        ("Ada ", USUAL),
        ("e\N{COMBINING ACUTE ACCENT}ve", USUAL),
        ("\N{FULLWIDTH LATIN CAPITAL LETTER A}da", USUAL),
        ("Ada  on localhost", USUAL),
        ("J.Doe", MACHINE),
        ("gpu.lab. example", MACHINE),
        ("ip-172-31-4-12", MACHINE),
        ("ip 1-2-3-4", MACHINE),
        ("localhost", MACHINE),
        ("my LocalHost", MACHINE),
        ("DESKTOP-4F7K2", MACHINE),
        ("Laptop-abcde", MACHINE),
        (f"localhost Z{STROKE * 3}", MACHINE),
        (f"Z{STROKE * 3}a", ACCENTS),
        (f"aZ{STROKE * 3}", ACCENTS),
        (f"a\N{DEVANAGARI LETTER KA}{VOWEL * 3}", ACCENTS),
    ],
)
def test_what_is_no_name_is_refused_with_the_reason(name: str, problem: str) -> None:
    """Its length, its letters, how they are written, what looks like a machine; one at a time."""
    assert problem == problem_of_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("Al", "A" * 24, "R2", "J. R. Doe", "Ada L.", "O'Neill", "O’Neill", "Anna-Lena"),
        *("Éve", "Łukasz Żółw", "Strauß", "李雷", "שרה", "علي", "A٣", "Nguyễn", "अनिता"),
        *("ip-172-31-4", "desktop-abcd", "laptop abcde", "local host", "hostlocal"),
        f"Z{STROKE * 2}a{STROKE}",
        f"\N{DEVANAGARI LETTER KA}{VOWEL * 2}",
    ],
)
def test_people_may_be_called_as_they_are(name: str) -> None:
    """In any script, up to two accents on a letter."""
    assert "" == problem_of_name(name)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("Ada", "ada"),
        ("J. R. Doe", "j-r-doe"),
        ("O’Neill", "o-neill"),
        ("Ada L.", "ada-l"),
        ("R2", "r2"),
        ("Max", "max"),
        ("Xi-", "xi"),
        ("Éve", "eve"),
        ("STRAUß", "strauss"),
        ("Łukasz Żółw", "u142ukasz-zou142w"),
        ("李雷", "u674eu96f7"),
        ("A٣", "au663"),
        (f"\N{DEVANAGARI LETTER KA}{VOWEL}", "u915"),
    ],
)
def test_a_folder_is_called_after_the_name_in_plain_letters(name: str, folder: str) -> None:
    """Without accents; a letter that is not in ASCII has its number."""
    assert folder == folder_of(name)


@pytest.mark.parametrize("name", ["שרה", "علي", "A٣"])
def test_a_name_from_right_to_left_keeps_to_itself(name: str) -> None:
    """In Hebrew, in Arabic, or with Arabic digits; others are as they are."""
    assert f"\u2068{name}\u2069" == shown(name)
    assert "Łukasz 李雷" == shown("Łukasz 李雷")


@pytest.mark.parametrize(
    ("provenance", "machine"),
    [
        ({"gpu": None, "cores": 16}, "cpu-16-cores"),
        ({"gpu": "NVIDIA A100-SXM4 (80GB)", "cores": 16}, "nvidia-a100-sxm4-80gb"),
        ({"gpu": "(Xe Max)", "cores": 16}, "xe-max"),
        ({"gpu": "made-up graphics", "cores": 8, "engine": "onnx"}, "browser"),
    ],
)
def test_a_machine_is_called_after_its_model(provenance: dict[str, Any], machine: str) -> None:
    """Every browser alike."""
    assert machine == machine_of(provenance)


def content(**provenance: object) -> dict[str, Any]:
    """A file of a machine, of which problems look at these parts alone."""
    usual = {"machine": "cpu-2-cores", "gpu": None, "cores": 2, "quick": False, "precision": {}}
    return {
        "contributor": "Ada",
        "provenance": {**usual, **provenance},
        "cases": {"loops": {"all": {"entries": {}}}},
    }


@pytest.mark.parametrize(
    "text",
    [
        *("ada@lab.x", "by ada@lab.example", "10.0.0.1", "at 192.168.100.200 there"),
        *("gpu1.lab.example", "a-b.c-d.e-f", "GPU1.LAB.EXAMPLE", "at a1.b2.c3"),
        *("box.local", "box.LOCALDOMAIN", "my-box.lan there", "x.internal", "x.home", "x.corp"),
    ],
)
def test_what_looks_like_an_address_is_refused(text: str) -> None:
    """Of a person, or of a machine in numbers or words; the sentence names the place."""
    assert ["at provenance.processor: it looks like an address; write the model alone"] == list(
        problems(content(processor=text))
    )


@pytest.mark.parametrize(
    "text",
    [
        *("A processor", "2.15.0+cu132", "3.11.7", "1.2.3.4.5", ".1.2.3.4", "1234.1.1.1"),
        *("1.1.1.1234", "Intel(R) i7-9700 @ 3.00GHz", "lab.example", "x.locals", "local", "@x.y"),
        *("a@b", "a@b c.d", "a.b.1", "1.1.1", "1.b.c", "x.homes"),
    ],
)
def test_what_looks_like_a_model_or_a_version_is_none(text: str) -> None:
    """Points and numbers alone make no address."""
    assert [] == list(problems(content(processor=text)))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"contributor": "A"}, f"at contributor: {LENGTH}; choose another name"),
        (
            content(machine="adas-laptop"),
            "at provenance.machine: it is not called after its model; write cpu-2-cores",
        ),
        (
            content(quick=True),
            "at provenance.quick: it is a quick trial; measure without --quick",
        ),
        *(
            (
                {"cases": {"loops": {"all": {"entries": {}}, "b": {word: "on ada1"}}}},
                f"at cases.loops.b.{word}: its words may tell of your machine; "
                "`python -m benchmarks.contribute` leaves them out",
            )
            for word in ("skipped", "incomplete")
        ),
        ({"cases": {}}, "at cases: nothing was measured; run the benchmarks first"),
        ({"cases": {"loops": {}}}, "at cases: nothing was measured; run the benchmarks first"),
    ],
)
def test_what_keeps_a_file_from_being_shown_is_said(change: dict[str, Any], problem: str) -> None:
    """With its place and what to do."""
    assert [] == list(problems(content()))
    assert [problem] == list(problems(content() | change))


def test_every_problem_is_said() -> None:
    """In the order of the file, but for the two words of one part."""
    wrong = content(machine="x", quick=True, processor="a.local", system="b.local")
    told = {"skipped": "-", "incomplete": "-"}
    wrong["cases"] = {"loops": {"a": told, "b": told}, "copies": {"c": told}}
    wrong["contributor"] = "A"

    places = [re.match(r"at ([\w.]+): ", problem)[1] for problem in problems(wrong)]

    of = ("machine", "quick", "processor", "system")
    assert ["contributor", *(f"provenance.{key}" for key in of)] == places[:5]
    words = [f"cases.{part}.{word}" for part in ("loops.a", "loops.b", "copies.c") for word in told]
    assert sorted(words) == sorted(places[5:])
