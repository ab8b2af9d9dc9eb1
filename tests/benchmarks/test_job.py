"""The run: every part saved at once, within a budget, and taken up again where it was."""

import errno
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchmarks import cases, job, provenance
from benchmarks.__main__ import NO_COMMIT, STOPPED, main
from benchmarks.cases import IncompletePartError, MissingDataError, Part, Plan, SkipPartError
from benchmarks.job import Forecast, Outcome
from benchmarks.provenance import machine_slug
from results import result_file
from results.cases import Case
from results.entry import entry
from tests.benchmarks.made_up import CPU_MACHINE, GPU_MACHINE, catalogue_of, good
from tests.building import REPOSITORY

Measure = Callable[[], dict[str, Any]]


def entries(*names: str) -> Measure:
    """A measurement that gives these entries at once."""
    return lambda: {name: entry([0.01, 0.01, 0.01], "s", device="cpu") for name in names}


def raising(problem: BaseException) -> Measure:
    """A measurement that ends so."""

    def measure() -> dict[str, Any]:
        raise problem

    return measure


NO_ENGINE = "GET was unable to find an engine to execute this computation"


class Clock:
    """A clock for the budget that only parts move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def lasting(self, seconds: float, name: str) -> Measure:
        """A measurement that takes this long."""

        def measure() -> dict[str, Any]:
            self.now += seconds
            return entries(name)()

        return measure


class Bench:
    """The job with made-up cases."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.told = io.StringIO()
        self.monkeypatch = monkeypatch

    def run(
        self,
        parts: dict[str, list[Part]],
        budget_s: float | None = None,
        conditions: dict[str, Any] = CPU_MACHINE,
        gpu_only: bool = False,
    ) -> Outcome:
        """Measure these parts of these cases."""
        modules = {name: made_up_case(of) for name, of in parts.items()}
        self.monkeypatch.setattr(cases, "load", modules.__getitem__)
        self.monkeypatch.setattr(cases, "NAMES", tuple(modules))
        definitions = catalogue_of({name: module.ENTRIES for name, module in modules.items()})
        self.monkeypatch.setattr(result_file, "_definitions", lambda: definitions)
        plan = Plan(Path("data"), gpu=None, gpu_only=gpu_only)
        return job.run(list(modules), plan, self.path, conditions, budget_s, self.told)

    @property
    def saved(self) -> dict[str, dict[str, Any]]:
        """Everything that the file says about the case ``one``, by part."""
        of_one: dict[str, dict[str, Any]] = result_file.read(self.path)["cases"]["one"]
        return of_one


