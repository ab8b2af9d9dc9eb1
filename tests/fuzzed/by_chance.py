"""How many damaged files a test tries, and which.

`FUZZED_EXAMPLES=100000` tries more than the few that each run of the tests tries, and other ones.
"""

import os
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("FUZZED_EXAMPLES", "60"))


def by_chance(
    *drawn: st.SearchStrategy[object], examples: int = EXAMPLES
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call a function with many draws: the same ones in each run of the tests, others by hand.

    Args:
        drawn: What each of its arguments is drawn from.
        examples: How many calls there are.
    """

    def decorate(read: Callable[..., None]) -> Callable[[], None]:
        often = settings(
            max_examples=examples,
            derandomize="FUZZED_EXAMPLES" not in os.environ,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
            report_multiple_bugs=False,
        )
        return often(given(*drawn)(read))

    return decorate
