"""What the checks overlook: a solution with one thing changed that still passes.

operators   the changes
mutants     a solution's mutants
processes   forked processes, each with an end
trying      what a unit's checks say of each
modules     the same of a module of ours and its tests, with a command of its own
nursery     a process that has collected those tests once, and tries them on many mutants
accepted    survivors that are as good, each with a reason
table       what is printed, and the table
__main__    the command
"""