def made_up_case(parts: list[Part]) -> Any:
    """What stands in for the module of a case."""
    return SimpleNamespace(parts=lambda _: iter(parts), ENTRIES=("a", "b", "c", "d"))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The job, writing into an empty folder."""
    return Bench(tmp_path / "results" / "r.json", monkeypatch)


# Saving


def test_every_part_is_saved_before_the_next_one_begins(bench: Bench) -> None:
    """While the second part is measured, the first is in the file."""
    seen = []

    def second() -> dict[str, Any]:
        seen.append(set(bench.saved))
        return entries("b")()

    outcome = bench.run({"one": [Part("first", entries("a")), Part("second", second)]})

    assert [{"first"}] == seen
    assert ["one first", "one second"] == outcome.measured
    assert {"first", "second"} == set(bench.saved)
    assert [bench.path] == list(bench.path.parent.iterdir())


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (SkipPartError("needs a GPU"), "needs a GPU"),
        (MissingDataError("no MNIST in /srv/me/data; run `make data`"), "no MNIST in … run"),
        (SkipPartError(""), "no reason given"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried …"), "more GPU memory than was free"),
        (RuntimeError(NO_ENGINE), "more GPU memory than was free"),
    ],
)
def test_what_a_machine_cannot_do_is_skipped_with_its_reason(
    problem: Exception, reason: str, bench: Bench
) -> None:
    """That is no failure, the others run, and no path of the machine is in the file."""
    outcome = bench.run({"one": [Part("big", raising(problem)), Part("small", entries("a"))]})

    assert not outcome.failed
    assert reason in outcome.skipped["one big"]
    assert reason in bench.saved["big"]["skipped"]
    assert "/" not in bench.saved["big"]["skipped"]
    assert ["one small"] == outcome.measured


@pytest.mark.parametrize(
    "problem",
    [
        RuntimeError("CUDA error: an illegal memory access\nin /usr/lib/x.so"),
        ValueError("can't open C:\\Users\\me\\x <b>"),
        KeyError("a\x1b[31m"),
        AssertionError(),
    ],
)
def test_a_part_that_breaks_stops_nothing_else(problem: Exception, bench: Bench) -> None:
    """Its error is kept, on one line and without paths, and counts as a failure."""
    outcome = bench.run({"one": [Part("broken", raising(problem)), Part("sound", entries("a"))]})
    reason = bench.saved["broken"]["skipped"]

    assert ["one broken"] == list(outcome.failed)
    assert ["one sound"] == outcome.measured
    assert reason.startswith(f"it failed: {type(problem).__name__}")
    assert not set(reason) & set("/\\<>\n\x1b")


def test_what_was_measured_before_a_part_broke_is_kept(bench: Bench) -> None:
    """A part may give some of its entries and say why the others are missing."""
    some = IncompletePartError(entries("a")(), "b did not compile")

    outcome = bench.run({"one": [Part("p", raising(some))]})

    assert {"one p": "b did not compile"} == outcome.failed
    assert {"a"} == set(bench.saved["p"]["entries"])
    assert "b did not compile" == bench.saved["p"]["incomplete"]


def test_a_part_that_broke_half_way_is_measured_again(bench: Bench) -> None:
    """A later run replaces it, and the reason is gone."""
    some = IncompletePartError(entries("a")(), "b did not compile")
    bench.run({"one": [Part("p", raising(some))]})

    outcome = bench.run({"one": [Part("p", entries("a"))]})

    assert ["one p"] == outcome.measured
    assert "incomplete" not in bench.saved["p"]


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        ({"a": entry([1.0], "s", device="cpu", loss=float("nan"))}, "loss: NaN is not a measured"),
        ({"a": entry([0.0], "s", device="cpu")}, "shorter than any measured"),
        ({"nap": entry([1.0], "s", device="cpu")}, "FAMILIES"),
        ({"a": entry([1.0], "furlong", device="cpu")}, "unit"),
        ({"a": entry([1.0], "s", device="cpu", settings={"at": object()})}, "JSON serializable"),
        ({}, "it is empty"),
    ],
)
def test_what_no_file_may_hold_is_a_failure_of_its_part(
    measured: dict[str, Any], words: str, bench: Bench
) -> None:
    """A case that gives a loss of NaN or an unknown entry breaks neither the run nor the file."""
    parts = [Part("odd", lambda: measured), Part("sound", entries("a"))]

    outcome = bench.run({"one": parts})

    assert words in outcome.failed["one odd"]
    assert {"odd", "sound"} == set(bench.saved)


def test_a_figure_that_cannot_be_computed_costs_no_measurement(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts are saved all the same, and `summarize --write` computes the figures later."""

    def broken(*_: object) -> None:
        raise IndexError("a mistake in derived.py")

    parts = [Part("p", entries("a")), Part("q", entries("b"))]
    original = result_file.catalogue.figures_of
    calls = iter([original, broken, broken])
    monkeypatch.setattr(result_file.catalogue, "figures_of", lambda *a: next(calls)(*a))
    outcome = bench.run({"one": parts})
    monkeypatch.setattr(result_file.catalogue, "figures_of", original)

    assert {"figures": "IndexError: a mistake in derived.py"} == outcome.failed
    assert {"p", "q"} == set(bench.saved)


