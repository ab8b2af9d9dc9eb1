"""Takes the shortest step for the fastest training."""

# fails: 3.2
# says: with 1,524 samples per second, got 1 


def best_batch(seconds, candidates):
    return min(candidates, key=seconds)
