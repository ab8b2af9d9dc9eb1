"""The model beside what GPUs measured: tables of the machines that measured it last.

A result that contradicts itself, or that keeps a prediction which the same model no longer gives,
stops the build. Deviations do not: they are shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from lesson_code.mission.constants import (
    BASELINE_BATCH,
    COMPUTE_UNITS,
    DATA_UNITS,
    DEVICES,
    KERNEL_EFFICIENCY,
    MODEL_VERSION,
    TRANSFER_BUSY,
    TRANSFER_BUSY_PREFETCHED,
    TRANSFER_UNITS,
)
from lesson_code.mission.fit import Verdict
from lesson_code.mission.memory import to_gb, to_gib
from lesson_site.errors import PageError
from lesson_site.mission.numbers import percent
from lesson_site.mission.table import Table, table_html
from lesson_site.result_tables import machine_name
from results.entry import Entry
from results.predictions import (
    CAP_BYTES,
    CONFIGURATIONS,
    FORWARD_TOLERANCE,
    LAPTOP,
    LOADERS,
    MODEL_NAMES,
    ORDER,
    PHASES,
    RUNS,
    STATIC_TOLERANCE,
    STEPS,
    TOLERANCE_POINTS,
    UNDER_CAP,
    WORKSPACE_BYTES,
    Configuration,
    predictions,
    problems,
    within_tolerance,
)
from results.quantities import write
from results.store import RESULTS, Result, newest, one_a_machine, open_store

Entries = Mapping[str, Entry]
Row = tuple[str, ...]

MEMORY, PIPELINE = "transformer_memory", "pipeline"
HEAD = ("Moment", "Model", "Measured", "Deviation", "Agreement")
MOMENTS = {
    "model": "Model on the device",
    "idle": "Between steps, gradients freed",
    "forward": "End of forward",
    "backward": "End of backward",
    "peak": "Peak of the step",
}
# Of the configurations, those whose moments are listed one by one.
SHOWN = (
    Configuration("small", 4, "fp32", "adam", "none"),
    Configuration("xl", 1, "fp32", "adam", "none"),
    Configuration("xl", 4, "autocast", "adam", "none"),
)
REGIME = {"fp32": "FP32", "autocast": "BF16 autocast", "pure16": "pure BF16"}
OPTIMIZER = {"sgd": "SGD", "momentum": "SGD with momentum", "adam": "AdamW"}
RECOMPUTE = {
    "none": "everything stored",
    "selective": "fused attention",
    "full": "full recomputation",
}
VERDICT: dict[Verdict, str] = {
    "fits": "fits",
    "fits_if_grads_freed": "fits when gradients are freed",
    "over": "does not fit",
}
FORMAT = {"float32": "FP32", "tf32": "FP32 with TF32 products", "bfloat16": "BF16 autocast"}
LOADER = {"plain": "no prefetching", "prefetch": "prefetching"}
LAPTOP_CAPTION = "GPT-2 XL, SGD, full recomputation"
SHARES = {
    "data": "Waiting for data",
    "transfer": "Transfers",
    "compute": "Compute",
    "idle": "Idle",
    "utilisation": "Accelerator utilisation",
    "mfu": "MFU",
    "hfu": "HFU",
}
MACHINES = 2  # whose tables fit on the page
WITHIN, BEYOND, NONE = "within tolerance", "beyond tolerance", "–"
GPU_COMMAND = "python -m benchmarks run --case {case}"
WHAT = {
    MEMORY: "What GPT-2 holds at each moment of a step",
    PIPELINE: "The shares of an iteration",
}


def measured_panel() -> str:
    """The tables of the machines, as the result files have them now."""
    return panel_html(open_store().results)


def panel_html(results: Sequence[Result]) -> str:
    """The tables, or what would measure them.

    Args:
        results: Result files, the preferred ones of each machine first.

    Raises:
        PageError: If one of them must not be there, see ``refuse``.
    """
    for result in results:
        refuse(result)
    blocks = [_not_measured(case) for case in WHAT if not any(case in r.cases for r in results)]
    measured = {
        case: {r.provenance["machine"]: r for r in one_a_machine(results, case) if case in r.cases}
        for case in WHAT
    }
    able = (measured[PIPELINE] | measured[MEMORY]).values()
    shown = newest(able, MACHINES)
    whole = True
    for machine in (result.provenance["machine"] for result in shown):
        if machine in measured[MEMORY]:
            blocks.append(_memory_html(measured[MEMORY][machine], whole=whole))
            whole = False
        if machine in measured[PIPELINE]:
            blocks.append(_pipeline_html(measured[PIPELINE][machine]))
    others = [machine_name(result) for result in able if result not in shown]
    if others:
        blocks.append(_paragraph(f"Measured before on {'; '.join(others)}."))
    on_cpus = [
        r for r in one_a_machine(results) if r.provenance["gpu"] is None and not r.in_browser
    ]
    if on_cpus:
        blocks.append(_paragraph(_about_cpus(on_cpus)))
    return "".join(blocks)


def refuse(result: Result) -> None:
    """Stop at a result that was measured wrongly or that another model predicted.

    Raises:
        PageError: In one sentence: the file, the numbers, and what to do.
    """
    for case in WHAT:
        for problem in problems(case, result.cases.get(case, {})):
            raise PageError(f"{RESULTS}/{result.file}: {problem}")


def _not_measured(case: str) -> str:
    command = GPU_COMMAND.format(case=case)
    return (
        f'<p class="not-measured">{WHAT[case]}: on a machine with a CUDA GPU '
        f"<code>{command}</code> measures it and keeps the model’s prediction beside it.</p>"
    )


def _about_cpus(results: Iterable[Result]) -> str:
    """Why their files have no row here."""
    names = "; ".join(f"{machine_name(r)}, {r.provenance['date']}" for r in results)
    return (
        f"Without a GPU: {names}. PyTorch counts no memory there, so that nothing of these tables "
        "can be measured; the tests compare the model with the tensors that PyTorch keeps instead."
    )


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _where(result: Result, entries: Entries) -> str:
    """Device, versions, date, and which model predicted."""
    at = result.provenance
    driver = (at.get("gpu_details") or {}).get("driver")
    versions = [
        f"{name} {version}"
        for name, version in (
            ("CUDA", at.get("cuda")),
            ("driver", driver),
            ("Python", at.get("python")),
        )
        if version
    ]
    models = sorted({str(e.settings["model_version"]) for e in _predicted(entries)})
    predicted = f"predicted by model {', '.join(models)}" if models else ""
    old = f"; the model is now {MODEL_VERSION}" if models and models != [MODEL_VERSION] else ""
    return "; ".join(filter(None, (result.where, ", ".join(versions), f"{predicted}{old}")))


def _source(what: str, result: Result, entries: Entries) -> str:
    """What the tables below it are of."""
    return f"<p><strong>{what}</strong>, measured on {escape(_where(result, entries))}.</p>"


def _predicted(entries: Entries) -> Iterator[Entry]:
    return (entry for entry in entries.values() if "model_version" in entry.settings)


# Memory


def _memory_html(result: Result, *, whole: bool) -> str:
    """All tables, or only how far off each configuration is: a page holds one machine's moments."""
    entries = result.cases[MEMORY]
    skipped = result.skipped.get(MEMORY, {})
    every = table_html(_every_configuration(entries, skipped))
    every = f"<details><summary>Every configuration</summary>{every}</details>"
    if not whole:
        return f"{_source('Memory', result, entries)}{every}{_overhead(entries)}"
    tables = "".join(table_html(_moments(c, entries, skipped)) for c in SHOWN)
    rest = "".join(
        map(table_html, (_optimizers(entries), _largest(entries), _under_the_cap(entries)))
    )
    return (
        f"{_source('Memory', result, entries)}{tables}{every}{rest}"
        f"{_paragraph(_tolerances())}{_overhead(entries)}"
    )


