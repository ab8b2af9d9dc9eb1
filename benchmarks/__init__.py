"""The benchmark job: it measures lesson code and writes one result file for a machine.

``python -m benchmarks run`` needs torch, torchvision and numpy, and nothing else.
"""
