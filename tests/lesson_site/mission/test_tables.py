"""The mission's tables: the figures that they must show, and their HTML."""

import re
from html.parser import HTMLParser

import pytest

from lesson_site.mission.fence import PARTS, TABLES
from lesson_site.mission.memory_tables import laptop_verdicts
from lesson_site.mission.reflections import reflections
from lesson_site.mission.rows import laptop_rows
from lesson_site.mission.table import NO_BREAK, Table, table_html

FOUND = {name: table() for name, table in TABLES.items()}

# Rows as they are known from the literature and the textbook, by table and by the row's heading.
EXPECTED = {
    "table-static": {
        "SGD": ["12.46 GB (11.61 GiB)", "12.0 GB", "6.23 GB (5.80 GiB)", "6.0 GB"],
        "Momentum": ["18.69 GB (17.41 GiB)", "18.0 GB", "9.35 GB (8.70 GiB)", "9.0 GB"],
        "Adam": ["24.92 GB (23.21 GiB)", "24.0 GB", "12.46 GB (11.61 GiB)", "12.0 GB"],
    },
    "table-bytes": {
        "Parameters": ["4", "4", "2", "2"],
        "Gradients": ["4", "4", "2", "2"],
        "FP32 master copy": ["–", "–", "4", "–"],
        "16-bit weight copies, transient": ["–", "2", "–", "–"],
        "Static, SGD": ["8", "8", "8", "4"],
        "Static, Momentum": ["12", "12", "12", "6"],
        "Static, Adam": ["16", "16", "16", "8"],
    },
    "table-coefficients": {
        "ZeRO-mixed": ["34", "5", "2", "5", "4"],
        "Pure 16-bit": ["34", "5", "2", "5", "2"],
        "Autocast": ["38", "7", "4", "7", "6"],
        "FP32": ["66", "9", "4", "9", "4"],
    },
    "table-activations": {
        "FP32, store everything": [
            *("16,735,670,272", "16.74", "66.94", "133.89", "267.77", "535.54", "1,071.08")
        ],
        "Autocast, selective": [
            *("3,308,689,408", "3.31", "13.23", "26.47", "52.94", "105.88", "211.76")
        ],
        "ZeRO-mixed, full recomputation": [
            *("558,108,672", "0.56", "2.23", "4.46", "8.93", "17.86", "35.72")
        ],
        "Pure 16-bit, store everything": [
            *("9,076,443,136", "9.08", "36.31", "72.61", "145.22", "290.45", "580.89")
        ],
    },
    "table-optimizers": {
        "Parameters + optimizer state, relative to parameters (the textbook’s multiplier)": [
            *("1×", "2×", "3×")
        ],
        "Static total, relative to SGD’s static total": ["1×", "1.5×", "2×"],
        "Static total, relative to the FP32 weights": ["2×", "3×", "4×"],
        "Static total of GPT-2 XL": ["12.46 GB", "18.69 GB", "24.92 GB"],
        "Steps to converge, GPT-2 (the textbook)": [
            "not reported; no better than momentum",
            "about 150,000 or more",
            "about 50,000",
        ],
    },
    "table-precision": {
        "Bytes per element of a tensor kept in 16 bits": ["4", "2 → 2×", "2 → 2×", "2 → 2×"],
        "Parameters + gradients (+ master copy), B/parameter": [
            *("8", "8 → 1.0×", "8 → 1.0×", "4 → 2×")
        ],
        "Adam state, B/parameter": ["8", "8 → 1.0×", "8 → 1.0×", "4 → 2×"],
        "Static total, B/parameter": ["16", "16 → 1.0×", "16 → 1.0×", "8 → 2×"],
        "Activations, batch 1, store everything": [
            *("16.74 GB", "12.12 GB → 1.38×", "9.18 GB → 1.82×", "9.08 GB → 1.84×")
        ],
        "Ledger total, batch 4, store everything": [
            *("91.9 GB", "76.5 GB → 1.20×", "61.6 GB → 1.49×", "48.8 GB → 1.88×")
        ],
        "The textbook’s own ledger": ["89 GB", "–", "56.5 GB → 1.58×", "–"],
    },
    "table-checkpointing": {
        "Activations, 16-bit, a checkpoint for every layer": ["4×", "9.18 → 0.558 GB, 16.4×"],
        "Activations, 16-bit, a checkpoint every 4 layers": ["4×", "9.18 → 1.000 GB, 9.2×"],
        "Activations, 16-bit, a checkpoint every 12 layers": ["4×", "9.18 → 2.468 GB, 3.7×"],
        "Activations, if a layer’s input cost as much as its inside, every 7 layers": [
            *("4×", "3.5×, 71 % saved")
        ],
        "Activations, Autocast, a checkpoint for every layer": ["4×", "12.12 → 0.881 GB, 13.8×"],
        "Activations, FP32, a checkpoint for every layer": ["4×", "16.74 → 0.879 GB, 19.0×"],
        "Compute, layers alone": ["+33 %", "+33.3 %"],
        "Compute, whole model, output projection not recomputed": ["+33 %", "+31.8 %"],
        "Ledger with Adam, FP32, store everything, batch 4": ["89.0 GB", "91.9 GB"],
        "Ledger with Adam, Autocast, store everything, batch 4": ["56.5 GB", "76.5 GB"],
        "Ledger with Adam, ZeRO-mixed, store everything, batch 4": ["56.5 GB", "61.6 GB"],
        "Ledger with Adam, Autocast, full recomputation, batch 4": ["32.1 GB", "31.6 GB"],
        "Ledger with Adam, ZeRO-mixed, full recomputation, batch 4": ["32.1 GB", "27.2 GB"],
    },
    "table-largest-batch": {
        "FP32, store everything": ["3", "3"],
        "FP32, selective": ["10", "10"],
        "FP32, full recomputation": ["62", "64"],
        "Autocast, store everything": ["4", "4"],
        "Autocast, selective": ["15", "16"],
        "Autocast, full recomputation": ["59", "72"],
    },
    "table-combinations": {
        "Nothing": [
            "40.0",
            "25.0",
            "35.0",
            "45.0",
            "24.5",
            "24.5",
            "100.0",
            "×1.00",
            "560.5",
            "no",
        ],
        "Prefetching": [
            "5.0",
            "39.6",
            "55.4",
            "74.4",
            "38.8",
            "38.8",
            "63.2",
            "×1.58",
            "560.5",
            "no",
        ],
        "Mixed precision": [
            "45.7",
            "14.3",
            "40.0",
            "45.7",
            "28.0",
            "28.0",
            "87.5",
            "×1.14",
            "415.8",
            "no",
        ],
        "Checkpointing": [
            "35.8",
            "22.4",
            "41.8",
            "50.7",
            "21.9",
            "29.3",
            "111.7",
            "×0.90",
            "53.1",
            "yes",
        ],
        "Prefetching + mixed precision": (
            ["5.0", "25.0", "70.0", "82.0", "49.0", "49.0", "50.0", "×2.00", "415.8", "no"]
        ),
        "Prefetching + checkpointing": [
            "5.0",
            "33.1",
            "61.9",
            "77.8",
            "32.5",
            "43.3",
            "75.4",
            "×1.33",
            "53.1",
            "yes",
        ],
        "Mixed precision + checkpointing": (
            ["40.3", "12.6", "47.1", "52.1", "24.7", "32.9", "99.2", "×1.01", "56.2", "yes"]
        ),
        "Prefetching + mixed precision + checkpointing": (
            ["5.0", "20.1", "74.9", "84.6", "39.3", "52.5", "62.3", "×1.61", "56.2", "yes"]
        ),
    },
    "table-batches": {
        "Batch 16": ["60", "85.8", "34.8", "×1.42", "42.1", "32.3", "yes"],
        "Batch 32": ["70", "84.6", "39.3", "×1.61", "56.2", "45.8", "yes"],
        "Batch 64": ["79", "83.5", "43.2", "×1.76", "84.4", "72.7", "if gradients are freed"],
        "Batch 128": ["86", "82.8", "46.1", "×1.88", "140.7", "126.5", "no"],
        "Batch 256": ["91", "82.2", "48.1", "×1.96", "253.5", "234.1", "no"],
    },
    "table-walkthrough": {
        "Memory": [
            *("89 GB", "32 GB", "91.9 GB (FP32, Adam, batch 4)"),
            "31.6 GB (autocast, full recomputation, batch 4)",
        ],
        "Accelerator utilisation": ["45 %", "85 %", "45.0 %", "84.6 %"],
        "MFU": [
            "not reported",
            "not reported; 1,200 tokens/s implies 9.9 % of a V100’s tensor peak",
            *("24.5 %", "39.3 %"),
        ],
        "Throughput": ["–", "1,200 tokens/s", "×1.00", "×1.61 (prefetching alone ×1.58)"],
        "Data loading share": ["40 %", "5 %", "40.0 %", "5.0 %"],
        "Transfer / compute share": ["25 / 35 %", "20 / 75 %", "25.0 / 35.0 %", "20.1 / 74.9 %"],
    },
    "table-laptop": {
        "FP32, Adam, store everything": ["91.9 GB, over", "58.4 GB, over", "41.7 GB, over"],
        "FP32, SGD, full recomputation": ["15.98 GB, over", "14.22 GB, over", "13.34 GB, over"],
        "Pure 16-bit, SGD, selective": [
            *("17.37 GB, over", "11.80 GB, over", "9.02 GB, only if gradients are freed")
        ],
        "Pure 16-bit, SGD, full recomputation": [
            "8.05 GB, only if gradients are freed",
            "7.14 GB, fits, numerically unsafe",
            "6.69 GB, fits, numerically unsafe",
        ],
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_figures(name: str) -> None:
    """The table shows these rows."""
    shown = {row[0]: list(row[1:]) for row in FOUND[name].rows}

    assert {title: shown.get(title) for title in EXPECTED[name]} == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("table-activations", 12),
        ("table-combinations", 8),
        ("table-laptop", 36),
        ("table-walkthrough", 6),
        ("table-contexts", 2),
    ],
)
def test_number_of_rows(name: str, rows: int) -> None:
    """No choice is left out, and each row has a heading of its own."""
    titles = [row[0] for row in FOUND[name].rows]

    assert rows == len(titles) == len(set(titles))


