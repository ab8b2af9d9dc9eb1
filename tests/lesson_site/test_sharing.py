"""What other places show of a page: a shared link's words and picture, and a search engine's."""

import io
import json
import re
import shutil
import struct
import sys
from html import unescape
from pathlib import Path

import pytest
import yaml
from PIL import Image

from lesson_site.__main__ import main
from lesson_site.sharing.drawn_letters import write_letters
from lesson_site.sharing.heads import is_public, read_head, share
from lesson_site.sharing.letters import FOLDER, PICTURE, PLACES, alphabets
from lesson_site.sharing.picture import PictureError, lines_of, picture
from lesson_site.sharing.png import Pixels, read, written
from tests.building import REPOSITORY

ADDRESS = "https://lesson.example/gpu/"
PAGE = """<!doctype html>
<html lang="en"><head>
<title>{title} - GPU Training</title>
<meta name="description" content="{description}">
<link rel="canonical" href="{address}">
</head><body></body></html>
"""
TAG = re.compile(r'<meta (?:property|name)="((?:og|twitter):[\w:]+)" content="(.*?)">')
DATA = re.compile(r'<script type="application/ld\+json">(.*?)</script>')


def make_site(folder: Path, address: str) -> Path:
    """A home page, and the starts of the lab and of the mission."""
    for page in ("", "lab/", "mission/"):
        (folder / page).mkdir(exist_ok=True)
        html = PAGE.format(
            title="A &amp; B", description="What &quot;it&quot; is.", address=address + page
        )
        (folder / page / "index.html").write_text(html, encoding="utf-8")
    (folder / "robots.txt").write_text(f"User-agent: *\nSitemap: {address}sitemap.xml\n")
    return folder


def told_by(page: Path) -> dict[str, str]:
    """What a page's head says to networks."""
    return {name: unescape(text) for name, text in TAG.findall(page.read_text(encoding="utf-8"))}


def test_a_shared_link_shows_its_page(tmp_path: Path) -> None:
    """Its title without the site's name, its sentence, its address, and a picture of its own."""
    site = make_site(tmp_path, ADDRESS)

    assert [] == share(site)

    told = told_by(site / "lab/index.html")
    assert "A & B" == told["og:title"]
    assert 'What "it" is.' == told["og:description"]
    assert f"{ADDRESS}lab/" == told["og:url"]
    assert f"{ADDRESS}lab/share.png" == told["og:image"]
    assert "summary_large_image" == told["twitter:card"]
    assert (site / "lab/share.png").is_file()
    assert f"Sitemap: {ADDRESS}sitemap.xml\n" in (site / "robots.txt").read_text()


def test_sharing_twice_changes_nothing(tmp_path: Path) -> None:
    """A second pass finds every page told."""
    site = make_site(tmp_path, ADDRESS)
    share(site)
    once = (site / "index.html").read_text(encoding="utf-8")

    share(site)

    assert once == (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000/", "http://localhost/gpu/", ""])
def test_a_local_site_names_no_address(tmp_path: Path, address: str) -> None:
    """Neither a page's own, nor a picture's, nor the sitemap's; nothing is drawn."""
    site = make_site(tmp_path, address)

    assert [] == share(site)

    page = (site / "lab/index.html").read_text(encoding="utf-8")
    assert {} == told_by(site / "lab/index.html")
    assert "http" not in page
    assert "Sitemap" not in (site / "robots.txt").read_text()
    assert not list(site.rglob("*.png"))


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("https://someone.github.io/lesson/", True),
        ("https://8.8.8.8/", True),
        ("http://127.0.0.1:8000/", False),
        ("http://[::1]:8000/", False),
        ("http://0.0.0.0:8000/", False),
        ("http://192.168.0.7/", False),
        ("http://localhost:8000/", False),
        ("http://lesson.localhost/", False),
        ("http://desk.local/", False),
        ("http://desk/", False),
        ("", False),
    ],
)
def test_an_address_is_public_or_not(address: str, public: bool) -> None:
    """Public is what machines elsewhere can ask for."""
    assert public == is_public(address)


def test_the_start_of_a_track_is_a_learning_resource(tmp_path: Path) -> None:
    """Its kind is its front matter's, authors and licences those of the citation."""
    site = make_site(tmp_path, ADDRESS)
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))

    share(site)

    [data] = DATA.findall((site / "lab/index.html").read_text(encoding="utf-8"))
    resource = json.loads(data)
    assert "LearningResource" == resource["@type"]
    assert "lab" == resource["learningResourceType"]
    assert "A & B" == resource["name"]
    assert f"{ADDRESS}lab/" == resource["url"]
    assert [each["name"] for each in citation["authors"]] == [
        each["name"] for each in resource["author"]
    ]
    assert len(citation["license"]) == len(resource["license"])


def test_a_page_whose_front_matter_names_no_kind_is_no_resource(tmp_path: Path) -> None:
    """The home page and the mission's start have words and a picture alone."""
    site = make_site(tmp_path, ADDRESS)

    share(site)

    for page in ("index.html", "mission/index.html"):
        assert [] == DATA.findall((site / page).read_text(encoding="utf-8"))


