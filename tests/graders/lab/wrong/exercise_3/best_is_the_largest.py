"""Takes the largest batch for the fastest."""

# fails: 3.2
# says: expected 64 of [1, 2, 4, 8, 16, 32, 64, 100, 128, 256], with 1,524 samples per second, got 256


def best_batch(seconds, candidates):
    return max(candidates)