def test_devices() -> None:
    """Both budgets are in decimal GB beside what the card has, labelled."""
    node, laptop = FOUND["table-contexts"].rows

    assert node[2:4] == ("80.0 GB budget; 80 GiB sold = 85.9 GB", "700 W")
    assert laptop[2:4] == ("8.0 GB budget; 8 GiB sold = 8.59 GB", "115 W")
    assert "12.46 GB or 15.6 % of the budget" in node[4]
    notes = " ".join(FOUND["table-contexts"].notes)
    assert "from 45.0 to 84.6 % and MFU by 14.8 points, 18.7 at batch 64" in notes


def test_captions_say_what_the_rows_show() -> None:
    """What a caption claims follows from the table's own cells."""
    combinations = FOUND["table-combinations"]
    utilisation = combinations.head.index("Utilisation, %")
    passing = [
        row[0] for row in combinations.rows if float(row[utilisation]) >= 80 and row[-1] == "yes"
    ]
    kept = [row[2] for row in FOUND["table-checkpointing"].rows if row[1] == "4×"]
    batches = FOUND["table-batches"].rows

    assert combinations.caption.startswith("Only all three together pass 80 % utilisation")
    assert passing == ["Prefetching + mixed precision + checkpointing"]
    assert FOUND["table-checkpointing"].caption == (
        "The textbook’s 4× is exact for no interval of checkpoints"
    )
    assert not any("4.0×" in cell for cell in kept)
    assert [row[3] for row in batches] == sorted((row[3] for row in batches), key=float)
    assert [row[2] for row in batches] == sorted(
        (row[2] for row in batches), key=float, reverse=True
    )
    fitting = sum("fits" in cell for row in FOUND["table-laptop"].rows for cell in row)
    assert FOUND["table-laptop"].caption == (
        f"{fitting} of {len(laptop_rows())} configurations of GPT-2 XL fit in 8.0 GB"
    )
    assert fitting == 2


