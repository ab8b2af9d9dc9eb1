"""Forgets the device."""

# fails: 3.1
# says: models that stay on the CPU


def memory_per_batch(make_model, batch_sizes, device):
    rows = []
    for batch_size in batch_sizes:
        model = make_model()
        images, labels = random_digits(batch_size, torch.device("cpu"))
        meter = SavedBytes(model)
        with meter:
            loss = cross_entropy(model(images), labels)
        rows.append((batch_size, meter.total()))
        del loss
    per_sample, fixed = linear_regression(*zip(*rows, strict=True))
    return MemoryLine(rows, fixed, per_sample)
