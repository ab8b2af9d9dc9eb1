"""The Python that turns the pages into the site: Markdown fences, figures, checks, build checks.

It reads lesson code as text, so the site builds on a machine without PyTorch.
"""
