"""An update of all tensors at once takes fewer operations than one of each."""

from lesson_code.forecast.updates import operations, print_operations


def test_a_gpu_updates_in_fewer_operations() -> None:
    """The model has six tensors, and one by one each of them takes its own operations."""
    at_once, one_by_one = operations(foreach=True), operations(foreach=False)

    assert one_by_one > 2 * at_once


def test_what_is_printed_is_what_was_counted() -> None:
    """By the device that updates so."""
    counts = print_operations()

    assert {"GPU": operations(foreach=True), "CPU": operations(foreach=False)} == counts
