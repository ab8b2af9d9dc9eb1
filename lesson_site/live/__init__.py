"""The built site, served on this machine, where real PyTorch runs what its pages show.

``server`` has the Jupyter server and its settings, ``pages`` what it serves. Both need
``jupyter_server``, which the site's build does without; this module looks whether it is there.
"""

import contextlib
import os
import socket
from importlib.util import find_spec
from pathlib import Path

from lesson_site.errors import LiveError
from lesson_site.postbuild.policy import EXISTING

HOST = "127.0.0.1"
NEEDED = ("jupyter_server", "ipykernel", "torch")
CLIENT = Path("assets/elements/run-on-machine.js")


def serve(site: Path, port: int = 0, browser: bool = True) -> None:
    """Serve ``site`` until the process is told to stop.

    Args:
        site: The folder of the finished site.
        port: Where to listen on the loopback interface; 0 takes a free port.
        browser: Whether to open the site in the reader's browser.

    Raises:
        LiveError: If there is no such site, a library is missing, or the port is taken.
    """
    _check_site(site)
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise LiveError(f"{missing[0]} is not installed; run `pip install -e '.[lesson,live]'`")
    try:
        socket.create_server((HOST, port)).close()
    except (OSError, OverflowError):
        raise LiveError(
            f"can't listen on port {port}; leave out --port to take a free one"
        ) from None
    from lesson_site.live.server import run

    run(site.resolve(), port, browser)


def runs_of(site: Path) -> Path:
    """The folder of what learners write and make, beside the site; it outlives the server."""
    return site.parent / "runs"


def work_in(folder: str) -> None:
    """Let this process work where `make notebook` does: in ``folder``, with the project's data.

    The page has it called in the kernel, before the first cell of the notebook.
    """
    data = Path("..", "..", "data")
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    data.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):  # it is there already, or links are not for everybody
        Path("data").symlink_to(data, target_is_directory=True)


def _check_site(site: Path) -> None:
    if not (site / "index.html").is_file():
        raise LiveError(f"{site} holds no built site; run `make build` first")
    policy = EXISTING.search((site / "index.html").read_text(encoding="utf-8"))
    finished = policy is not None and "'unsafe-inline'" not in policy[0]  # as a preview's has
    if not finished or not (site / CLIENT).is_file():
        raise LiveError(f"{site} is unfinished or of an older version; run `make build` again")
