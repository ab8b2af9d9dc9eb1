"""What the companion notebook writes at its end: its timings, as a result file of this site.

The notebook carries this code with it, so it works where nothing of ours is installed.
"""

import datetime
from typing import Any

from benchmarks.provenance import machine
from results.quantities import rounded
from results.summary import rate, summarise

Result = dict[str, Any]


# --8<-- [start:timings]
def timings_as_result(seconds: dict[str, list[float]], images: int, data: str) -> Result:
    """The seconds of each kind of epoch, as a result file that *Compare your machine* reads.

    Args:
        seconds: For each kind of epoch the seconds of every one; its name says ``cuda`` if it ran
            on a GPU.
        images: Images in an epoch.
        data: Which images, in words.
    """
    entries = {}
    for name, samples in seconds.items():
        summary = summarise(samples)
        entries[name] = {
            "unit": "s",
            "device": "cuda" if "cuda" in name else "cpu",
            "median": summary.median,
            "smallest": summary.smallest,
            "largest": summary.largest,
            "spread": summary.spread,
            "noisy": summary.noisy,
            "samples": list(samples),
            "amount": images,
            "settings": {"data": data, "batch_size": 64, "optimizer": "Adam, lr 1e-3"},
        }
    figures = {}
    for name, entry in entries.items():
        found = rate(entry)
        figures[f"notebook.{name.removesuffix('_epoch')}_rate"] = {
            "value": found.value,
            "spread": found.spread,
            "noisy": found.noisy,
            "text": f"{rounded(found.value, found.spread)}\N{NO-BREAK SPACE}per second",
        }
    now = datetime.datetime.now(datetime.UTC)
    part = {
        "finished": f"{now:%Y-%m-%dT%H:%MZ}",
        "took_s": sum(map(sum, seconds.values())),
        "load_average": None,
        "entries": entries,
    }
    return {
        "version": 2,
        "provenance": {**machine(), "commit": None, "quick": False},
        "cases": {"notebook": {"epochs": part}},
        "figures": figures,
    }


# --8<-- [end:timings]
