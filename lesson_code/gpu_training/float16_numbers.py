"""What fits into the two bytes of a float16, and what becomes of the rest.

One bit for the sign, five for the exponent, ten for the digits: few digits and, which matters more
in training, a short range.
"""

import torch


# --8<-- [start:small_numbers]
def print_small_numbers() -> None:
    """Print what float16 keeps of small numbers, and of numbers near its upper end."""
    numbers = ("1e-4", "1e-5", "1e-6", "1e-7", "2.99e-8", "2.98e-8", "1e-8")
    print(f"{'number':>10}{'in float16':>16}{'off by':>12}")
    for number in (*numbers, "65504", "65519", "65520"):
        exact = float(number)
        kept = torch.tensor(exact, dtype=torch.float16).item()
        print(f"{number:>10}{kept:>16.5g}{abs(kept - exact) / exact:>12.2%}")


# --8<-- [end:small_numbers]


def print_lost_updates() -> None:
    """Print where 10,000 updates of 0.00001 take a weight of 0.1."""
    print(f"{'':9}{'weight':>10}{'1 update':>12}{'10,000 updates':>18}")
    for dtype in (torch.float16, torch.float32):
        weight = torch.tensor(0.1, dtype=dtype)
        after_one = weight + 1e-5
        after_all = weight.clone()
        for _ in range(10_000):
            after_all += 1e-5
        name = str(dtype).removeprefix("torch.")
        print(f"{name:9}{weight:>10.5f}{after_one:>12.5f}{after_all:>18.5f}")