def name_of(c: Configuration) -> str:
    """A configuration in words."""
    return (
        f"{MODEL_NAMES[c.model]}, {REGIME[c.regime]}, {OPTIMIZER[c.optimizer]}, "
        f"{RECOMPUTE[c.recompute]}, batch {c.batch}"
    )


def _moments(c: Configuration, entries: Entries, skipped: Mapping[str, str]) -> Table:
    """One configuration, moment by moment; what PyTorch reserves has no prediction."""
    reason = skipped.get(c.name)
    rows = [_bytes_row(title, c, phase, entries, reason) for phase, title in MOMENTS.items()]
    reserved = entries.get(f"{c.name}.cuda_reserved")
    if reserved:
        rows.append(("Reserved by PyTorch", NONE, _gb(reserved.median), NONE, NONE))
    notes = (f"Skipped: {reason}.",) if reason else ()
    return Table(name_of(c), HEAD, tuple(rows), notes)


def _bytes_row(
    title: str, c: Configuration, phase: str, entries: Entries, reason: str | None
) -> Row:
    entry = entries.get(f"{c.name}.cuda_{phase}")
    if entry is None:
        return (title, _gb(c.phases[phase]), "skipped" if reason else NONE, NONE, NONE)
    predicted, measured = entry.settings["predicted"], entry.median
    agrees = within_tolerance(c, phase, predicted, measured)
    return (title, *compared(predicted, measured), WITHIN if agrees else BEYOND)


