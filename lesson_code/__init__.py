"""The code that the pages show: PyTorch and the standard library, nothing else.

Every function between ``# --8<-- [start:name]`` and ``# --8<-- [end:name]`` may be on a page.
Tests run all of it. This package imports nothing from the site or from the benchmarks.
"""
