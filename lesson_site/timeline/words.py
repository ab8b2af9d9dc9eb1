"""What the timeline says; Python and the browser fill in the places alike."""

WORDS = {
    # Who waits for whom, by the run's cause
    "load": "the GPU waits for Python, which prepares each batch itself",
    "workers": "the GPU waits for Python, and Python for the workers that prepare the next batch",
    "workers 1": "the GPU waits for Python, and Python for the worker that prepares the next batch",
    "launch": "the GPU waits for Python, which asks for {kernels} kernels, one after the other",
    "launch graph": "the GPU waits for Python, which asks for one graph after the other",
    "copy": "the GPU waits for its batch, {size}, which is still on the way",
    "answer": "the GPU waits for Python, which waits for the loss to come back",
    "gpu": "Python waits for the GPU, which has work nearly all the time",
    "gpu ahead": "Python runs ahead of the GPU, which has work nearly all the time, and waits for "
    "it only at the end",
    "either": "It depends on your computer: where Python is slow, {slow}; where it is fast, {fast}",
    "busy": "The GPU computes for {share} of the time (forecast).",
    "speed": "About {likely} steps a second, {band} (forecast).",
    "band": "from {low} to {high}",
    "no band": "whatever the computer",
    "lying": "Without its loading a step takes about {step}; a clock that does not wait for the "
    "GPU reads {clock} (forecast).",
    "true": "Without its loading a step takes about {step}, and a clock that does not wait for the "
    "GPU reads nearly the same (forecast).",
    "moved": "{done}: about {after} steps a second, after {before} before.",
    # One block
    "block": "Step {step}. {what}: {seconds}, from {start} to {end}. {origin}.",
    "kernels": "{parts} kernels",
    "none": "{lane}: none",
    "title": "The first {steps} steps on the {card}, forecast",
    "what if": "What if {question}?",
    "top": "Back to the textbook loop",
}
LANES = {
    "loader": "Loader’s workers",
    "python": "Python",
    "copies": "Copies",
    "gpu": "GPU",
}
SHORT = {
    "load": "prepare",
    "pin": "pin",
    "hand": "take over",
    **dict.fromkeys(("batch", "stream", "room", "loss"), "wait"),
    "copy": "copy",
    "forward": "forward",
    "backward": "backward",
    "update": "update",
    "graph": "graph",
    "answer": "loss",
}
# What a block is, by its lane and its kind; the length of each comes from what ORIGINS says.
BLOCKS = {
    "loader load": ("A worker prepares a batch", "load"),
    "python load": ("Python prepares a batch", "load"),
    "python pin": ("Python copies the batch into pinned memory", "staging"),
    "python hand": ("Python takes over a batch from a worker", "hand"),
    "python batch": ("Python waits for a worker’s batch", "wait"),
    "python stream": ("Python waits for the GPU, before it can copy", "wait"),
    "python room": ("Python waits for the GPU, which has 1,024 requests before it", "wait"),
    "python loss": ("Python waits for the GPU, to read the loss", "wait"),
    "python copy": ("Python copies the batch, and waits for it", "copy"),
    "python copy pinned": ("Python asks for the copies of the batch", "launch"),
    "python forward": ("Python asks for the {parts} of the way forward", "launch"),
    "python backward": ("Python asks for the {parts} of the way back", "launch"),
    "python update": ("Python asks for the {parts} that update the weights", "launch"),
    "python graph": ("Python asks for the whole step, one graph", "launch"),
    "python answer": ("The loss comes back to Python", "answer"),
    "copies copy": ("The batch, {size}, travels to the GPU", "copy"),
    "gpu forward": ("The GPU runs the {parts} of the way forward", "gpu"),
    "gpu backward": ("The GPU runs the {parts} of the way back", "gpu"),
    "gpu update": ("The GPU runs the {parts} that update the weights", "gpu"),
}
ORIGINS = {
    "load": "Measured: what the lesson’s loader takes for so many images on this site’s CPU",
    "load assumed": "Assumed: 0.1 ms for each image",
    "load slow": "Assumed: ten times what the lesson’s loader takes for so many images",
    "hand": "Measured on this site’s CPU",
    "wait": "It lasts until the other is ready",
    "launch": "Counted requests; assumed {launch} for each",
    "copy": "Counted bytes, at {rate}, and {copy} for each of two tensors: published for two "
    "computers, assumed for yours",
    "staging": "Counted bytes; assumed {staging} within the computer’s memory",
    "answer": "Assumed {copy}, as for any copy",
    "gpu": "Counted operations and bytes, at the card’s rates; at least {kernel} a kernel, "
    "published",
}
# One move after the other, from the textbook loop up: what it sets, what is asked, what is done
MOVES: tuple[tuple[str, int | bool | str, str, str], ...] = (
    ("workers", 4, "four workers prepared the batches", "With four workers"),
    (
        *("pinned", True),
        *("the batches were pinned, and nobody waited for copies", "With pinned memory"),
    ),
    (
        *("images", "device"),
        *("all images were on the GPU already", "With all images on the GPU"),
    ),
    ("reads_loss", False, "the loss were not read in each step", "Without reading the loss"),
    ("fused", True, "one kernel updated all weights", "With a fused optimizer"),
    ("graph", True, "the step were one CUDA graph", "With a CUDA graph"),
)
MODELS = {
    "tiny": "500 parameters",
    "mnist": "the lesson’s MNIST model",
    "resnet": "the small residual network",
    "large": "four layers of 4,096",
}
IMAGES = {
    "lesson": "as the lesson prepares them",
    "slow": "ten times as slow to prepare",
    "device": "on the GPU already",
}
LABELS = {
    "model": "Model",
    "batch": "Batch",
    "images": "Images",
    "workers": "Workers",
    "card": "Card",
    "pinned": "pinned memory, non_blocking copies",
    "reads_loss": "read the loss in each step",
    "fused": "fused optimizer",
    "graph": "CUDA graph",
}
