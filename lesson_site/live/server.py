"""A Jupyter server for one reader: the site and its kernels, from one origin on the loopback.

Anyone who gets past its login runs code as the reader. So it takes no settings from elsewhere,
answers no other origin, and ends every kernel when it ends.
"""

import os
import secrets
import signal
import tempfile
from pathlib import Path

from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from lesson_site.live import HOST
from lesson_site.live.pages import BASE, Door, SiteHandler

REPOSITORY = Path(__file__).parents[2]
IDLE_S = 1800  # a kernel that is idle for so long, with no page open, is ended
TOKEN_BYTES = 32
# The pages carry the site's own policy besides; a browser keeps to both.
HEADERS = {
    "Content-Security-Policy": "; ".join(
        [
            "frame-ancestors 'none'",
            "connect-src 'self'",  # which the sockets of the same origin are part of
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    ),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class LiveServer(ServerApp):
    """Jupyter's server, which stops at the first Ctrl-C without asking back."""

    def init_signal(self) -> None:
        """Stop on Ctrl-C, on SIGTERM and with the terminal, and end every kernel."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop_at_once)
        hangup = getattr(signal, "SIGHUP", None)  # which Windows lacks, and nohup has ignored
        if hangup and signal.getsignal(hangup) is not signal.SIG_IGN:
            signal.signal(hangup, self._stop_at_once)

    def _stop_at_once(self, *_: object) -> None:
        if not self._stopping:
            self.stop(from_signal=True)


def settings(port: int, browser: bool, work: Path) -> Config:
    """Everything that is not Jupyter's default.

    Args:
        port: Where to listen; 0 takes a free port.
        browser: Whether to open the reader's browser.
        work: An empty folder, in which kernels work.
    """
    config = Config()
    server = config.ServerApp
    server.ip = HOST
    server.port = port
    server.port_retries = 0
    server.root_dir = str(work)
    server.default_url = BASE
    server.open_browser = browser
    server.allow_remote_access = False  # so that requests for any other host's name are refused
    server.allow_unauthenticated_access = False
    server.allow_root = True  # as on rented machines; what runs is what the reader starts anyway
    server.terminals_enabled = False
    server.log_level = "ERROR"
    server.tornado_settings = {"headers": HEADERS}
    server.identity_provider_class = Door
    config.IdentityProvider.token = secrets.token_hex(TOKEN_BYTES)
    # Lax, since the browser comes from the tokened address; gone when the browser closes.
    config.IdentityProvider.cookie_options = {"samesite": "Lax", "expires_days": None}
    config.MappingKernelManager.cull_idle_timeout = IDLE_S
    config.KernelManager.transport_encryption = "auto"  # other users of the machine hear nothing
    config.KernelManager.shutdown_wait_time = 2.0  # seconds; a busy kernel is killed then
    config.KernelSpecManager.kernel_dirs = []  # this Python's own kernel, and no other
    return config


def run(site: Path, port: int, browser: bool) -> None:
    """Serve until Ctrl-C, SIGTERM or SIGHUP; print the address once.

    Args:
        site: The folder of the finished site, absolute.
        port: Where to listen; 0 takes a free port.
        browser: Whether to open the reader's browser.
    """
    with tempfile.TemporaryDirectory(prefix="lesson-live-", ignore_cleanup_errors=True) as folder:
        _stand_alone(Path(folder))
        work = Path(folder, "work")
        work.mkdir()
        server = LiveServer.instance(config=settings(port, browser, work))
        server.initialize(argv=[], find_extensions=False)
        handler = (f"{BASE}(.*)", SiteHandler, {"site": site})
        server.web_app.add_handlers(".*$", [handler])  # type: ignore[no-untyped-call]
        token = server.identity_provider.token
        # said by the loop, which by then has begun to listen
        server.io_loop.add_callback(_say, f"http://{HOST}:{server.port}{BASE}?token={token}")
        server.start()


def _say(address: str) -> None:
    print(f"The lesson, live: {address}", flush=True)
    print("Keep the address to yourself. Ctrl-C ends the server and all that it runs.", flush=True)


def _stand_alone(folder: Path) -> None:
    """Let neither the reader's settings of Jupyter and IPython in, nor anything of ours out."""
    for name in ("DATA", "RUNTIME"):
        os.environ[f"JUPYTER_{name}_DIR"] = str(folder / name.lower())
    os.environ["JUPYTER_NO_CONFIG"] = "1"
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    os.environ["PYTHONWARNINGS"] = "ignore"  # as where the outputs were recorded
    # Kernels work in an empty folder, and import the lesson from here.
    paths = [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
