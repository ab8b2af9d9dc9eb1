"""The page about the forecast's errors shows every point."""

import re
from dataclasses import replace

import pytest
from markdown import Markdown

from lesson_code.forecast.cards import read_cards
from lesson_site import accuracy as shown
from lesson_site.errors import PageError
from lesson_site.fences import keep_options
from results import accuracy, forecasts, points
from results.own_forecasts import own
from results.store import Store, read_catalogue
from tests.lesson_site.made_up import made_up_entry
from tests.lesson_site.test_figures import result


def test_every_point_is_drawn() -> None:
    """A stroke for each, and inside the plane."""
    drawing = shown.scatter()
    series = re.findall(r'class="points-(seen|unseen|t4)" d="(M[^"]*h0)"/></?', drawing)
    places = [tuple(map(int, m)) for _, d in series for m in re.findall(r"M(-?\d+) (-?\d+)h0", d)]
    inside = [place for place in places if place != (8, 8)]

    assert len(accuracy.training()) <= len(inside)
    assert all(0 <= x <= 1000 and 0 <= y <= 1000 for x, y in inside)


@pytest.mark.parametrize(
    ("show", "count"),
    [
        ("training", len(accuracy.training())),
        ("launches", len(accuracy.launches())),
        ("fits", len(accuracy.fitted())),
        ("occupied", len(points.read("occupied"))),
    ],
)
def test_every_point_is_in_a_table(show: str, count: int) -> None:
    """A row each, what was published and what is forecast marked as such."""
    html = shown.SHOWN[show]()

    assert count == html.count('scope="row"')
    assert count == html.count('data-kind="published"')
    assert html.count('data-kind="forecast"') in (count, 2 * count)


def test_a_point_outside_its_band_says_so() -> None:
    """In words, and each such point."""
    outside = sum(not one.held for one in accuracy.training())

    assert outside == shown.training_table().count(", outside")


def test_what_is_wrong_comes_first() -> None:
    """The batches that the forecast judges wrongly have a table of their own, above the others."""
    wrong, right = shown.fits_table().split("</details>")[:2]

    assert accuracy.fits() - accuracy.fits(right=True) == wrong.count(", wrong")
    assert 0 == right.count(", wrong")


def test_a_source_is_named_once() -> None:
    """Above all of its rows of a table."""
    for table in shown.training_table().split("</details>")[:2]:
        links = re.findall(r'href="([^"]+)"', table)

        assert sorted(set(links)) == sorted(links)


@pytest.mark.parametrize("show", ["training", "launches", "fits", "occupied"])
def test_a_source_is_as_wide_as_its_table(show: str) -> None:
    """Its row spans as many columns as have a head, no more."""
    for table in shown.SHOWN[show]().split("</table>")[:-1]:
        columns = table.count('scope="col"')

        assert {str(columns)} == set(re.findall(r'colspan="(\d+)"', table))


def test_a_published_rate_is_as_printed() -> None:
    """With all of its digits."""
    assert "1,014\N{NO-BREAK SPACE}per second" in shown.training_table()


def test_each_card_with_a_speed_has_a_row_of_hits() -> None:
    """Seen and not seen add up to all points; a T4 and an RTX 4090 lack one of the two."""
    rows = re.findall(r'<tr><th scope="row">([^<]+)</th>(.+?)</tr>', shown.by_card_table())
    cells = {card: re.findall("<td>(.+?)</td>", row) for card, row in rows}
    counts = [re.match(r"(\d+) of (\d+); ", cell) for row in cells.values() for cell in row]
    hits, speeds = (sum(int(one[at]) for one in counts if one) for at in (1, 2))

    assert len({one.point.card for one in accuracy.training()}) == len(rows)
    assert (accuracy.within("training"), accuracy.count("training")) == (hits, speeds)
    assert ("none", "none") == (cells["T4"][0], cells["RTX 4090"][1])
    assert cells["T4"][1].endswith(f"; {accuracy.median_error('t4'):.2f}")


def test_every_rate_has_a_link() -> None:
    """Each row of the cards names its sources."""
    html = shown.cards_table()

    assert all("<a href=" in row for row in html.split('scope="row"')[1:])


def test_memory_is_shown_as_on_the_box_and_as_reported() -> None:
    """Both where they differ."""
    cells = dict(re.findall('row">([^<]+)</th>.+?>([^<>]+)</td><td[^>]*><a', shown.cards_table()))

    assert ("16 (15 reported)", "24", "45") == (
        cells["T4"],
        cells["RTX 3090"],
        re.sub(r".*\((.+) reported\)", r"\1", cells["L40S"]),
    )


def test_the_page_names_the_cards_without_points() -> None:
    """Below the table of those with points, so that each card is in one of the two."""
    compared = {one.point.card for one in accuracy.training()}
    alone = [card.name for id, card in read_cards().items() if id not in compared]

    table, _, below = shown.by_card_table().partition("</table>")

    assert [] != alone
    assert below.endswith(f": {', '.join(alone)}.</p>")
    assert [] == [name for name in alone if f">{name}<" in table]


@pytest.mark.parametrize(
    ("network", "title"),
    [
        ("resnet50", "ResNet-50"),
        ("wide_resnet50_2", "Wide ResNet-50 2"),
        ("bert_large_512", "BERT-large, 512 tokens"),
        ("efficientnet_b0", "EfficientNet-b0"),
        ("alexnet", "alexnet"),
    ],
)
def test_networks_are_spelled(network: str, title: str) -> None:
    """As people write them."""
    assert title == shown.network_title(network)


def test_an_unknown_table_stops_the_build() -> None:
    """The message lists what there is."""
    points_fence = {
        "name": "lesson-points",
        "class": "lesson-points",
        "format": shown.published_points,
        "validator": keep_options,
    }
    md = Markdown(
        extensions=["pymdownx.superfences", "lesson_site.extension"],
        extension_configs={"pymdownx.superfences": {"custom_fences": [points_fence]}},
    )

    with pytest.raises(PageError, match="there is no 'moon'; show takes one of by-card, cards"):
        md.convert('```lesson-points show="moon"\n```')


def test_without_a_gpu_a_sentence_says_what_will_be_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as no result file of ours has a step that was forecast."""
    monkeypatch.setattr(shown, "open_store", lambda: Store(read_catalogue(), []))

    assert shown.own_summary().startswith("<p>No GPU has run")
    assert not shown.own_misses()


def test_measured_steps_are_laid_beside_their_forecasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result file of a known card fills the summary by itself; a miss is in the other table."""
    name = "batch_128.cuda_float32"
    forecast = forecasts.figure("forecast.resnet18_128.float32.t4.time").value
    for factor, missed in ((1.01, 0), (9.0, 1)):
        step = replace(made_up_entry(f"cnn_step:{name}"), samples=(factor * forecast,))
        measured = Store(read_catalogue(), [result({"cnn_step": {name: step}}, gpu="Tesla T4")])
        monkeypatch.setattr(shown, "open_store", lambda measured=measured: measured)

        summary, misses = shown.own_summary(), shown.own_misses()

        assert f"<p>{1 - missed} of 1 training steps" in summary
        assert "; 1 of 1 took longer" in summary
        assert f"<td>{factor:.2f} to {factor:.2f}</td>" in summary
        [one] = own(measured.results)
        assert one.network in summary
        assert missed == misses.count('data-kind="measured"')


def test_the_rule_is_shown_whole() -> None:
    """Each of its lines."""
    assert len(points.rule()) == shown.rule_list().count("<li>")
    assert 4 <= len(points.rule())
