"""The mission's tables by name: those that a page shows, and those that the browser needs."""

from collections.abc import Callable
from typing import Any

from lesson_site.mission import memory_tables, pipeline_tables
from lesson_site.mission.table import Table, table_data, table_html

# By the name that the fence's ``show`` gives.
TABLES: dict[str, Callable[[], Table]] = {
    "table-bytes": memory_tables.bytes_table,
    "table-static": memory_tables.static_table,
    "table-coefficients": memory_tables.coefficients_table,
    "table-activations": memory_tables.activation_table,
    "table-optimizers": memory_tables.optimizers_table,
    "table-precision": memory_tables.precision_table,
    "table-checkpointing": memory_tables.checkpointing_table,
    "table-largest-batch": memory_tables.largest_batch_table,
    "table-combinations": pipeline_tables.combinations_table,
    "table-batches": pipeline_tables.batches_table,
    "table-walkthrough": pipeline_tables.walkthrough_table,
    "table-laptop": memory_tables.laptop_table,
    "table-contexts": pipeline_tables.contexts_table,
}
# Under the names by which the browser asks for them.
IN_PAYLOAD = {
    "optimizer_table": "table-optimizers",
    "walkthrough": "table-walkthrough",
    "mixed_feedback": "table-precision",
    "activation_table": "table-activations",
    "checkpoint_checks": "table-checkpointing",
}


def payload_tables() -> dict[str, Any]:
    """The tables that instruments show, by the names of the payload."""
    return {key: table_data(TABLES[name]()) for key, name in IN_PAYLOAD.items()}


def static_table(name: str) -> str:
    """A table's HTML; the walkthrough is in the element that adds the learner's column."""
    table = table_html(TABLES[name]())
    if name == "table-walkthrough":
        return f"<walkthrough-column>{table}</walkthrough-column>"
    return table
