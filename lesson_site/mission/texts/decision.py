"""The sentences of the recorded decision, and of the design ledger as a file."""

from lesson_site.mission.controls import PRECISION

MESSAGES: dict[str, str] = {
    "record.stands": "The analyzer shows {configuration}.",
    "record.nothing": "Nothing is recorded yet.",
    "record.recorded": "Recorded: {configuration}.",
    "record.spoken": "Configuration recorded.",
    "record.tensor": "The analyzer shows the world in which tensor cores halve compute time, and "
    "nothing is recorded from there. Set it back to “Not modelled” first.",
    "record.gives": "With {precision}: MFU {mfu} %, accelerator utilisation {utilisation} %, "
    "compute share {share} %, memory {memory} GB. Target {reached}.",
    # Under the readout of memory, and of the target.
    "record.memory.fits": "With Adam; fits",
    "record.memory.fits_if_grads_freed": "With Adam; {peak_gb} GB at the peak if gradients are "
    "freed every step",
    "record.memory.over": "With Adam; over by {over_gb} GB",
    "record.target.reached": "reached",
    "record.target.missed": "not reached",
    "record.why.reached": "{target} % or more, within {budget} GB",
    "record.why.below": "Utilisation is below {target} %",
    "record.why.over_memory": "It does not fit in {budget} GB",
    "record.fp16": f"The analyzer has no row for {PRECISION['fp16']}; the file takes the one for "
    "Mixed.",
    "export.missing": "The file can be made once this is done:",
    "export.ready": "Everything is done: the file holds your predictions, your decision and what "
    "you reached on the laptop.",
    "export.not_yet": "Not yet: do what is above first.",
    "export.saved": "Saved as {file}. {kept}",
    "export.copied": "Copied. {kept}",
    "export.not_copied": "Your browser did not let this page copy. The text is below; copy it "
    "from there. {kept}",
    "export.shown": "The text is below. {kept}",
    "export.kept": "It is in your design ledger in this browser too.",
    "export.not_kept": "This browser does not keep it, so keep the file.",
    "import.here": "Your design ledger holds a decision of {date}.",
    "import.empty": "Your design ledger holds nothing of the mission yet.",
    "import.unread": "The file could not be read; choose it again. Nothing was changed.",
    "import.no_checker": "The checker could not be loaded. Nothing was changed; reload the page, "
    "and try again.",
    "import.refused": "Not imported; nothing was changed. {count} to mend:",
    "import.good": "This is a good design ledger. Look at it, and confirm.",
    "import.warned": "This can be imported. Look at it first, since there is doubt:",
    "import.done": "Imported into your design ledger. It opens no part of the mission.",
    "import.until_close": "Imported until you close this page: your browser keeps nothing for this "
    "site.",
    "import.not_kept": "Your browser refused to keep it. Nothing was changed.",
}