def compared(model: float, found: float, digits: int = 1) -> Row:
    """Both, and how far what was found lies from the model, in percent of the model."""
    return _gb(model), _gb(found), _deviation(model, found, digits)


def _every_configuration(entries: Entries, skipped: Mapping[str, str]) -> Table:
    """How many moments of each agree, and which lies farthest off."""
    rows = []
    for c in CONFIGURATIONS:
        found = {
            phase: entries[f"{c.name}.cuda_{phase}"]
            for phase in PHASES
            if f"{c.name}.cuda_{phase}" in entries
        }
        if not found:
            rows.append((name_of(c), "skipped" if c.name in skipped else NONE, NONE))
            continue
        pairs = {phase: (e.settings["predicted"], e.median) for phase, e in found.items()}
        agree = sum(within_tolerance(c, phase, *pair) for phase, pair in pairs.items())
        worst = max(pairs, key=lambda phase: abs(pairs[phase][1] / pairs[phase][0] - 1))
        rows.append(
            (
                name_of(c),
                f"{agree} of {len(pairs)}",
                f"{MOMENTS[worst]}: {_deviation(*pairs[worst])}",
            )
        )
    head = ("Configuration", "Moments within tolerance", "Farthest off")
    return Table("Every configuration", head, tuple(rows))


def _optimizers(entries: Entries) -> Table:
    """What momentum and AdamW add between two steps: one and two vectors."""
    rows: list[Row] = []
    for shown in SHOWN[:2]:
        plain = _idle(shown, "sgd")
        for optimizer in ("momentum", "adam"):
            c = _idle(shown, optimizer)
            title = f"{MODEL_NAMES[c.model]}: {OPTIMIZER[optimizer]} over plain SGD"
            pair = [entries.get(f"{of.name}.cuda_idle") for of in (c, plain)]
            if None in pair:
                added = c.phases["idle"] - plain.phases["idle"]
                rows.append((title, _gb(added), NONE, NONE, NONE))
                continue
            with_state, without = (entry for entry in pair if entry)
            predicted = with_state.settings["predicted"] - without.settings["predicted"]
            measured = with_state.median - without.median
            agrees = within_tolerance(c, "idle", predicted, measured)
            rows.append((title, *compared(predicted, measured), WITHIN if agrees else BEYOND))
    caption = "What the optimizer keeps between two steps, FP32"
    return Table(caption, ("Optimizer", *HEAD[1:]), tuple(rows))


