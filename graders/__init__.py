"""Says of what a learner wrote whether it is right: one engine, and the checks of each track.

outcome, report      what a check came to, and how a learner reads it
checks, judging      how a check is written, and what it says of an answer
answers              importing what a learner wrote
process, child       the driver for files: a process of its own that can be stopped
keeper               ends whatever an answer has started
live, notebook       the driver for a kernel's objects, and the notebook's checks
watching             what code does while it trains, seen from outside
lab                  the checks of the lab's four exercises
"""
