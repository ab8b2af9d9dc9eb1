"""What is wrong with a value is said in one sentence, whatever the schema asks of it."""

from collections.abc import Callable
from typing import Any

import pytest

from results import schema
from results.schema import Problem, first_problem, shown, where
from tests.benchmarks.made_up import GPU_MACHINE, good, result

SLASHES = "text on one line without slashes, backslashes and angle brackets"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1}, "an object"),
        ([1], "a list"),
        ("a", "'a'"),
        ("é\n", r"'\xe9\n'"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("x" * 58, f"'{'x' * 58}'"),
        ("x" * 59, f"'{'x' * 56}..."),
    ],
)
def test_a_value_is_shown_on_one_short_line(value: Any, expected: str) -> None:
    """As JSON has it, but for text, in which nothing is hidden."""
    assert expected == shown(value)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ((), "the top"),
        (("cases", "a.b-c_1", 0), "cases.a.b-c_1.0"),
        (("x" * 120,), "x" * 120),
        (("x" * 121,), f"'{'x' * 56}..."),
        (("a b", ""), "'a b'.''"),
    ],
)
def test_a_place_is_written_with_dots(place: tuple[str | int, ...], expected: str) -> None:
    """What is not a name is in quotation marks."""
    assert expected == where(*place)


def full() -> dict[str, Any]:
    """A file with a part that has everything which a rule looks at."""
    content = result(good()["cases"], GPU_MACHINE)
    one = content["cases"]["tiny_epoch"]["samples_100"]["entries"]["samples_100.cpu"]
    one.update(seed=1, amount=10, warmups=[0.1], outcome={"loss": -1.5})
    one["settings"] = {"a": ["x", 1, None, True, {"b": [2.5]}]}
    return content


def at(content: Any, *place: str | int) -> Any:
    """What stands at a place of a file."""
    for step in place:
        content = content[step]
    return content


def put(value: Any, *place: str | int) -> Callable[[dict[str, Any]], None]:
    """Damage: a value at a place."""
    return lambda content: at(content, *place[:-1]).__setitem__(place[-1], value)


def out(*place: str | int) -> Callable[[dict[str, Any]], None]:
    """Damage: nothing at a place."""
    return lambda content: at(content, *place[:-1]).__delitem__(place[-1])


CASE = ("cases", "tiny_epoch")
PART = (*CASE, "samples_100")
ENTRY = (*PART, "entries", "samples_100.cpu")
FIGURE = ("figures", "tiny_epoch.samples_100.cpu")


def dotted(place: tuple[str | int, ...]) -> str:
    """A place as a sentence has it."""
    return ".".join(map(str, place))


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("version",), 3, "3 is there, and it must be one of 2"),
        (("provenance", "cores"), True, "true stands where integer should"),
        (("provenance", "cores"), 1.5, "1.5 stands where integer should"),
        (("provenance", "cores"), "2", "'2' stands where integer should"),
        (("provenance", "cores"), 0, "0 is there, and it must be at least 1"),
        (("provenance", "cores"), 1000001, "1000001 is there, and it must be at most 1e+06"),
        (("provenance", "gpu"), 1, "1 stands where string or null should"),
        (("provenance", "gpu"), "", "it is empty"),
        (("provenance", "gpu"), "a/b", f"'a/b' is not {SLASHES}"),
        (("provenance", "quick"), 0, "0 stands where boolean should"),
        (("provenance", "system"), None, "null stands where string should"),
        (("provenance", "system"), "x" * 121, f"'{'x' * 56}... has more than 120 characters"),
        (("provenance", "date"), "today", "'today' is not a day such as 2026-11-21"),
        (
            ("provenance", "precision", "float32_matmul"),
            "low",
            "'low' is there, and it must be one of highest, high, medium",
        ),
        (("provenance", "precision"), [], "a list stands where object should"),
        (("provenance", "gpu_details"), 1, "1 stands where object or null should"),
        (("cases",), [], "a list stands where object should"),
        (CASE, {}, "it is empty"),
        ((*PART, "took_s"), -1, "-1 is there, and it must be at least 0"),
        ((*PART, "load_average"), "1", "'1' stands where number or null should"),
        ((*PART, "entries"), {}, "it is empty"),
        ((*ENTRY, "samples"), [], "it is empty"),
        ((*ENTRY, "samples"), {}, "an object stands where array should"),
        ((*ENTRY, "samples"), [0] * 10001, "it holds more than 10,000 things"),
        ((*ENTRY, "samples", 1), "x", "'x' stands where number should"),
        ((*ENTRY, "samples", 1), False, "false stands where number should"),
        ((*ENTRY, "amount"), 0, "0 is there, and it must be above 0"),
        ((*ENTRY, "unit"), 1, "1 is there, and it must be one of s, percent, epochs, bytes, "),
        ((*ENTRY, "settings", "a", 4, "b", 0), "<", "'<' is not text on one line"),
        (("figures",), dict.fromkeys(map(str, range(5001)), 1), "it holds more than 5,000 things"),
        ((*FIGURE, "text"), "", "it is empty"),
        (FIGURE, 1, "1 stands where object should"),
    ],
)
def test_a_value_that_breaks_a_rule_is_named(
    place: tuple[str | int, ...], value: Any, said: str
) -> None:
    """Its place, what is there and what should be."""
    content = full()
    put(value, *place)(content)

    assert str(first_problem(content)).startswith(f"at {dotted(place)}: {said}")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (out("cases"), "at the top: cases is missing"),
        (put(1, "more"), "at the top: nothing is known about 'more'"),
        (out("provenance", "numpy"), "at provenance: numpy is missing"),
        (put(1, "provenance", "a b"), "at provenance: nothing is known about 'a b'"),
        (out(*PART, "took_s"), f"at {dotted(PART)}: took_s is missing"),
        (
            put("no GPU", *PART, "skipped"),
            f"at {dotted(PART)}: it has both of entries and a reason why it was skipped",
        ),
        (
            out(*PART, "entries"),
            f"at {dotted(PART)}: it has neither of entries and a reason why it was skipped",
        ),
        (
            put(1, *ENTRY, "settings", "A b"),
            f"at {dotted(ENTRY)}.settings: 'A b' is not a name of small letters, digits, "
            "underscores, dots and hyphens",
        ),
        (
            put({}, "cases", "x" * 121),
            f"at cases.'{'x' * 56}...: it is empty",
        ),
        (
            put({"all": at(good(), *PART)}, "cases", "x" * 121),
            f"at cases: '{'x' * 56}... has more than 120 characters",
        ),
    ],
)
def test_what_is_missing_or_too_much_is_named(
    damage: Callable[[dict[str, Any]], None], said: str
) -> None:
    """With the place that lacks it, or has it."""
    content = full()
    damage(content)

    assert said == str(first_problem(content))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("provenance", "cores"), 1),
        (("provenance", "cores"), 1000000),
        (("provenance", "cores"), 4.0),
        (("provenance", "gpu"), None),
        (("provenance", "gpu_details"), None),
        (("provenance", "system"), "x" * 120),
        ((*PART, "took_s"), 0),
        ((*PART, "load_average"), None),
        ((*ENTRY, "amount"), 1e-300),
        ((*ENTRY, "settings"), {"a": ["x" * 200, 1e18]}),
        ((*ENTRY, "samples"), [1]),
        ((*ENTRY, "samples"), [0] * 10000),
        ((*ENTRY, "warmups"), []),
    ],
)
def test_a_value_at_a_bound_is_good(place: tuple[str | int, ...], value: Any) -> None:
    """And what the schema leaves open."""
    content = full()
    assert None is first_problem(content)
    put(value, *place)(content)

    assert None is first_problem(content)


