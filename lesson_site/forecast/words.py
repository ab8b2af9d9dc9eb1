"""What the page says of a forecast; Python and the browser fill in the places alike."""

from lesson_code.forecast.formula import HOST

WORDS = {
    "verdict": "On the {card}, a step is forecast to take about {time}, somewhere from {band}: "
    "about {rate} {things} a second.",
    "arithmetic": "Arithmetic takes the larger part of it. A format for which the card has faster "
    "units would shorten it.",
    "traffic": "Reading and writing memory takes the larger part of it. A format with fewer bytes "
    "would shorten it; faster arithmetic would not.",
    "launches": "Starting its {launches} operations takes longer than the card’s own work, about "
    "{work}. A faster card would not help; a larger batch or fewer operations would.",
    "either": "The card’s own work takes about {work}, and your computer starts the {launches} "
    "operations in {start}. Which of the two you wait for depends on your computer.",
    "fits": "At its fullest the step holds {peak} of tensors, and the {card} has room for {room}: "
    "it fits.",
    "too large": "At its fullest the step holds {peak} of tensors, and the {card} has room for "
    "{room}: it does not fit.",
    "untested": "No published speed on the {card} was compared, so nothing tests this forecast.",
    "units": "no {format} units",
    "no units": "The {card} has no units for {format}. Choose another format, or another card.",
    "not counted": "Nobody counted this step. Choose another batch, format or layout.",
    "group": "A step on the {card}",
    "others": "Others measured, scaled from their batch to yours",
    "point": "{who}, batch {batch}, {format}{layout}",
    "ours": "We measured",
    "own": "You measured",
    "crossing": "The {card} in place of our CPU: how many times as fast, forecast",
    "wins": "GPU {least} to {most}",
    "loses": "CPU {least} to {most}",
    "open": "{least} to {most}",
    "yes": "yes",
    "no": "no",
}
# What limits a step, in a table's cell
LIMITS = {
    "arithmetic": "arithmetic",
    "traffic": "memory traffic",
    "launches": "starting operations",
    "either": "work or starting",
}
PARTS = {
    "arithmetic": "Arithmetic",
    "traffic": "Memory traffic",
    "launches": "Starting operations",
    "step": "The whole step",
}
FORMATS = {
    "float32": "float32",
    "tf32": "TF32",
    "bfloat16": "bfloat16",
    "float16": "float16",
}
# In the list to choose from
FORMAT_CHOICES = FORMATS | {"float32": "float32, without TF32"}
LAYOUT_NAMES = {0: "as PyTorch lays them out", 1: "channels last"}
HOSTS = {
    "": f"{1e6 * HOST.low:.0f} to {1e6 * HOST.high:.0f} µs (not measured on yours)",
    "10": "10 µs",
    "20": "20 µs",
    "30": "30 µs",
    "60": "60 µs",
}
