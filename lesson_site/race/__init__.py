"""The race of CPU and GPU in the page: the lesson's training step as files that a browser can run.

``python -m lesson_site race`` writes ``docs/assets/race``: ``graphs.json`` and the ONNX files that
it lists. They are committed, so no build needs PyTorch. What they promise to anyone who runs them:

*   **The lesson's code.** A ``training step`` is ``train_step`` of
    ``lesson_code/benchmarks/race.py``, traced with PyTorch's own optimizer: forward pass, loss,
    backward pass and update in one graph. Its four lines are those of the loop on the pages. A test
    exports it again and compares bytes; where the versions differ from ``exported_with``, it
    compares all but the names of the values in between.
*   **State in, state out.** ``inputs`` and ``outputs`` have the graph's own order. The last two
    inputs are ``images``, float32, normalised as the lesson does it, and ``labels``, int32, 0 to 9.
    All before them is state. Output ``i`` is input ``i`` after the step, ``new.`` before its name;
    the last output is ``loss``, float32 without dimensions: the batch's mean, before the update. So
    the caller feeds a step's outputs, all but the last, into the next one as they are.
*   **Nothing random, no weights.** The caller draws the first weights. PyTorch's are uniform
    between -1/sqrt(n) and 1/sqrt(n) for a layer of n inputs, biases included. Adam's averages
    ``exp_avg.*`` and ``exp_avg_sq.*`` and its count ``step``, a float32, begin at zero.
*   **Any batch.** One session takes batches of every size, the learning rate is a constant of the
    graph, and ``flop_per_sample`` times the batch is the arithmetic of a step. A ``product`` takes
    matrices (m, k) and (k, n) and costs 2mkn operations.
*   **No way back to the CPU.** All arithmetic is float32; only the batch's size is a 64-bit whole
    number, which goes to the GPU once a step. Nothing needs to come back but the loss.
*   **Agreement.** From the same weights and batches, against ``torch.optim`` on a CPU: SGD's
    weights within 1e-6 after the first step, and after 20 of them at the lesson's widths and
    below; Adam's within 2e-5 after the first, where a gradient is above 1e-7; all losses within
    1e-2 over 20 steps. ``tests/lesson_site/race`` proves it natively for every file. More cannot be
    asked of two devices that round differently. Adam divides a gradient by its own size, so where
    that is near 1e-8, the rounding decides; and one input of a ReLU that rounds to the other side
    of zero moves a row, by 1e-5 with SGD, by the learning rate with Adam. The widest model has
    millions of them in 20 steps.
*   **Nothing of the exporting machine**: no paths, no stack traces, the same bytes each time.

``export`` and ``files`` need PyTorch, ONNX and ONNX Script, and nothing that builds pages imports
them; ``fence`` puts the race on a page.
"""

from pathlib import Path

FOLDER = Path("docs/assets/race")
LIST = "graphs.json"