def test_a_machine_without_optional_packages_measures_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No tqdm is needed, and what no file may hold is noticed all the same."""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    odd = {"a": entry([1.0], "furlong", device="cpu")}

    outcome = bench.run({"one": [Part("p", entries("b")), Part("q", lambda: odd)]})

    assert ["one p"] == outcome.measured
    assert "unit: 'furlong' is there" in outcome.failed["one q"]


def test_a_case_that_cannot_even_begin_stops_no_other(bench: Bench) -> None:
    """Its error is told."""

    def no_parts() -> Iterator[Part]:
        yield Part("never", entries("a"))
        raise ImportError("no such thing in this PyTorch")

    outcome = bench.run({"two": no_parts(), "one": [Part("p", entries("a"))]})  # type: ignore[dict-item]

    assert {"two": "ImportError: no such thing in this PyTorch"} == outcome.failed
    assert ["one p"] == outcome.measured


# Going on


def test_a_second_run_measures_only_what_is_missing(bench: Bench) -> None:
    """Finished parts are kept as they are, skipped and broken ones are tried again."""
    bench.run(
        {
            "one": [
                Part("done", entries("a")),
                Part("skipped", raising(SkipPartError("no data"))),
                Part("broken", raising(OSError("no"))),
            ]
        }
    )
    before = bench.saved["done"]
    again = [
        Part("done", raising(AssertionError("measured twice"))),
        Part("skipped", entries("b")),
        Part("broken", entries("c")),
    ]

    outcome = bench.run({"one": again}, conditions={**CPU_MACHINE, "date": "2026-11-22"})

    assert ["one done"] == outcome.kept
    assert ["one skipped", "one broken"] == outcome.measured
    assert before == bench.saved["done"]
    assert "goes on, 1 part is there already" in bench.told.getvalue()


def test_other_conditions_are_refused_before_anything_is_measured(bench: Bench) -> None:
    """Results of two PyTorch versions never share a file."""
    bench.run({"one": [Part("p", entries("a"))]})
    before = bench.path.read_bytes()

    with pytest.raises(result_file.BadResultError, match=r'torch "2\.15\.0" and this run has'):
        bench.run({"one": [Part("q", entries("b"))]}, conditions={**CPU_MACHINE, "torch": "2.16.0"})

    assert before == bench.path.read_bytes()


def test_results_of_all_cases_stay_beside_each_other(bench: Bench) -> None:
    """A run of one case leaves the others' parts and makes the figures of all of them."""
    bench.run({"tiny_epoch": [Part("p", entries("a"))], "one": [Part("p", entries("a"))]})

    assert {"tiny_epoch", "one"} == set(result_file.read(bench.path)["cases"])


def test_a_run_for_the_gpu_leaves_out_what_needs_none(bench: Bench) -> None:
    """Comparisons with a CPU stay, and a later full run measures the rest."""
    parts = [Part("both", entries("a")), Part("cpu", entries("b"), cpu_only=True)]

    assert ["one both"] == bench.run({"one": parts}, gpu_only=True).measured
    assert ["one cpu"] == bench.run({"one": parts}).measured


