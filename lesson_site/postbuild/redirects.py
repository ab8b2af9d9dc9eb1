"""Pages at the addresses that sections had while a number was in them: each leads to its page."""

from pathlib import Path

MOVED = [
    *("01-context-and-constraints", "02-a-timing-challenge", "03-device-fundamentals"),
    *("04-device-mismatch", "05-device-aware-loop", "06-check-predict-the-error"),
    *("07-when-a-gpu-helps", "08-device-aware-checkpoints", "09-gpu-training-in-practice"),
    *("10-check-the-slow-gpu", "11-why-mixed-precision", "12-automatic-mixed-precision"),
    *("13-when-mixed-precision-helps", "14-check-the-loss-scale", "15-practice"),
    *("16-summary", "17-next-step"),
]
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="canonical" href="../{name}/">
<meta http-equiv="refresh" content="0; url=../{name}/">
</head>
<body>
<main>
<h1>This page has moved</h1>
<p><a href="../{name}/">Go on to its new address.</a></p>
</main>
</body>
</html>
"""


def write_redirects(site: Path) -> None:
    """Write a page at each old address whose new one is in ``site``."""
    lesson = site / "gpu-training"
    for old in MOVED:
        name = old.partition("-")[2]
        if (lesson / name / "index.html").is_file():
            (lesson / old).mkdir(exist_ok=True)
            page = PAGE.format(name=name)
            (lesson / old / "index.html").write_text(page, encoding="utf-8")
