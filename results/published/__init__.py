"""What others measured and published: figures with their sources, checked when they are read.

``sources.toml`` says who published where, and when; ``topics/*.toml`` holds the figures, in groups
of one setting; ``tables/*.json`` the rows over which we count or draw. A page names a figure as
``[[published.ID]]``, and no catalogue entry is needed. A group has

    id, title       what its figures' ids begin with, and what its table shows
    rows, columns   the fields of the setting that make a table's rows and columns
    figures         one a line, each with an id and
                    value = "14949 MiB"         the number as its source prints it, or
                    of, by and way              two figures that we divide, or
                    table, statistic, column, where and unit    rows over which we count
    divide          divisions to make for every row: { id, of, by, base, quantity }

and whatever else its figures share: card, software, model, batch, format, layout, setting,
quantity, how, base, caveat, source. A figure may say each of them itself. A ratio names its base.
"""

from results.published.figure import RATIOS, Published, Source
from results.published.reader import Group, PublishedError, read, read_sources, read_topics

__all__ = [
    "RATIOS",
    "Group",
    "Published",
    "PublishedError",
    "Source",
    "read",
    "read_sources",
    "read_topics",
]
