"""Where an iteration's time goes: traces written by hand, and a CPU in place of the GPU."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.cases import IncompletePartError, Plan
from benchmarks.cases import pipeline as case
from benchmarks.cases.utilisation import peak_product
from benchmarks.method import Arm
from results import catalogue
from results.predictions import TOLERANCE_POINTS, predictions

CPU = torch.device("cpu")
Event = Mapping[str, Any]

# From Python 3.12 on, forking says so where threads run. The workers, like everybody's, use none.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")


def event(category: str, name: str, start_us: float, end_us: float) -> Event:
    """One event of a trace in Chrome's format."""
    return {"ph": "X", "cat": category, "name": name, "ts": start_us, "dur": end_us - start_us}


def cpu_kind(event: Event) -> str | None:
    """The CPU's operators in place of a GPU's kernels."""
    if event.get("cat") != "cpu_op":
        return None
    if event["name"] in ("aten::addmm", "aten::bmm", "aten::mm"):
        return "matrix"
    return "kernel" if event["name"] in ("aten::gelu", "aten::native_layer_norm") else None


def far_peak(*arguments: Any) -> Arm:
    """A peak that no step comes near: a busy CPU's own may be lower than what it reaches later."""
    arm = peak_product(*arguments)
    arm.amount = 1e3 * (arm.amount or 0)
    return arm


@pytest.fixture
def quick_part(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, one_thread: None
) -> Mapping[str, Any]:
    """The parts of a quick run in which the CPU takes part, with one worker at most."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(case, "kind_of", cpu_kind)
    monkeypatch.setattr(case, "peak_product", far_peak)
    return {p.name: p for p in case.parts(Plan(tmp_path, quick=True, gpu=CPU))}


def test_every_entry_has_a_figure_that_shows_it() -> None:
    """Pages can name whatever the case measures."""
    shown = {d.fields["measured"] for d in catalogue.read() if d.kind == "measured"}

    assert not {f"pipeline:{name}" for name in case.ENTRIES} - shown


def test_without_a_gpu_there_is_nothing_to_measure(tmp_path: Path) -> None:
    """Without a second device nothing can overlap."""
    assert not list(case.parts(Plan(tmp_path, gpu=None)))


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([], 0),
        ([(2, 4)], 2),
        ([(2, 4), (6, 9)], 5),
        ([(2, 6), (4, 8)], 6),
        ([(2, 9), (3, 4)], 7),
        ([(6, 9), (2, 4)], 5),
        ([(2, 4), (4, 6)], 4),
        ([(-5, 3), (8, 20)], 5),
        ([(-5, -1), (11, 20)], 0),
        ([(-5, 20), (1, 2)], 10),
    ],
    ids=[
        "none",
        "one",
        "apart",
        "overlapping",
        "inside",
        "unordered",
        "touching",
        "cut",
        "off",
        "all",
    ],
)
def test_time_that_two_kernels_share_counts_once(
    intervals: list[tuple[float, float]], expected: float
) -> None:
    """The union of intervals, as far as it lies between 0 and 10."""
    assert expected == case.covered(intervals, (0.0, 10.0))


def test_shares_of_a_trace_written_by_hand() -> None:
    """100 µs: 40 fetching, 30 of products, 10 of another kernel, 5 copying, 15 of nothing."""
    trace = [
        event("user_annotation", "iteration", 1_000, 1_100),
        event("user_annotation", "fetch", 1_000, 1_040),
        event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 1_040, 1_045),
        event("kernel", "sm90_xmma_gemm_f32f32", 1_050, 1_080),
        event("kernel", "vectorized_elementwise_kernel", 1_075, 1_090),
        event("gpu_user_annotation", "iteration", 1_040, 1_090),
        event("cpu_op", "aten::mm", 1_041, 1_042),
        event("kernel", "ampere_sgemm_128x64_nn", 900, 990),
        {"ph": "i", "name": "Record Window End", "ts": 1_100},
    ]

    found = case.shares(trace, case.kind_of, {"mfu": 12e-6, "hfu": 16e-6})

    assert {
        "data": [40.0],
        "compute": [30.0],
        "transfer": [15.0],
        "idle": [15.0],
        "utilisation": [40.0],
        "mfu": [12.0],
        "hfu": [16.0],
    } == {what: pytest.approx(samples) for what, samples in found.items()}


def test_each_iteration_has_its_own_shares_in_order() -> None:
    """A kernel belongs to the iteration in which it runs; a warm-up to none."""
    trace = [
        event("user_annotation", "iteration", 200, 300),
        event("user_annotation", "iteration", 100, 200),
        event("user_annotation", "warmup", 0, 100),
        event("kernel", "gemm", 10, 90),
        event("kernel", "gemm", 190, 260),
    ]

    assert [10.0, 60.0] == pytest.approx(case.shares(trace, case.kind_of, {})["compute"])


@pytest.mark.parametrize(
    "name",
    [
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>(...)",
        "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
        "void cublasLt::splitKreduce_kernel<32, 16, int, float>(...)",
        "void pytorch_flash::flash_fwd_kernel<...>(...)",
        "fmha_cutlassF_f32_aligned_64x64_rf_sm80(...)",
        "void gemv2T_kernel_val<int, int, float>(...)",
    ],
)
def test_kernels_of_matrix_products_and_attention_are_known(name: str) -> None:
    """Whatever the libraries call them."""
    assert "matrix" == case.kind_of(event("kernel", name, 0, 1))


@pytest.mark.parametrize(
    ("category", "name", "expected"),
    [
        ("kernel", "void at::native::vectorized_elementwise_kernel<4, ...>", "kernel"),
        ("kernel", "void (anonymous namespace)::softmax_warp_forward<float>", "kernel"),
        ("kernel", "vectorized_layer_norm_kernel", "kernel"),
        ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "copy"),
        ("gpu_memset", "Memset (Device)", "copy"),
        ("cuda_runtime", "cudaLaunchKernel", None),
        ("cpu_op", "aten::scaled_dot_product_attention", None),
    ],
)
def test_everything_else_is_another_kernel_a_copy_or_nothing(
    category: str, name: str, expected: str | None
) -> None:
    """Only what the GPU does counts, and only products count as compute."""
    assert expected == case.kind_of(event(category, name, 0, 1))


def test_shares_that_contradict_each_other_are_not_kept(
    monkeypatch: pytest.MonkeyPatch, quick_part: Mapping[str, Any]
) -> None:
    """A step faster than the peak allows is a measurement error; the part breaks and says why."""
    monkeypatch.setattr(case, "step_flops", lambda *_: 1e18)

    with pytest.raises(ValueError, match=r"hfu is .* and compute"):
        quick_part["float32.none"].measure()


def test_a_text_is_the_same_whatever_it_costs() -> None:
    """The work changes the time and nothing else, and each text differs from the next."""
    cheap, dear = (case.Corpus(case.QUICK, 4, work) for work in (0, 50))

    assert torch.equal(cheap[2], dear[2])
    assert (case.QUICK.context + 1,) == cheap[0].shape
    assert not torch.equal(cheap[0], cheap[1])
    with pytest.raises(IndexError, match="text 4 of 4"):
        cheap[4]


def test_the_work_is_set_to_a_loader_share_of_40_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of 0.3 s with 2 texts, each work taking 1 ms: 100 times for each text."""
    times = iter([[0.3, 0.3, 0.3], [0.02] * 5])
    monkeypatch.setattr(case, "time_repeatedly", lambda *_, **__: next(times))
    sizes = case.Sizes(case.QUICK, batch=2, timed=2, diagnosed=2)

    work = case.work_for_share.__wrapped__(sizes, CPU)

    assert 100 == work
    assert 0.4 == pytest.approx(2 * work * 1e-3 / (2 * work * 1e-3 + 0.3))


