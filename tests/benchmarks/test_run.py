"""The command: it measures, saves every finished case, and refuses in one sentence."""

import json
from pathlib import Path

import pytest

from benchmarks import cases, result_file
from benchmarks.__main__ import main
from benchmarks.cases import Plan
from benchmarks.provenance import machine_slug


def test_quick_run_of_the_tiny_case_writes_a_good_file(tmp_path: Path) -> None:
    """A run ends with a file that passes its own check and says that it was quick."""
    path = tmp_path / "quick.json"

    code = main(["run", "--quick", "--case", "tiny_epoch", "--out", str(path)])
    result = result_file.read(path)

    assert code == 0
    assert result["provenance"]["quick"]
    assert {"samples_100.cpu", "samples_200.cpu"} <= set(result["cases"]["tiny_epoch"]["entries"])
    assert str(tmp_path) not in path.read_text(encoding="utf-8")


def test_quick_sweep_and_epoch_name_known_entries_only(tmp_path: Path) -> None:
    """What the MNIST and the sweep case measure is what they say they measure."""
    plan = Plan(tmp_path, quick=True)

    for name in ("mnist_epoch", "step_sweep"):
        module = cases.load(name)
        entries = module.run(plan)
        assert set(entries) <= set(module.ENTRIES)
        assert all(entry["median"] > 0 for entry in entries.values())


def test_a_case_is_saved_before_the_next_one_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a later case breaks, the earlier one is in the file."""
    path = tmp_path / "quick.json"

    def broken(_: Plan) -> dict[str, object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(cases.load("step_sweep"), "run", broken)
    with pytest.raises(KeyboardInterrupt):
        main(["run", "--quick", "--case", "tiny_epoch", "--case", "step_sweep", "--out", str(path)])

    assert ["tiny_epoch"] == list(result_file.read(path)["cases"])


def test_full_mnist_that_is_not_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the data the case is skipped, and nothing is written when no other was asked for."""
    monkeypatch.setattr("lesson_code.data._mirror_answers", lambda: False)
    path = tmp_path / "out.json"

    code = main(["run", "--case", "mnist_epoch", "--data", str(tmp_path), "--out", str(path)])

    assert code == 2
    assert "make data" in capsys.readouterr().err
    assert not path.exists()


def test_a_damaged_file_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that would continue a broken file says so and leaves it as it is."""
    path = tmp_path / "out.json"
    path.write_text("{", encoding="utf-8")

    code = main(["run", "--quick", "--case", "tiny_epoch", "--out", str(path)])

    assert code == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert path.read_text(encoding="utf-8") == "{"


def test_list_names_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    """Each case stands there with its first sentence."""
    main(["list"])
    lines = capsys.readouterr().out.splitlines()

    assert list(cases.NAMES) == [line.partition(":")[0] for line in lines]


def test_machine_slugs() -> None:
    """A folder's name says cores, or the GPU."""
    assert machine_slug(2, None) == "cpu-2-cores"
    assert machine_slug(16, "NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3"


@pytest.mark.gpu
def test_tiny_case_measures_the_gpu_beside_the_cpu(tmp_path: Path) -> None:
    """On a machine with a GPU, one run holds both, so that ratios mean something."""
    path = tmp_path / "quick.json"
    main(["run", "--quick", "--case", "tiny_epoch", "--out", str(path)])

    entries = json.loads(path.read_text(encoding="utf-8"))["cases"]["tiny_epoch"]["entries"]

    assert set(cases.load("tiny_epoch").ENTRIES) == set(entries)
