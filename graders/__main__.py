"""`python -m graders check UNIT FILE` grades an answer; `collect FOLDER` those of many learners."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder: it may hold what learners handed in
    from graders.commands import main

    sys.exit(main())