def _idle(shown: Configuration, optimizer: str) -> Configuration:
    """The same model and batch with another optimizer."""
    return next(
        c
        for c in CONFIGURATIONS
        if (c.model, c.batch, c.regime, c.recompute)
        == (shown.model, shown.batch, shown.regime, shown.recompute)
        and c.optimizer == optimizer
    )


def _largest(entries: Entries) -> Table:
    """The largest batch that ran under the cap, beside the model's."""
    rows = []
    for c in UNDER_CAP:
        name = f"largest.{c.regime}.{c.recompute}.cuda_batch"
        title, entry = f"{REGIME[c.regime]}, {RECOMPUTE[c.recompute]}", entries.get(name)
        if entry is None:
            rows.append((title, f"{predictions(MEMORY)[name]:.0f}", NONE, NONE))
            continue
        predicted, measured = entry.settings["predicted"], entry.median
        deviation = _deviation(predicted, measured) if predicted else NONE
        rows.append((title, f"{predicted:.0f}", f"{measured:.0f}", deviation))
    caption = f"The largest batch of GPT-2 small with AdamW under a cap of {_cap()}"
    return Table(caption, ("How", *HEAD[1:4]), tuple(rows))


def _under_the_cap(entries: Entries) -> Table:
    """GPT-2 XL with plain SGD where the process may hold as much as a laptop's GPU."""
    rows = []
    for c in LAPTOP:
        name = f"laptop.{c.regime}.b{c.batch}.cuda"
        says = f"{VERDICT[c.under_cap]}, peak {_gb(c.peak_bytes)}"
        steps, peak = entries.get(f"{name}_steps"), entries.get(f"{name}_peak")
        title = f"{REGIME[c.regime]}, batch {c.batch}"
        if steps is None or peak is None:
            rows.append((title, says, NONE, NONE))
            continue
        ran = steps.median == STEPS
        how = f"{STEPS} steps ran" if ran else str(steps.settings.get("ended", "ended early"))
        fits = steps.settings["predicted"] == STEPS
        rows.append(
            (
                title,
                says,
                f"{how}, peak {_gb(peak.median)}",
                "as predicted" if ran == fits else "not as predicted",
            )
        )
    caption = f"{LAPTOP_CAPTION}, under a cap of {_cap()}"
    head = ("How", "Model", "Measured", "Agreement")
    return Table(caption, head, tuple(rows))


def _tolerances() -> str:
    none, other = FORWARD_TOLERANCE["none"], FORWARD_TOLERANCE["full"]
    return (
        f"Tolerances: ±{_whole(STATIC_TOLERANCE)} or {WORKSPACE_BYTES // 2**20} MiB, whichever is "
        "more, where only parameters, gradients and optimizer state are there; "
        f"±{_whole(none)} at the end of forward and at the peak where everything is stored, "
        f"±{_whole(other)} elsewhere."
    )


def _overhead(entries: Entries) -> str:
    """What the driver holds, beside the reserve that the plan leaves for it."""
    entry = entries.get("cuda_context")
    if entry is None:
        return ""
    node = DEVICES["node"]
    reserve = node.capacity_bytes - node.budget_bytes
    return _paragraph(
        f"Beyond what PyTorch reserves, the driver’s context and other programs held "
        f"{_gb(entry.median)}. The training node’s plan leaves {_gb(reserve)}, "
        f"{percent(reserve / node.capacity_bytes)} % of its {to_gib(node.capacity_bytes):.0f} GiB, "
        "for that, for the libraries and for memory in pieces."
    )


# The pipeline


def _pipeline_html(result: Result) -> str:
    entries = result.cases[PIPELINE]
    constants = _constants(entries)
    return (
        f"{_source('Pipeline', result, entries)}{table_html(_shares(entries))}"
        f"{table_html(constants) if constants else ''}"
    )