def test_a_run_for_the_gpu_has_every_case_that_uses_one() -> None:
    """Each once, and none of the others, however they are ordered."""
    using = [name for name in cases.NAMES if any("cuda" in e for e in cases.load(name).ENTRIES)]

    twice = [name for name, count in Counter(cases.GPU_NAMES).items() if count > 1]
    assert [] == [*(set(using) ^ set(cases.GPU_NAMES)), *twice], (
        "GPU_NAMES in benchmarks/cases/__init__.py has each case with an entry of a GPU, once"
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_run_for_the_gpu_needs_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without one it says so before it writes anything."""
    path = tmp_path / "r.json"

    assert 2 == main(["run", "--gpu-only", "--out", str(path)])
    assert "--gpu-only needs an NVIDIA GPU" in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize("known", [True, False])
def test_a_case_that_nobody_described_is_not_measured(
    known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A minute of measuring would only then be refused."""
    told = {"elementwise": Case(())} if known else {}
    monkeypatch.setattr("benchmarks.__main__.read", lambda: told)
    path = tmp_path / "r.json"

    assert 2 == main(["run", "--quick", "--case", "elementwise", "--out", str(path)])
    said = capsys.readouterr().err
    assert "elementwise" in said
    assert "python -m benchmarks describe" in said
    assert not path.exists()


def test_nothing_is_measured_on_a_simulated_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The job refuses it, and so does a reader of such a file; quick trials are none."""
    there = {**GPU_MACHINE, "gpu": result_file.SIMULATED_GPU}
    monkeypatch.setattr(provenance, "here", lambda quick: {**there, "quick": quick})
    path = tmp_path / "r.json"

    assert 2 == main(["run", "--case", "loops", "--out", str(path)])
    assert "simulated" in capsys.readouterr().err
    result_file.write(result_file.empty(there), path)
    with pytest.raises(result_file.BadResultError, match="simulated"):
        result_file.read(path)
    result_file.write(result_file.empty({**there, "quick": True}), path)
    assert result_file.read(path)["provenance"]["quick"]


# The budget


def test_parts_that_do_not_fit_into_the_budget_are_left(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The long one is not begun, the short ones around it are, and the next run measures it."""
    clock = Clock(monkeypatch)
    parts = [
        Part("short", clock.lasting(10, "a"), expected_s=10),
        Part("long", clock.lasting(100, "b"), expected_s=100),
        Part("brief", clock.lasting(10, "c"), expected_s=10),
    ]

    outcome = bench.run({"one": parts}, budget_s=60)

    assert ["one long"] == outcome.left
    assert ["one short", "one brief"] == outcome.measured
    assert {"short", "brief"} == set(bench.saved)
    assert clock.now <= 100 + 60
    assert ["one long"] == bench.run({"one": parts}, budget_s=200).measured


def test_a_slow_machine_begins_less(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What parts take longer than they expect is expected of the next ones, too."""
    clock = Clock(monkeypatch)
    parts = [Part(name, clock.lasting(40, name), expected_s=10) for name in ("a", "b", "c")]

    outcome = bench.run({"one": parts}, budget_s=100)

    assert ["one a", "one b"] == outcome.measured
    assert ["one c"] == outcome.left


def test_a_skipped_part_teaches_the_forecast_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it was over at once does not make the next one short."""
    clock = Clock(monkeypatch)
    parts = [
        Part("no_data", raising(SkipPartError("no data")), expected_s=1000),
        Part("long", clock.lasting(100, "a"), expected_s=100),
    ]

    outcome = bench.run({"one": parts}, budget_s=1050)
    assert ["one long"] == outcome.measured
    bench.path.unlink()
    outcome = bench.run({"one": [parts[0], Part("l", entries("a"), expected_s=2000)]}, 1050)
    assert ["one l"] == outcome.left


def test_asking_the_driver_counts_for_the_forecast(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part is followed by a question to the driver, which can take longer than the part."""
    clock = Clock(monkeypatch)

    def slow_driver() -> dict[str, float]:
        clock.now += 4
        return {"temperature_c": 40.0}

    monkeypatch.setattr(provenance, "gpu_state", slow_driver)
    parts = [Part(f"p{n}", clock.lasting(1, "a"), expected_s=1) for n in range(9)]

    outcome = bench.run({"one": parts}, budget_s=27)

    # Two seconds are left after five: enough for a sixth part, and not for what follows it.
    assert 5 == len(outcome.measured)
    saved = json.loads(bench.path.read_text(encoding="utf-8"))
    assert 5 == saved["cases"]["one"]["p0"]["took_s"]


@pytest.mark.parametrize("quick", [False, True])
def test_one_odd_part_does_not_decide_about_the_others(quick: bool) -> None:
    """However wrong its forecast was, later ones lie between 0.3 and 5 times what they expect."""
    later = Part("later", entries("a"), expected_s=360)
    usual = Forecast(quick).seconds(later)
    too_short, too_long = Forecast(quick), Forecast(quick)

    too_short.learn(Part("odd", entries("a"), expected_s=441), took_s=10)
    too_long.learn(Part("odd", entries("a"), expected_s=1), took_s=600)

    assert 0.3 * usual <= too_short.seconds(later) < usual
    assert usual < too_long.seconds(later) <= 5 * usual


def test_forecast_of_a_quick_run_is_short() -> None:
    """Parts say how long they take in full; a quick run takes a small part of that."""
    part = Part("p", entries("a"), expected_s=100)

    assert Forecast(quick=False).seconds(part) == 100
    assert Forecast(quick=True).seconds(part) < 10


# Telling


def test_progress_is_told_in_lines(bench: Bench) -> None:
    """Which part, how many there are, the time left, and what came of it."""
    bench.run(
        {"one": [Part("p", entries("a"), expected_s=100), Part("q", raising(SkipPartError("no")))]}
    )
    told = bench.told.getvalue()

    assert "[1/2] one p, about 2 min left" in told
    assert "10.0\N{NO-BREAK SPACE}ms" in told
    assert "one q: skipped, no" in told


class Terminal(io.StringIO):
    """Where a person watches."""

    def isatty(self) -> bool:
        """It is a terminal."""
        return True


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_a_terminal_shows_a_bar_where_tqdm_is_there(
    with_tqdm: bool, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, the same lines are told as anywhere else."""
    if not with_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    bench.told = Terminal()

    bench.run({"one": [Part("p", entries("a")), Part("q", raising(ValueError("no")))]})
    told = bench.told.getvalue()

    assert with_tqdm == ("| 1/2, about" in told)
    assert with_tqdm == ("[1/2] one p" not in told)
    assert "one p: done in 0 s" in told
    assert "one q: skipped, it failed: ValueError: no" in told


# The command


@pytest.fixture
def one_case(monkeypatch: pytest.MonkeyPatch) -> Callable[[Part], None]:
    """Let the case have this one part only."""

    def use(part: Part) -> None:
        module = SimpleNamespace(parts=lambda _: iter([part]), FAMILIES=(), __doc__="A case.")
        monkeypatch.setattr(cases, "load", lambda _: module)
        monkeypatch.setattr("benchmarks.__main__.read", lambda: {"elementwise": Case(())})
        definitions = catalogue_of({"elementwise": ("a",)})
        monkeypatch.setattr(result_file, "_definitions", lambda: definitions)

    return use


RUN = ["run", "--quick", "--case", "elementwise", "--out"]


@pytest.mark.parametrize(
    ("measure", "code", "said"),
    [
        (entries("a"), 0, ""),
        (raising(SkipPartError("no data")), 0, "skipped: elementwise p: no data"),
        (raising(ValueError("no")), 1, "failed: elementwise p: ValueError: no"),
    ],
)
def test_exit_code_says_whether_a_part_broke(
    measure: Measure,
    code: int,
    said: str,
    one_case: Callable[[Part], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """0 if all went well or could not be done here, 1 if something broke."""
    one_case(Part("p", measure))

    assert code == main([*RUN, str(tmp_path / "r.json"), "--commit", "0123456789abcdef"])
    assert said in capsys.readouterr().err
    assert result_file.read(tmp_path / "r.json")["provenance"]["commit"] == "0123456789"


def test_a_result_that_will_name_no_commit_says_how_to_give_it(
    one_case: Callable[[Part], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything is measured, on a machine that got a copy of the files; and never else."""
    one_case(Part("p", entries("a")))
    monkeypatch.setattr(provenance, "commit", lambda: None)

    main([*RUN, str(tmp_path / "without.json")])
    without = capsys.readouterr().err
    main([*RUN, str(tmp_path / "with.json"), "--commit", "0123456789abcdef"])
    given = capsys.readouterr().err

    assert without.startswith(f"{NO_COMMIT}\n")
    assert "--commit" in NO_COMMIT
    assert NO_COMMIT not in given


def test_stopping_leaves_a_good_file_and_one_line(
    one_case: Callable[[Part], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C is no error: what was finished is saved, and nothing but the file stays."""
    path = tmp_path / "r.json"
    one_case(Part("p", entries("a")))
    main([*RUN, str(path)])
    one_case(Part("q", raising(KeyboardInterrupt())))
    capsys.readouterr()

    code = main([*RUN, str(path)])

    assert code == STOPPED == 130
    assert capsys.readouterr().err.splitlines()[-1].startswith("stopped; the same command goes on")
    assert {"p"} == set(result_file.read(path)["cases"]["elementwise"])
    assert [path] == list(tmp_path.iterdir())


def test_an_unusable_out_is_refused_before_anything_is_measured(
    one_case: Callable[[Part], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder, a file in a folder that can't be made, and a damaged file; each in one sentence."""
    one_case(Part("p", raising(AssertionError("was measured"))))
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{", encoding="utf-8")

    for out in (tmp_path, damaged / "in" / "r.json", damaged):
        assert 2 == main([*RUN, str(out), "--commit", "0123456789abcdef"])
        said = capsys.readouterr().err
        assert said.startswith("error: ")
        assert str(out if out.is_file() else tmp_path) in said
        assert 1 == len(said.splitlines())
    assert "{" == damaged.read_text(encoding="utf-8")


def test_a_full_disk_is_one_sentence(
    one_case: Callable[[Part], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An error without a file's name is told without one."""
    one_case(Part("p", entries("a")))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(result_file, "write", full)

    assert 2 == main([*RUN, str(tmp_path / "r.json")])
    assert "error: can't use a file: No space left on device" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [
        ["run", "--case", "nap"],
        ["run", "--budget", "0"],
        ["run", "--budget", "soon"],
        ["run", "--threads", "-1"],
        ["run", "--commit", "HEAD"],
        ["run", "--nope"],
        ["summarize", "--compare", "one.json"],
        ["summarize", "--compare-latest", "one.json", "two.json"],
        ["validate"],
        [],
    ],
)
def test_a_wrong_command_is_one_sentence(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and no usage text; `--help` has that."""
    try:
        code = main(wrong)
    except SystemExit as ended:
        code = int(str(ended.code))
    said = capsys.readouterr().err

    assert 2 == code
    assert said.startswith("error: ")
    assert 1 == len(said.splitlines())


def test_list_names_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    """Each case is there with its first sentence."""
    main(["list"])
    lines = capsys.readouterr().out.splitlines()

    assert list(cases.NAMES) == [line.partition(":")[0] for line in lines]


def test_machine_slugs() -> None:
    """A folder's name says cores, or the GPU."""
    assert machine_slug(2, None) == "cpu-2-cores"
    assert machine_slug(16, "NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3"


def test_the_driver_is_asked_about_the_gpu_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its UUID: where CUDA_VISIBLE_DEVICES hides a card, nvidia-smi's number 0 is another."""
    asked: list[str] = []

    def answers(command: list[str], **_: object) -> SimpleNamespace:
        asked.extend(command)
        return SimpleNamespace(stdout="41, 1980, 2619, 120.5\n")

    monkeypatch.setattr(subprocess, "run", answers)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda gpu: SimpleNamespace(uuid=f"of-{gpu}")
    )

    state = provenance.gpu_state()

    assert "--id=GPU-of-0" in asked
    assert state is not None
    assert (41.0, 120.5) == (state["temperature_c"], state["power_w"])


@pytest.mark.parametrize("precision", ["ieee", "tf32"])
def test_a_file_holds_all_three_switches_of_tf32(tmp_path: Path, precision: str) -> None:
    """Products, convolutions, recurrent layers; older files have one for the last two."""
    layers: Any = torch.backends.cudnn.rnn
    before = layers.fp32_precision
    layers.fp32_precision = precision
    try:
        third = provenance.recurrent_layers()
    finally:
        layers.fp32_precision = before
    held = provenance.here()["precision"]

    assert {"cudnn_rnn_tf32": precision == "tf32"} == third
    assert {"cuda_matmul_tf32", "cudnn_tf32", "cudnn_rnn_tf32"} <= held.keys()
    for switches in (held, {k: v for k, v in held.items() if k != "cudnn_rnn_tf32"}):
        measured = {**good(), "provenance": {**CPU_MACHINE, "precision": switches}}
        result_file.write(measured, tmp_path / "r.json")
        assert switches == result_file.read(tmp_path / "r.json")["provenance"]["precision"]


def test_a_commit_is_named_only_if_the_code_is_as_committed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Changed code, or a copy of the files without git, has no commit."""
    answers = {"status": "", "rev-parse": "0123456789"}
    monkeypatch.setattr(provenance, "_git", lambda command, *_: answers[command])
    clean = provenance.commit()
    answers["status"] = " M benchmarks/method.py"
    changed = provenance.commit()

    def no_git(*_: str) -> str:
        raise FileNotFoundError("git")

    monkeypatch.setattr(provenance, "_git", no_git)

    assert ("0123456789", None, None) == (clean, changed, provenance.commit())


def test_provenance_of_this_machine_fits_into_a_file(tmp_path: Path) -> None:
    """Whatever machine the test runs on: its names pass the file's own check."""
    path = tmp_path / "r.json"
    here = provenance.here(quick=True)

    result_file.write(result_file.empty(here), path)

    assert here == result_file.read(path)["provenance"]


def test_a_real_quick_case_writes_a_good_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None
) -> None:
    """A run ends with a file that passes its own check and says that it was quick."""
    path = tmp_path / "quick.json"

    code = main([*RUN, str(path)])
    content = result_file.read(path)

    assert code == 0
    assert content["provenance"]["quick"]
    assert {"small.cpu", "large.cpu"} <= set(result_file.entries_of(content)["elementwise"])
    assert str(tmp_path) not in path.read_text(encoding="utf-8")


@pytest.mark.gpu
def test_a_case_measures_the_gpu_beside_the_cpu(tmp_path: Path) -> None:
    """On a machine with a GPU, one run holds both, so that ratios mean something."""
    path = tmp_path / "quick.json"

    main([*RUN, str(path)])

    measured = result_file.entries_of(result_file.read(path))["elementwise"]
    assert set(cases.load("elementwise").ENTRIES) == set(measured)


# Killing


# The real job and its real files; only what is measured is made up, and takes no time. One process
# imports PyTorch and forks a child for each run, so that a run begins at once and can be killed.
DRIVER = """
import gc, os, sys, time
from pathlib import Path
from types import SimpleNamespace

from benchmarks import cases, job
from results import result_file, schema
from benchmarks.cases import Part, Plan
from benchmarks.method import entry
from tests.benchmarks.made_up import CPU_MACHINE, catalogue_of, good

schema.first_problem(good())  # reads the schema and the catalogue once for all children
gc.freeze()  # PyTorch's objects are many, and the job collects garbage after every part
names = [f"entry_{i}" for i in range(20)]


def measure(name):
    time.sleep(0.005)
    return {name: entry([0.001] * 20, "s", device="cpu")}


case = SimpleNamespace(
    ENTRIES=names, parts=lambda _: (Part(n, lambda n=n: measure(n)) for n in names)
)
cases.NAMES = ("made_up",)
cases.load = lambda _: case
definitions = catalogue_of({"made_up": names})
result_file._definitions = lambda: definitions
for line in iter(sys.stdin.readline, ""):
    child = os.fork()
    if not child:
        job.run(["made_up"], Plan(Path("data"), gpu=None), Path(line.strip()), CPU_MACHINE)
        os._exit(0)
    print(child, flush=True)
    sys.stdin.readline()  # until it is waited for, the child's number stays its own
    os.waitpid(child, 0)
    print("over", flush=True)
"""


class Driver:
    """A process that runs the job over the files that it is told, one after the other."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=REPOSITORY,
            text=True,
        )

    def run(self, path: Path, kill_after_s: float | None = None) -> None:
        """A run over ``path``, to its end or until SIGKILL, to which nothing can react."""
        assert self.process.stdin is not None
        print(path, file=self.process.stdin, flush=True)
        child = int(self._line())
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            os.kill(child, signal.SIGKILL)
        print("wait", file=self.process.stdin, flush=True)
        assert self._line() == "over"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@pytest.fixture
def driver() -> Iterator[Driver]:
    """It ends with the test."""
    started = Driver()
    yield started
    started.process.communicate()


def test_killing_a_run_at_any_moment_leaves_a_readable_file(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each of 20 kills the file is good, and the runs that go on complete every file.

    Where the machine was busier while the whole run was timed, few kills fall into a run; then
    there are more of them.
    """
    names = {f"entry_{i}" for i in range(20)}
    definitions = catalogue_of({"made_up": names})
    monkeypatch.setattr(result_file, "_definitions", lambda: definitions)

    def saved(path: Path) -> set[str]:
        """What the file holds; it is read as `validate` reads it."""
        entries_now = result_file.entries_of(result_file.read(path)) if path.exists() else {}
        return set(entries_now.get("made_up", {}))

    driver.run(tmp_path / "0.json")
    began = time.monotonic()
    driver.run(tmp_path / "1.json")
    whole_run_s = time.monotonic() - began
    moments = random.Random(0)
    files = [tmp_path / "2.json"]
    cut_off = kills = 0
    while kills < 20 or (cut_off < 5 and kills < 100):
        kills += 1
        before = saved(files[-1])
        driver.run(files[-1], kill_after_s=moments.uniform(0, whole_run_s))
        after = saved(files[-1])
        assert before <= after
        cut_off += bool(after - before) and after != names
        if after == names:
            files.append(tmp_path / f"{len(files) + 2}.json")
    for path in files:
        driver.run(path)

    assert cut_off >= 5, "the kills fell before or after the runs, not into them"
    assert [names] * len(files) == [saved(path) for path in files]
    assert all(path.suffix == ".json" for path in tmp_path.iterdir())


def test_a_case_is_measured_with_those_that_it_is_compared_with() -> None:
    """A ladder without the products and copies of the same run would have no limit.

    And with the copies come all that are set beside them.
    """
    kernels = {"fused_elementwise", "compiled_step"}
    assert {"ladder", "matmul", "copies", *kernels} == cases.with_compared(["matmul"])
    assert {"loops"} == cases.with_compared(["loops"])
