"""The fence of switches: what it shows without JavaScript, and the mistakes that stop a build."""

import re

import markdown
import pytest

from lesson_site.errors import PageError
from lesson_site.fences import keep_options
from lesson_site.switches import switches

STATES = ("000", "001", "010", "011", "100", "101", "110", "111")
SENTENCES = "".join(f'"{state}": It is <{state}>.\n' for state in STATES)
OF = "gpu_training/loop_switches:print_all_eight"
GPU, CPU = "gpu_training/loop_gpu.py:loop", "gpu_training/loop_cpu.py:loop"


def convert(body: str = SENTENCES, code: str = GPU, without: str = CPU, of: str = OF) -> str:
    """The HTML of a page with one such fence."""
    custom = {
        "name": "lesson-switches",
        "class": "lesson-switches",
        "format": switches,
        "validator": keep_options,
    }
    text = f'```lesson-switches code="{code}" without="{without}" of="{of}"\n{body}```\n'
    return markdown.markdown(
        text,
        extensions=["pymdownx.superfences"],
        extension_configs={"pymdownx.superfences": {"custom_fences": [custom]}},
    )


def test_all_outcomes_can_be_read_without_javascript() -> None:
    """Each combination has a row with its sentence, and where it stops a line."""
    html = convert()

    rows = re.findall(
        r'<tr data-on="(\d+)"(?: data-line="(\d+)")?>.*?<td>It is &lt;(\d+)&gt;', html
    )
    assert [(state, state) for state in STATES] == [(on, said) for on, _, said in rows]
    assert {"000", "100", "111"} == {on for on, line, _ in rows if not line}


def test_the_new_lines_are_those_to_switch() -> None:
    """They are numbered in the order of the loop."""
    found = re.findall(r'<li data-switch="(\d)"><code>(.*?)</code>', convert())

    plain = [re.sub(r"<[^>]+>", "", line).strip() for _, line in found]
    assert ["device", "model.", "images"] == [line[:6] for line in plain]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"body": SENTENCES.replace('"111": It is <111>.\n', "")}, "a sentence for each"),
        ({"body": "none\n"}, "a sentence for each"),
        ({"without": GPU}, "a sentence for each"),
        ({"of": "gpu_training/device_mismatch:print_mismatch"}, "must be recorded, with data"),
        ({"of": "gpu_training/loop_switches:print_nothing"}, "has no function print_nothing"),
    ],
)
def test_a_mistake_stops_the_build(options: dict[str, str], message: str) -> None:
    """No combination is left without an outcome or a sentence."""
    with pytest.raises(PageError, match=message):
        convert(**options)
