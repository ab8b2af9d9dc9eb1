"""Result files that tests make up; nothing in them was measured."""

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from results import catalogue, result_file
from results.catalogue import Definition
from results.entry import Entry, entry
from results.predictions import keep_predictions

CPU_MACHINE: dict[str, Any] = {
    "machine": "cpu-2-cores",
    "processor": "A processor",
    "cores": 2,
    "threads": 2,
    "gpu": None,
    "gpu_details": None,
    "cuda": None,
    "system": "Linux",
    "python": "3.11.7",
    "torch": "2.15.0",
    "torchvision": "0.29.2",
    "numpy": "2.4.6",
    "precision": {
        "float32_matmul": "highest",
        "cuda_matmul_tf32": False,
        "cudnn_tf32": True,
        "cudnn_benchmark": False,
        "float16_reduced_sums": True,
        "bfloat16_reduced_sums": True,
    },
    "date": "2026-11-21",
    "commit": None,
    "quick": False,
}
GPU_MACHINE: dict[str, Any] = {
    **CPU_MACHINE,
    "machine": "made-up-gpu",
    "gpu": "Made-up GPU",
    "gpu_details": {
        "memory_bytes": 80_000_000_000,
        "compute_capability": "9.0",
        "multiprocessors": 100,
        "count": 1,
        "driver": None,
        "power_limit_w": 700.0,
    },
    "cuda": "13.0",
}


RACED_IN_A_BROWSER = Path(__file__).with_name("raced_in_a_browser.json")


def catalogue_of(entries: dict[str, Iterable[str]]) -> dict[str, Definition]:
    """A catalogue in which each of these entries, by case, is a time and has a figure."""
    targets = [f"{case}:{name}" for case, names in entries.items() for name in names]
    names = {target: target.replace(":", ".") for target in targets}
    return {
        name: Definition(name, "a time", "measured", "s", {"measured": target})
        for target, name in names.items()
    }


def part(**seconds: float) -> dict[str, Any]:
    """A part whose entries took these times; two underscores in a name stand for a dot."""
    return {
        "finished": "2026-11-21T14:00Z",
        "took_s": 1.0 + 3 * sum(seconds.values()),
        "load_average": 0.1,
        "entries": {
            name.replace("__", "."): timed(median, "cuda" if "cuda" in name else "cpu")
            for name, median in seconds.items()
        },
    }


def timed(median: float, device: str = "cpu") -> dict[str, Any]:
    """An entry of three samples with this median."""
    return entry([0.98 * median, median, 1.02 * median], "s", device=device).to_json()


def placed(entries: Mapping[str, Mapping[str, Entry]]) -> dict[str, dict[str, Entry]]:
    """Entries by case and name, with what their cases declare: where they run, sizes and arms."""
    known = result_file.known_entries({d.name: d for d in catalogue.read()})
    return {
        case: {
            name: replace(one, device=known[case][name].device, at=known[case][name].at)
            if name in known.get(case, {})
            else one
            for name, one in of.items()
        }
        for case, of in entries.items()
    }


def result(cases: dict[str, dict[str, Any]], provenance: dict[str, Any]) -> dict[str, Any]:
    """A result file's content, with its figures."""
    content = {**result_file.empty(copy.deepcopy(provenance)), "cases": cases}
    return result_file.with_figures(content)


def complete() -> dict[str, Any]:
    """A file of a GPU that does not exist, with every entry that the job can measure."""
    known = result_file.known_entries({d.name: d for d in catalogue.read()})
    return result({case: _whole(case, of) for case, of in known.items()}, GPU_MACHINE)


def _whole(case: str, known: Mapping[str, result_file.Known]) -> dict[str, Any]:
    """A case measured in one part: times of 10 ms, shares of 40 %, sizes of 0.4 GB."""
    medians = {"s": 0.01, "percent": 40.0, "bytes": 4e8}
    entries = {
        name: entry([medians.get(of.units[0], 1.0)], of.units[0], device=of.device, amount=1000)
        for name, of in known.items()
        if not of.in_browser
    }
    kept = {name: one.to_json() for name, one in keep_predictions(case, entries).items()}
    return {"all": {**part(), "took_s": 1000.0, "entries": kept}}


def good() -> dict[str, Any]:
    """A small result of a machine without a GPU."""
    tiny = {
        "samples_100": part(samples_100__cpu=0.0011),
        "samples_200": part(samples_200__cpu=0.002),
    }
    return result({"tiny_epoch": tiny}, CPU_MACHINE)


def raced() -> dict[str, Any]:
    """What a reader's race saves: a browser that does not exist, on a GPU that does not either."""
    content: dict[str, Any] = json.loads(RACED_IN_A_BROWSER.read_text(encoding="utf-8"))
    return content