class Reader(HTMLParser):
    """What is wrong with a table's HTML, and the texts of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[list[str]] = []
        self.scopes: list[str | None] = []
        self.row_ids: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a row or a cell."""
        self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
            self.row_ids.append(dict(attrs).get("data-row"))
        if tag in ("th", "td"):
            self.cells[-1].append("")
        if tag == "th":
            self.scopes.append(dict(attrs).get("scope"))

    def handle_endtag(self, tag: str) -> None:
        """Close what was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Add to the open cell."""
        if self.open[-1] in ("th", "td"):
            self.cells[-1][-1] += data.replace(NO_BREAK, " ")


@pytest.mark.parametrize("name", TABLES)
def test_html_holds_the_table(name: str) -> None:
    """A page's table has the data's cells, a caption, and a heading for every row and column."""
    table, reader = FOUND[name], Reader()

    html = PARTS[name]()
    reader.feed(html)

    assert reader.open == []
    assert [list(table.head), *map(list, table.rows)] == reader.cells
    assert all(cell for row in reader.cells for cell in row)
    assert ["col"] * len(table.head) + ["row"] * len(table.rows) == reader.scopes
    assert html.count("<caption>") == 1
    assert 'tabindex="0" role="region" aria-label="' in html


def test_walkthrough_leaves_room_for_the_learners_column() -> None:
    """The walkthrough is in its element, and a script finds each of its rows by name."""
    reader = Reader()

    html = PARTS["table-walkthrough"]()
    reader.feed(html)

    assert re.fullmatch(r"<walkthrough-column>.*</walkthrough-column>", html)
    assert reader.row_ids == [
        *(None, "memory", "utilisation", "mfu", "throughput", "data", "shares")
    ]


