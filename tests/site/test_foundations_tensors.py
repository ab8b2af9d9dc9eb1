"""Part 1 keeps its tables, diagrams, prediction and facts, and repeats no old mistake."""

import re
from pathlib import Path

import pytest

PAGE = Path("docs/foundations/tensors.md")
TEXT = PAGE.read_text(encoding="utf-8")
PROSE = " ".join(re.sub(r"^```.*?^```$", "", TEXT, flags=re.DOTALL | re.MULTILINE).split())


def rows() -> set[str]:
    """The first cells of all table rows."""
    return {match.strip() for match in re.findall(r"^\| ([^|]+) \|", TEXT, flags=re.MULTILINE)}


def section(name: str) -> str:
    """The text under the heading with this anchor, up to the next heading of its level."""
    return TEXT.split(f"{{ #{name} }}\n")[1].split("\n## ")[0]


def edges(title: str) -> set[tuple[str, str]]:
    """The edges of the diagram with this title."""
    body = re.split(r"^```", TEXT.split(f'title="{title}"')[1], flags=re.MULTILINE)[0]
    plain = re.sub(r'\["[^"]*"\]', "", body)
    return set(re.findall(r"(\w+) --> (\w+)", plain))


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        (
            "responsibilities",
            "Hold data|Keep intermediate values|Gradients|Update|Accelerator|Save progress",
        ),
        ("ranks", "0, scalar|1, vector|2, matrix|3, without a name|4, image batch|5, clip batch"),
        (
            "dtypes",
            "`torch.float32`|`torch.float16`|`torch.bfloat16`|`torch.long` (int64)|`torch.uint8`|"
            "`torch.float64`",
        ),
    ],
)
def test_tables_have_their_rows(table: str, keys: str) -> None:
    """Each table has at least the rows that the track promises."""
    assert set() == set(keys.split("|")) - rows(), table


def test_the_contract_is_drawn_with_its_labels() -> None:
    """Eight edges: labels reach the loss, the update returns to the model, evaluation uses it."""
    assert {
        ("inputs", "model"),
        ("model", "logits"),
        ("logits", "loss"),
        ("labels", "loss"),
        ("loss", "backward"),
        ("backward", "step"),
        ("step", "model"),
        ("model", "evaluation"),
    } == edges("The training contract")


def test_ranks_are_drawn_as_a_chain_of_six() -> None:
    """Each rank leads to the next one."""
    assert {(f"r{n}", f"r{n + 1}") for n in range(5)} == edges("Six ranks")


def test_the_failure_comes_first() -> None:
    """The page opens with the error that names a number nobody wrote, and explains it."""
    assert TEXT.index("print_first_surprise") < TEXT.index("{ #contract }")
    assert "64 images of 1 channel and 28 rows make 1792" in PROSE


def test_the_prediction_stands_before_its_sample() -> None:
    """The flattened shape is asked for before the code that prints it."""
    assert TEXT.index("id: foundations-flattened-shape") < TEXT.index("tensors.py:metadata")
    assert "`[64, 784]`, and dimension 0 is the batch." in TEXT.split("/// answer")[1]


@pytest.mark.parametrize(
    "phrase", ["**shape, dtype, device.**", "**rough sketch with a micrometer**"]
)
def test_named_models_are_introduced_in_the_words_of_the_lesson(phrase: str) -> None:
    """What the lesson repeats has been said here."""
    assert phrase in PROSE


@pytest.mark.parametrize("anchor", ["contract", "rank-and-shape", "sharing-memory"])
def test_other_pages_can_link_to(anchor: str) -> None:
    """These anchors are promised to the rest of the track."""
    assert section(anchor)


@pytest.mark.parametrize(
    ("anchor", "facts"),
    [
        ("contract", ["graph of *operations*", "a sum keeps nothing", "*exactly*"]),
        ("rank-and-shape", ["one-hot *floats* pass", "`Conv3d`", "channels-last"]),
        ("sharing-memory", ["`torch.as_tensor`", "always copies", "`array[::-1]`", "read-only"]),
        ("dtypes", ["int64 or uint8", "take int32 as well", "coarser than those of float16"]),
        (
            "devices",
            [
                "check_available=True",
                "a CPU tensor without dimensions",
                "device=x.device",
                "in place",
                "../gpu-training/device-mismatch.md",
            ],
        ),
    ],
)
def test_facts_stand_where_they_belong(anchor: str, facts: list[str]) -> None:
    """Each section states what was corrected or added in it."""
    text = section(anchor)

    assert [] == [fact for fact in facts if fact not in text]


@pytest.mark.parametrize(
    "mistake",
    [
        r"nodes? (are|is|correspond\w* to) the (cached )?values",
        r"more than zero parameters is enough",
        r"one-hot (vectors|labels) are (wrong|refused|not accepted)",
        r"indexing (needs|requires) (int64|64-bit)",
        r"never (mix|meet)",
        r"zeros_like.{0,20} is (often |always )?safer",
        r"cannot be shown without a GPU",
    ],
)
def test_old_mistakes_are_not_repeated(mistake: str) -> None:
    """What the track's plan had wrong stands nowhere on the page."""
    assert not re.search(mistake, PROSE, flags=re.IGNORECASE)


def test_one_sentence_a_line() -> None:
    """Prose of the overview and of Part 1 has one sentence a line."""
    for page in (PAGE, PAGE.with_name("index.md")):
        fenced = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            fenced ^= line.strip().startswith("```")
            if fenced or re.match(r"description:|[#|!\-\d *?]", line):
                continue

            assert not re.search(r"[a-z`)][.?] [A-Z]", line), f"{page}:{number}: {line}"
