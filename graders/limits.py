"""What somebody else's answer may not do, where the system can forbid it."""

import contextlib
import ctypes
import os
import sys
from pathlib import Path

try:
    import resource
except ImportError:  # Windows has none of these limits
    resource = None  # type: ignore[assignment]

GIB = 2**30
MORE_MEMORY = 8 * GIB  # of addresses, beyond those that PyTorch has taken
CPU_S = 600
LARGEST_FILE = GIB // 4
MORE_PROCESSES = 200  # threads included, beyond those that the user has
GPUS = ("/dev/nvidiactl", "/dev/kfd")  # their drivers reserve more addresses than any limit

# From linux/landlock.h and linux/prctl.h; the numbers of the calls are the same on every processor.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION, PATH_BENEATH, PR_SET_NO_NEW_PRIVS = 1, 1, 38
WRITE = 1 << 1
CHANGE = sum(1 << bit for bit in range(4, 13))  # remove and make files, folders, links, sockets
MOVE, TRUNCATE = 1 << 13, 1 << 14  # since versions 2 and 3
SIGNALS, SIGNALS_SINCE = 1 << 1, 6


def confine(home: Path) -> None:
    """From here on let this process, and what it starts, take its share and write in one folder.

    Memory, processor time, the size of files and the number of processes are limited where the
    system has such limits; root's processes are not counted. Writing elsewhere, and signals to
    other processes, are forbidden by Linux where its kernel has Landlock. The network is not.

    Args:
        home: The folder.
    """
    if resource:
        _limit()
    if sys.platform == "linux":
        _write_below(home)


def _limit() -> None:
    lower(resource.RLIMIT_CPU, CPU_S)
    lower(resource.RLIMIT_FSIZE, LARGEST_FILE)
    lower(resource.RLIMIT_CORE, 0)
    with contextlib.suppress(OSError):  # a system without /proc
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        if not any(Path(gpu).exists() for gpu in GPUS):
            lower(resource.RLIMIT_AS, pages * resource.getpagesize() + MORE_MEMORY)
        lower(resource.RLIMIT_NPROC, _threads() + MORE_PROCESSES)


def lower(limit: int, to: int) -> None:
    """Set a limit, unless a lower one is set."""
    most = resource.getrlimit(limit)[1]
    wanted = to if most == resource.RLIM_INFINITY else min(to, most)
    with contextlib.suppress(ValueError, OSError):  # the system does not let itself be told
        resource.setrlimit(limit, (wanted, wanted))


def _threads() -> int:
    """How many threads this user has: what the limit of processes counts."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if process.stat().st_uid == os.getuid():
                found += sum(1 for _ in (process / "task").iterdir())
    return found


class Ruleset(ctypes.Structure):
    """What is forbidden unless a rule allows it."""

    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scope", ctypes.c_uint64),
    )


class Beneath(ctypes.Structure):
    """What is allowed below a folder."""

    _pack_ = 1
    _layout_ = "ms"  # without a gap; Python 3.14 wants to be told whose rule that is
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def landlock() -> int:
    """The version of the kernel's Landlock; 0 without it."""
    if sys.platform != "linux":
        return 0
    return max(0, ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_VERSION))


def _write_below(home: Path) -> None:
    version = landlock()
    if not version:
        return
    call = ctypes.CDLL(None)
    forbidden = WRITE | CHANGE | (version >= 2 and MOVE) | (version >= 3 and TRUNCATE)
    scope = SIGNALS if version >= SIGNALS_SINCE else 0
    rules = Ruleset(forbidden, 0, scope)
    size = ctypes.sizeof(rules) if scope else 8  # older kernels know the first field alone
    ruleset = call.syscall(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    allowed = {
        home: forbidden,
        Path("/dev/shm"): forbidden,
        Path("/dev"): forbidden & ~CHANGE & ~MOVE,
    }
    for folder, what in allowed.items():
        if folder.is_dir():
            opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            rule = Beneath(what, opened)
            call.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0)
            os.close(opened)
    call.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
