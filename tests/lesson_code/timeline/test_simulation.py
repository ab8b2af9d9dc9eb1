"""Who works and who waits in a training loop, with lengths that are easy to add up."""

from dataclasses import replace

import pytest

from lesson_code.timeline.simulation import (
    DEPTH,
    Block,
    Kernel,
    Loop,
    Run,
    simulate,
)

KERNELS = (Kernel("forward", 2.0), Kernel("backward", 3.0), Kernel("update", 1.0))
SMALL = Loop(KERNELS, launch=10.0, load=1000.0, copy=4.0, staging=5.0, answer=7.0)
LARGE = replace(SMALL, launch=0.5, load=0.0, reads_loss=False)


def lane(run: Run, name: str, step: int) -> list[Block]:
    """What one of the lanes does in a step."""
    return [block for block in run.blocks if (block.lane, block.step) == (name, step)]


def one(run: Run, name: str, kind: str, step: int) -> Block:
    """The only block of its kind in a step."""
    [found] = [block for block in lane(run, name, step) if block.kind == kind]
    return found


def test_without_workers_everything_is_done_in_turn() -> None:
    """A step takes as long as load, staging, copy, three requests, the last kernel and the loss."""
    run = simulate(SMALL)

    assert run.period == pytest.approx(1000 + 5 + 4 + 3 * 10 + 1 + 7)
    assert "load" == run.cause
    assert run.busy == pytest.approx(6 / 1047)


def test_workers_share_the_loading() -> None:
    """Four workers bring four batches in the time of one, while Python goes on."""
    run = simulate(replace(SMALL, workers=4, hand=2.0))

    assert run.period == pytest.approx(1000 / 4)
    assert "workers" == run.cause
    assert [0, 1, 2, 3] == [lane(run, "loader", step)[0].row for step in range(4)]


@pytest.mark.parametrize("reads_loss", [False, True])
def test_python_waits_for_a_batch_while_the_gpu_is_at_work(reads_loss: bool) -> None:
    """So that both shares exceed the whole, unless each step waits for the GPU by itself."""
    loop = Loop(KERNELS, launch=0.1, load=14.0, workers=2, copy=0.1, answer=0.1, pinned=True)
    run = simulate(replace(loop, reads_loss=reads_loss))
    steady = [block for step in range(40, 60) for block in lane(run, "python", step)]
    waiting = sum(block.seconds for block in steady if block.kind == "batch") / (20 * run.period)

    assert waiting > 0
    assert reads_loss == (waiting + run.busy <= 1)


def test_a_worker_prepares_two_batches_ahead_and_no_more() -> None:
    """It begins its fourth batch when Python has taken its second."""
    run = simulate(replace(SMALL, load=10.0, workers=1, launch=1000.0))

    starts = [one(run, "loader", "load", step).start for step in range(4)]
    second_taken = one(run, "python", "copy", 1).start
    assert starts == pytest.approx([0.0, 10.0, 20.0, second_taken])


def test_an_ordinary_copy_waits_for_the_stream_and_python_for_the_copy() -> None:
    """It begins when the GPU is through, and Python goes on when it ends."""
    run = simulate(replace(SMALL, load=1.0, launch=0.1, reads_loss=False))

    copy = one(run, "copies", "copy", 3)
    assert copy.start == pytest.approx(one(run, "gpu", "update", 2).end + 5.0)
    assert one(run, "python", "forward", 3).start == pytest.approx(copy.end)
    assert one(run, "python", "stream", 3).seconds > 0


def test_a_copy_from_pinned_memory_does_not_overlap_kernels_of_its_stream() -> None:
    """Python goes on at once; the copy comes after the last kernel and before the next one."""
    run = simulate(replace(SMALL, load=0.1, staging=0.1, launch=0.1, pinned=True, reads_loss=False))

    copy = one(run, "copies", "copy", 3)
    assert copy.start == pytest.approx(one(run, "gpu", "update", 2).end)
    assert one(run, "gpu", "forward", 3).start == pytest.approx(copy.end)
    assert one(run, "python", "forward", 3).end < copy.start
    assert run.period == pytest.approx(6.0 + 4.0)


def test_many_small_kernels_leave_the_gpu_waiting() -> None:
    """Three requests take longer than three kernels, and the time of a step is theirs."""
    run = simulate(replace(LARGE, launch=10.0))

    assert run.period == pytest.approx(30.0)
    assert "launch" == run.cause
    assert run.busy == pytest.approx(6 / 30)


def test_large_kernels_are_waited_for() -> None:
    """The GPU works all the time, and Python runs ahead of it."""
    run = simulate(LARGE)

    assert run.period == pytest.approx(6.0)
    assert run.busy == pytest.approx(1.0)
    assert "gpu" == run.cause


def test_a_clock_that_does_not_wait_reads_what_python_needs() -> None:
    """Three requests, where the GPU needs four times as long for what they ask."""
    run = simulate(LARGE)

    assert run.clock == pytest.approx(1.5)
    assert run.step == pytest.approx(6.0)


def test_reading_the_loss_makes_python_wait() -> None:
    """It waits until the GPU is through, and asks for nothing meanwhile."""
    run = simulate(replace(LARGE, reads_loss=True))

    assert run.period == pytest.approx(0.5 + 6.0 + 7.0)
    assert one(run, "python", "loss", 2).end == pytest.approx(one(run, "gpu", "update", 2).end)


def test_a_graph_is_one_request() -> None:
    """Python asks once a step; the kernels follow each other without a gap."""
    run = simulate(replace(LARGE, launch=2.0, graph=True))

    assert 1 == len(one(run, "python", "graph", 5).pieces)
    assert run.period == pytest.approx(6.0)


@pytest.mark.parametrize("graph", [False, True])
def test_python_waits_where_too_many_requests_lie_before_the_gpu(graph: bool) -> None:
    """The first of them that has to wait does so for the one that many places before it."""
    steps = 1 + (DEPTH if graph else DEPTH // 3)
    run = simulate(replace(LARGE, launch=0.001, graph=graph), steps + 2)

    waiting = [block for block in run.blocks if block.kind == "room"]
    assert steps - 1 == waiting[0].step
    first_done = one(run, "gpu", "update" if graph else "forward", 0)
    assert waiting[0].pieces[0][1] == pytest.approx(first_done.end)


def test_a_cpu_computes_by_itself() -> None:
    """Without a GPU a step takes as long as its batch and its operations."""
    run = simulate(replace(SMALL, load=4.0, on_cpu=True))

    assert run.period == pytest.approx(4.0 + 6.0)
    assert "gpu" == run.cause
    assert [] == lane(run, "gpu", 0) + lane(run, "copies", 0)


def test_a_cpu_waits_for_its_loader() -> None:
    """Where preparing takes longer than computing."""
    run = simulate(replace(SMALL, load=12.0, on_cpu=True))

    assert "load" == run.cause