def _shares(entries: Entries) -> Table:
    """Each run in two rows: the model's shares, and the measured ones."""
    rows: list[Row] = []
    said = predictions(PIPELINE)
    for format, recompute in RUNS:
        for loader in LOADERS:
            start = f"{format}.{recompute}.{loader}.cuda_"
            title = f"{FORMAT[format]}, {RECOMPUTE[recompute]}, {LOADER[loader]}"
            measured = {what: entries.get(start + what) for what in SHARES}
            model = tuple(
                percent(_kept(entries, start + what, said) / 100) if start + what in said else NONE
                for what in SHARES
            )
            found = tuple(
                percent(entry.median / 100) if entry else NONE for entry in measured.values()
            )
            rows += [(f"{title}: model", *model), (f"{title}: measured", *found)]
    caption = "Shares of an iteration, in percent"
    return Table(caption, ("Run", *SHARES.values()), tuple(rows), _about_shares())


def _kept(entries: Entries, name: str, said: Mapping[str, float]) -> float:
    """The prediction that the measurement kept, or the model's present one."""
    return float(entries[name].settings["predicted"] if name in entries else said[name])


def _about_shares() -> tuple[str, ...]:
    chain = " ≤ ".join((*(what.upper() for what in ORDER[:2]), *ORDER[2:], "100 − data"))
    return (
        "MFU and HFU are measured against what a large matrix product reaches on the same GPU in "
        "the same number format. That is less than the 16-bit peak of the data sheet, by which "
        "the model divides, so a measured MFU reads higher than it would by the data sheet.",
        f"The model’s constants are the textbook’s figures at batch {BASELINE_BATCH}, not this "
        "machine’s. For token data a loader usually takes far less; here each text costs as much "
        "work as gives the textbook’s share.",
        f"{chain} holds in every run, within {TOLERANCE_POINTS} points.",
    )


def _constants(entries: Entries) -> Table | None:
    """What the model's constants would be on this machine; None without its baseline."""
    plain, prefetch = (
        {what: entries.get(f"float32.none.{loader}.cuda_{what}") for what in SHARES}
        for loader in LOADERS
    )
    baseline = {what: entry.median for what, entry in plain.items() if entry}
    if len(baseline) < len(SHARES):
        return None
    overlapped = {what: entry.median for what, entry in prefetch.items() if entry}
    rows = (
        ("Data, of 100 units", f"{DATA_UNITS}", f"{baseline['data']:.1f}"),
        ("Transfers, of 100 units", f"{TRANSFER_UNITS}", f"{baseline['transfer']:.1f}"),
        ("Compute, of 100 units", f"{COMPUTE_UNITS}", f"{baseline['compute']:.1f}"),
        ("Transfers with a kernel running", f"{TRANSFER_BUSY:.2f}", _busy(baseline)),
        ("The same with prefetching", f"{TRANSFER_BUSY_PREFETCHED:.2f}", _busy(overlapped)),
        (
            "Kernel efficiency",
            f"{KERNEL_EFFICIENCY[BASELINE_BATCH]:.2f}",
            _quotient(baseline["hfu"], baseline["compute"]),
        ),
    )
    caption = "The model’s constants, and what they would be here, FP32"
    return Table(caption, ("Constant", "Model", "This machine"), rows)


def _busy(shares: Mapping[str, float]) -> str:
    if len(shares) < len(SHARES):
        return NONE
    return _quotient(shares["utilisation"] - shares["compute"], shares["transfer"])


def _quotient(part: float, whole: float) -> str:
    return f"{part / whole:.2f}" if whole else NONE


# Numbers


def _gb(size_bytes: float) -> str:
    return write(size_bytes, "gigabytes")


def _cap() -> str:
    return f"{to_gb(CAP_BYTES):.1f} GB"


def _deviation(model: float, found: float, digits: int = 1) -> str:
    return f"{100 * (found / model - 1):+.{digits}f} %".replace("-", "−")


def _whole(share: float) -> str:
    return f"{100 * share:.0f} %"