def test_loaders_take_turns_there_and_back(
    monkeypatch: pytest.MonkeyPatch, quick_part: Mapping[str, Any]
) -> None:
    """The second round begins with the loader that ended the first one."""
    timed: list[str] = []

    def seconds(training: object, loader: object, sizes: object, name: str) -> list[float]:
        timed.append(name)
        return [1.0]

    monkeypatch.setattr(case, "_timed", seconds)

    quick_part["float32.none"].measure()

    assert ["plain", "prefetch", "prefetch", "plain"] == timed


@pytest.mark.parametrize("name", ["float32.none", "bfloat16.full"])
def test_a_part_says_where_the_time_of_both_loaders_went(
    quick_part: Mapping[str, Any], name: str
) -> None:
    """Times and shares of the loader between the steps and of the one beside them."""
    entries = quick_part[name].measure()

    assert {e for e in case.ENTRIES if e.startswith(name)} == set(entries)
    for loader, workers in (("plain", 0), ("prefetch", 1)):
        found = {what: entries[f"{name}.{loader}.cuda_{what}"] for what in case.SHARES}
        median = {what: e.median for what, e in found.items()}
        assert workers == found["data"].settings["workers"]
        for samples in zip(
            *(found[what].samples for what in ("data", "compute", "transfer", "idle")),
            strict=True,
        ):
            assert 100 == pytest.approx(sum(samples), abs=0.1)
        for what in ("data", "compute", "transfer", "utilisation", "mfu", "hfu"):
            kept = found[what].settings["predicted"]
            assert predictions("pipeline")[f"{name}.{loader}.cuda_{what}"] == kept
        assert 0 < median["mfu"] <= median["hfu"] <= median["compute"] <= median["utilisation"]
        iteration = entries[f"{name}.{loader}.cuda_iteration"]
        assert case.ROUNDS * case.QUICK_TIMED == len(iteration.samples)
        assert case.QUICK_BATCH_SIZE * case.QUICK.context == iteration.amount
    assert (
        entries[f"{name}.plain.cuda_mfu"].median < entries[f"{name}.plain.cuda_hfu"].median
    ) == ("full" in name)


def test_without_a_trace_of_the_gpu_the_times_are_kept(
    monkeypatch: pytest.MonkeyPatch, quick_part: Mapping[str, Any]
) -> None:
    """Where the profiler may not look at kernels, iterations can still be timed."""
    monkeypatch.setattr(case, "kind_of", lambda _: None)

    with pytest.raises(IncompletePartError, match="saw no matrix product") as caught:
        quick_part["float32.none"].measure()

    assert {
        "float32.none.cuda_peak",
        "float32.none.plain.cuda_iteration",
        "float32.none.prefetch.cuda_iteration",
    } == set(caught.value.entries)


@pytest.mark.gpu
def test_the_profiler_sees_kernels_copies_and_the_fetch(tmp_path: Path) -> None:
    """On any CUDA GPU the shares add up and keep their order."""
    parts = {p.name: p for p in case.parts(Plan(tmp_path, quick=True))}

    entries = parts["bfloat16.none"].measure()

    for loader in case.LOADERS:
        found = {s: entries[f"bfloat16.none.{loader}.cuda_{s}"].median for s in case.SHARES}
        assert min(found["data"], found["compute"], found["transfer"]) > 0
        assert found["compute"] <= found["utilisation"] <= 100 - found["data"] + TOLERANCE_POINTS
