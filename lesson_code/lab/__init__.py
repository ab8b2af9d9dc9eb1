"""The lab: GPU acceleration and mixed precision; `python -m lesson_code.lab --help`."""
