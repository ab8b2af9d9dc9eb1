"""Divides instead of fitting a line, which hides what does not grow with the batch."""

# fails: 3.1
# says: expected 10,148 fixed bytes and 39,312 for a sample of TinyCNN under bfloat16 autocast, got 0


def memory_per_batch(make_model, batch_sizes, device):
    rows = []
    for batch_size in batch_sizes:
        model = make_model().to(device)
        images, labels = random_digits(batch_size, device)
        meter = SavedBytes(model)
        with meter:
            loss = cross_entropy(model(images), labels)
        rows.append((batch_size, meter.total()))
    batch_size, total = rows[-1]
    return MemoryLine(rows, 0, total / batch_size)