def test_a_part_that_was_skipped_needs_no_entries() -> None:
    """A reason is in their place."""
    content = full()
    out(*PART, "entries")(content)
    put("no GPU", *PART, "skipped")(content)

    assert None is first_problem(content)


def test_a_problem_knows_its_place_its_rule_and_its_value() -> None:
    """Readers of it need not take its sentence apart."""
    content = full()
    put(-1, *ENTRY, "samples", 1)(content)

    problem = first_problem(content)

    rules = {"type": "number", "minimum": 0, "maximum": 1e18}
    assert Problem((*ENTRY, "samples", 1), "minimum", rules, -1) == problem


@pytest.mark.parametrize(
    ("rules", "good", "bad"),
    [
        ({"minItems": 2}, [1, 2], [1]),
        ({"maxItems": 2}, [1, 2], [1, 2, 3]),
        ({"minProperties": 2}, {"a": 1, "b": 1}, {"a": 1}),
        ({"maxProperties": 1}, {"a": 1}, {"a": 1, "b": 1}),
        ({"minLength": 2}, "ab", "a"),
        ({"maxLength": 2}, "ab", "abc"),
        ({"pattern": "b"}, "abc", "ac"),
        ({"minimum": 2}, 2.0, 1.5),
        ({"exclusiveMinimum": 2}, 2.5, 2),
        ({"maximum": 2}, 2.0, 2.5),
        ({"const": None}, None, 0),
        ({"enum": ["a", "b"]}, "b", "c"),
        ({"required": ["a", "b"]}, {"a": 1, "b": 1}, {"b": 1}),
        ({"type": "integer"}, 2.0, 2.5),
        ({"type": ["null", "array"]}, [], {}),
        ({"oneOf": [{"minimum": 2}, {"maximum": 2}]}, 3, 2),
        ({"oneOf": [{"minimum": 2}, {"maximum": 2}, {"minimum": 5}]}, 3, 6),
        ({"properties": {"a": {"minimum": 1}}}, {"b": 0}, {"a": 0}),
        ({"additionalProperties": False, "properties": {"a": {}}}, {"a": 1}, {"b": 1}),
        ({"additionalProperties": {"minimum": 1}}, {"a": 1}, {"a": 1, "b": 0}),
        (
            {"additionalProperties": {"minimum": 1}, "properties": {"a": {}}},
            {"a": 0, "b": 1},
            {"a": 0, "b": 0},
        ),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"a": 1, "ab": 1}),
        ({"items": {"minimum": 1}}, [1], [1, 0]),
        ({"$ref": "#/$defs/measured"}, 0, -1),
    ],
)
def test_a_rule_looks_at_values_of_its_own_type(
    rules: dict[str, Any], good: Any, bad: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of another type breaks another rule, or none."""
    known = schema._read()
    monkeypatch.setattr(schema, "_read", lambda: {**rules, "$defs": known["$defs"]})

    assert None is first_problem(good)
    assert None is not first_problem(bad)
    if not {"const", "enum", "type", "$ref", "oneOf"} & rules.keys():
        others = [one for one in (None, True, "xyz", 0.0, [], {}) if type(one) is not type(good)]
        assert [None] * 5 == list(map(first_problem, others))
