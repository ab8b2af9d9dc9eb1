"""Numbers as the mission writes them, from values that nothing has rounded before."""

from lesson_code.mission.memory import to_gb, to_gib

TWO_DECIMALS_BELOW_GB = 20


def gb(size_bytes: float) -> str:
    """Decimal gigabytes with one decimal: ``41.7``."""
    return f"{to_gb(size_bytes):,.1f}"


def fine_gb(size_bytes: float) -> str:
    """Decimal gigabytes, with two decimals where they are few: ``13.34``, ``91.9``."""
    size_gb = to_gb(size_bytes)
    return f"{size_gb:.2f}" if size_gb < TWO_DECIMALS_BELOW_GB else f"{size_gb:,.1f}"


def gib(size_bytes: float) -> str:
    """Gibibytes with one decimal."""
    return f"{to_gib(size_bytes):,.1f}"


def percent(share: float) -> str:
    """A share of 1 as a percentage with one decimal, without its sign: ``84.6``."""
    return f"{100 * share:.1f}"


def times(quotient: float) -> str:
    """A multiplier with two decimals, without its sign: ``1.61``."""
    return f"{quotient:.2f}"


def whole_gb(size_bytes: float) -> str:
    """Decimal gigabytes without decimals, for sizes made of rounded inputs: ``12``."""
    return f"{to_gb(size_bytes):,.0f}"


def exact_gb(size_bytes: float) -> str:
    """Decimal gigabytes with two decimals, however many they are: ``24.92``."""
    return f"{to_gb(size_bytes):,.2f}"


def factor(quotient: float) -> str:
    """How many times, as the page writes it: ``1.38×``; whole numbers without decimals: ``2×``."""
    return f"{quotient:.0f}×" if quotient == round(quotient) else f"{quotient:.2f}×"


def saving(quotient: float) -> str:
    """How many times smaller; what is not smaller keeps a decimal, to be seen: ``1.0×``."""
    return "1.0×" if quotient == 1 else factor(quotient)
