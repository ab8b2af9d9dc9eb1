"""What the checks overlook: a solution with one thing changed that still passes.

operators   the changes
mutants     a solution's mutants
trying      what a unit's checks say of each, in forked processes
__main__    the command, and its table
"""