def test_data_cannot_end_its_own_script(tmp_path: Path) -> None:
    """A title that has the end of a script in it is still read whole."""
    site = make_site(tmp_path, ADDRESS)
    page = site / "lab/index.html"
    page.write_text(page.read_text().replace("What", "&lt;/script&gt;"), encoding="utf-8")

    share(site)

    [data] = DATA.findall(page.read_text(encoding="utf-8"))
    assert json.loads(data)["description"].startswith("</script>")


def test_a_title_without_letters_of_ours_is_refused(tmp_path: Path) -> None:
    """The build names the page and the letter, and the page stays as it was."""
    site = make_site(tmp_path, ADDRESS)
    page = site / "lab/index.html"
    page.write_text(page.read_text().replace("A &amp; B", "Ångström"), encoding="utf-8")

    [problem] = share(site)

    assert problem.startswith("lab/index.html: 'Ångström' has 'Å'")
    assert {} == told_by(page)


def test_every_title_fits_its_picture(built_site: Path) -> None:
    """In three lines, with the letters that there are."""
    titles = [
        read_head(page.read_text(encoding="utf-8")).title for page in built_site.rglob("*.html")
    ]

    assert len(titles) > 80
    for title in titles:
        assert " ".join(lines_of(title.removesuffix(" - GPU Training"))) in title


def test_a_title_is_broken_between_words() -> None:
    """A line takes as many as fit."""
    lines = lines_of("Where do I get a GPU, and which one do I have?")

    assert ["Where do I get a GPU, and", "which one do I have?"] == lines


@pytest.mark.parametrize("title", ["a word " * 40, "W" * 40])
def test_too_long_a_title_is_refused(title: str) -> None:
    """Rather than cut, whether it has too many lines or one word is too wide."""
    with pytest.raises(PictureError, match="too long for its picture; shorten it"):
        lines_of(title)


def test_a_picture_has_the_size_that_networks_ask_for() -> None:
    """1200 by 630 pixels, with ink where the title is and none at its edges."""
    file = picture("Losses", "GPU Training", "Foundations")

    pixels = read(file)

    assert (1200, 630) == struct.unpack_from(">II", file, 16)
    assert any(any(row) for row in pixels.rows[196:300])
    assert not any(any(row) for row in pixels.rows[:60] + pixels.rows[-30:])
    assert not any(any(row[:60]) or any(row[-60:]) for row in pixels.rows)


def test_pictures_differ_by_title_and_track() -> None:
    """Both are drawn."""
    files = {picture(title, "GPU Training", track) for title in "AB" for track in ("Lab", "")}

    assert 4 == len(files)


def test_a_file_is_read_as_it_was_written() -> None:
    """The same bytes a pixel come back, in shades and in grey."""
    pixels = Pixels([bytearray([0, 7, 255]), bytearray([1, 2, 3])])

    assert pixels == read(written(pixels))
    assert pixels == read(written(pixels, paper=(1, 2, 3)))


def test_a_file_of_another_kind_is_refused() -> None:
    """What we did not write may have what we do not read."""
    coloured = io.BytesIO()
    Image.new("RGB", (2, 2)).save(coloured, "PNG")

    with pytest.raises(ValueError, match="is not a PNG file"):
        read(b"GIF89a")
    with pytest.raises(ValueError, match="of another kind"):
        read(coloured.getvalue())


def test_ink_is_laid_over_ink() -> None:
    """The darker stays, and what falls outside is left out."""
    page = Pixels([bytearray([0, 100, 0]), bytearray(3)])

    page.put(Pixels([bytearray([50, 200]), bytearray([10, 20])]), 1, 0)
    page.put(Pixels([bytearray([9, 9]), bytearray([80, 80])]), -1, -1, strength=0.5)

    assert [bytearray([40, 100, 200]), bytearray([0, 10, 20])] == page.rows


def test_the_letters_are_those_that_pillow_draws(tmp_path: Path) -> None:
    """Drawn again, every pixel is the same; a new Pillow may need `lesson_site letters`."""
    write_letters(tmp_path)

    assert alphabets(FOLDER) == alphabets(tmp_path)
    assert (FOLDER / PLACES).read_text() == (tmp_path / PLACES).read_text()


def test_letters_lie_where_their_places_say(tmp_path: Path) -> None:
    """A changed picture gives other letters."""
    for name in (PICTURE, PLACES):
        shutil.copy(FOLDER / name, tmp_path)
    pixels = read((tmp_path / PICTURE).read_bytes())
    pixels.rows[40][5] ^= 255
    (tmp_path / PICTURE).write_bytes(written(pixels))

    assert alphabets(FOLDER)["title"]["a"] != alphabets(tmp_path)["title"]["a"]
    assert alphabets(FOLDER)["line"] == alphabets(tmp_path)["line"]


def test_without_pillow_letters_say_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command draws nothing and says what to install."""
    monkeypatch.setitem(sys.modules, "lesson_site.sharing.drawn_letters", None)

    assert 2 == main(["letters"])

    assert "error: drawing letters needs Pillow" in capsys.readouterr().err