def test_the_laptops_verdicts_are_those_of_its_table() -> None:
    """Two configurations fit, two do if gradients are freed, and all of them are named."""
    fits, freed, rest = laptop_verdicts().split(". ")

    assert "Of the 108 configurations" in fits
    for total in ("batch 2 (7.14 GB)", "batch 1 (6.69 GB)"):
        assert f"Pure 16-bit, SGD, full recomputation, {total}" in fits
    for said in ("selective, batch 1 (9.02 GB)", "full recomputation, batch 4 (8.05 GB)"):
        assert f"Pure 16-bit, SGD, {said}" in freed
    assert (2, 2) == (fits.count("batch"), freed.count("batch"))
    assert "All others are over." == rest


def test_walkthrough_says_which_batch_a_row_is_of() -> None:
    """Memory is that of batch 4, and the ledger of the other rows' batch is in a note."""
    note = FOUND["table-walkthrough"].notes[0]

    assert "memory is that of batch 4," in note
    assert "every other row is of batch 32, whose ledger is 560.5 and 56.2 GB" in note


def test_browsers_tables_are_the_pages() -> None:
    """What follows a reflection is a table of the page."""
    for number, name in (("1", "table-precision"), ("2", "table-checkpointing")):
        table = FOUND[name]
        assert reflections()[number]["table"] == {
            "caption": table.caption,
            "head": table.head,
            "rows": table.rows,
            "notes": table.notes,
        }


def test_uneven_table_is_refused() -> None:
    """A row with a cell too few, or ids for too few rows, is an error and no ragged table."""
    with pytest.raises(ValueError, match="a row of 'X' has not 2 cells"):
        Table("X", ("a", "b"), (("1",),))
    with pytest.raises(ValueError, match="'X' has 1 rows, not 2"):
        Table("X", ("a",), (("1",),), row_ids=("one", "two"))


def test_figures_keep_their_units() -> None:
    """A figure and its unit, or a short cell with a figure, are not torn apart by a narrow page."""
    cells = ("12.46 GB (11.61 GiB)", "91.9 GB (FP32, Adam, batch 4)", "not reported", "×1.61")

    html = table_html(Table("X", ("a", "b", "c", "d"), (cells,)))

    assert '<th scope="row" class="short">12.46 GB (11.61 GiB)</th>' in html
    assert ">91.9\u00a0GB (FP32, Adam, batch 4)<" in html
    assert "<td>not reported</td>" in html
    assert '<td class="short">×1.61</td>' in html


def test_cells_are_text() -> None:
    """What looks like markup in a cell is shown, not obeyed."""
    html = table_html(Table("A & B", ("a",), (("<b>",),), notes=("1 < 2",)))

    assert "<caption>A &amp; B</caption>" in html
    assert '<th scope="row">&lt;b&gt;</th>' in html
    assert "<li>1 &lt; 2</li>" in html
