"""The live server: who gets in, who does not, and what is left when it ends."""

import http.client
import json
import signal
from collections.abc import Iterator
from contextlib import closing
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
import websocket
from jupyter_client.session import Session
from jupyter_server.services.kernels.connection.base import serialize_msg_to_ws_v1

from lesson_site import live as package
from lesson_site.__main__ import main
from tests.live import Live, live
from tests.processes import gone

PAGE = (
    '<!doctype html><html><head><meta charset="utf-8">\n'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'self\'">\n'
    "<title>Made up</title></head><body>Made up.</body></html>"
)
SITEMAP = "<urlset><url><loc>http://a.test/b/</loc></url><url><loc>http://a.test/b/c/</loc></url></urlset>"
FOREIGN = "http://attacker.example"
PROTOCOL = "v1.kernel.websocket.jupyter.org"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with one page, and a secret beside it."""
    site = tmp_path_factory.mktemp("live") / "site"
    (site / "assets" / "elements").mkdir(parents=True)
    (site / "index.html").write_text(PAGE)
    (site / "sitemap.xml").write_text(SITEMAP)
    (site / "assets" / "elements" / "run-on-machine.js").write_text("// made up")
    (site.parent / "secret.txt").write_text("secret")
    return site


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Live]:
    """The real server of that site."""
    with live(folder) as running:
        yield running


class Answer:
    """What a server answered."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies that it set."""
        pairs = (SimpleCookie(line) for line in self.headers.get_all("Set-Cookie", []))
        return {name: morsel.value for jar in pairs for name, morsel in jar.items()}


def ask(
    server: Live, path: str, method: str = "GET", body: str | None = None, **headers: str
) -> Answer:
    """One request, with ``_`` for ``-`` in the names of headers."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        return Answer(connection.getresponse())


@pytest.fixture(scope="module")
def jar(server: Live) -> dict[str, str]:
    """The cookies of a reader who opened the printed address, and then the page."""
    login = ask(server, f"/lesson/?token={server.token}").cookies
    return login | ask(server, "/lesson/", Cookie=header(login)).cookies


def header(cookies: dict[str, str]) -> str:
    """Cookies as a browser sends them."""
    return "; ".join(f'{name}="{value}"' for name, value in cookies.items())


def start_kernel(server: Live, jar: dict[str, str], **headers: str) -> Answer:
    """Ask for a kernel as the page does, but for the headers given."""
    given = {"Cookie": header(jar), "X_XSRFToken": jar["_xsrf"], "Origin": server.origin, **headers}
    kept = {name: value for name, value in given.items() if value}
    return ask(server, "/api/kernels", "POST", json.dumps({"name": "python3"}), **kept)


@pytest.fixture(scope="module")
def kernel(server: Live, jar: dict[str, str]) -> str:
    """The path of a running kernel's socket."""
    return f"/api/kernels/{json.loads(start_kernel(server, jar).text)['id']}/channels"


def connect(server: Live, path: str, **options: object) -> websocket.WebSocket:
    """Open a socket to a kernel."""
    return websocket.create_connection(f"ws://127.0.0.1:{server.port}{path}", timeout=30, **options)


def loop(kernel: websocket.WebSocket) -> None:
    """Let a kernel run an endless loop, and wait until it does."""
    session = Session()
    content = {"code": "print('begun', flush=True)\nwhile True: pass", "silent": False}
    message = session.msg("execute_request", content)
    kernel.send_binary(serialize_msg_to_ws_v1(message, "shell", session.pack))
    while b"begun\\n" not in kernel.recv():
        pass


def test_the_printed_address_opens_and_loses_its_token(server: Live) -> None:
    """It logs in by a cookie that scripts can't read, and leads to the address without it."""
    answer = ask(server, f"/lesson/?token={server.token}")

    assert (302, "/lesson/") == (answer.status, answer.headers["Location"])
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert "SameSite=Lax" in answer.headers["Set-Cookie"]


def test_the_token_is_long_and_new(server: Live, folder: Path) -> None:
    """256 bits, and other ones at each start."""
    with live(folder) as other:
        assert other.token != server.token
    assert 64 == len(server.token)


def test_a_page_loads_what_runs_its_snippets(server: Live, jar: dict[str, str]) -> None:
    """The file has no such line, and the answer does."""
    answer = ask(server, "/lesson/", Cookie=header(jar))

    assert 200 == answer.status
    assert "run-on-machine.js" not in PAGE
    assert '<script type="module" src="/lesson/assets/elements/run-on-machine.js">' in answer.text


def test_a_page_knows_where_learners_files_lie(
    server: Live, jar: dict[str, str], folder: Path
) -> None:
    """Beside the site, in a folder that outlives the server; nobody else is told."""
    answer = ask(server, "/lesson/", Cookie=header(jar))

    assert f'<meta name="lesson-runs" content="{folder.parent}/runs">' in answer.text
    assert str(folder) not in ask(server, "/login").text


def test_the_notebook_works_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made if it is missing, the project's data lie in it, and a second call keeps all."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "notebook"

    package.work_in(str(folder))
    (tmp_path / "data" / "digits").write_text("kept")
    package.work_in(str(folder))

    assert folder == Path.cwd()
    assert "kept" == (folder / "data" / "digits").read_text()


def test_every_answer_carries_the_headers(server: Live, jar: dict[str, str]) -> None:
    """No frame, no referrer, nothing of other origins, and isolated for threads."""
    for path in ("/lesson/", "/lesson/assets/elements/run-on-machine.js", "/login"):
        headers = ask(server, path, Cookie=header(jar)).headers
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "no-referrer" == headers["Referrer-Policy"]
        assert "same-origin" == headers["Cross-Origin-Opener-Policy"]
        assert "require-corp" == headers["Cross-Origin-Embedder-Policy"]
        assert "nosniff" == headers["X-Content-Type-Options"]
        assert "Access-Control-Allow-Origin" not in headers


def test_what_a_worker_may_reach(server: Live, jar: dict[str, str]) -> None:
    """Every script's policy names the pages alone, and the kernels are not below them."""
    script = ask(server, "/lesson/assets/elements/run-on-machine.js", Cookie=header(jar))
    policy = script.headers["Content-Security-Policy"].split("; ")

    assert f"connect-src {server.origin}/lesson/" in policy
    assert "default-src 'none'" in policy


def test_the_list_of_pages_names_them_here(server: Live, jar: dict[str, str]) -> None:
    """Instant navigation follows the addresses in it alone."""
    text = ask(server, "/lesson/sitemap.xml", Cookie=header(jar)).text

    assert f"<loc>{server.origin}/lesson/</loc>" in text
    assert f"<loc>{server.origin}/lesson/c/</loc>" in text


@pytest.mark.parametrize(
    "path",
    [
        "/lesson/../secret.txt",
        "/lesson/%2e%2e/secret.txt",
        "/lesson/no/",
        "/lesson/%00",
        "/lesson/" + 6_000 * "a",
    ],
    ids=["dots", "encoded dots", "unknown", "a zero byte", "too long"],
)
def test_nothing_outside_of_the_site_is_served(
    server: Live, jar: dict[str, str], path: str
) -> None:
    """Dots lead nowhere, and neither does what is no page, or could be no file."""
    assert 404 == ask(server, path, Cookie=header(jar)).status


def test_without_a_login_no_page_opens(server: Live) -> None:
    """A visitor is sent to a page that says where the door is, and takes no token."""
    assert "/login?next=%2Flesson%2F" == ask(server, "/lesson/").headers["Location"]
    closed = ask(server, "/login")

    assert 401 == closed.status
    assert "<form" not in closed.text
    assert 403 == ask(server, "/login", "POST", f"password={server.token}").status


@pytest.mark.parametrize("token", ["0" * 64, "", "x"])
def test_a_wrong_token_is_refused(server: Live, token: str) -> None:
    """It sets no login, and neither pages nor kernels open."""
    answer = ask(server, f"/lesson/?token={token}")

    assert answer.headers["Location"].startswith("/login")
    assert not [name for name in answer.cookies if name.startswith("username")]
    assert 403 == ask(server, f"/api/kernels?token={token}").status


def test_without_a_login_no_kernel_starts(server: Live) -> None:
    """Neither REST nor the socket answers a stranger."""
    assert 403 == ask(server, "/api/kernels").status
    assert 403 == ask(server, "/api/kernels", "POST", "{}").status


def test_the_token_opens_pages_alone(server: Live, kernel: str) -> None:
    """Who sends it to the kernels, where Jupyter would ask for no origin, is refused."""
    token = {"Authorization": f"token {server.token}"}
    assert 403 == ask(server, f"/api/kernels?token={server.token}", Origin=FOREIGN).status
    assert 403 == ask(server, "/api/kernels", **token, Origin=server.origin).status

    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        connect(server, f"{kernel}?token={server.token}", origin=FOREIGN)

    assert 403 == refused.value.status_code


def test_the_page_itself_may(server: Live, jar: dict[str, str], kernel: str) -> None:
    """With cookie, header and origin all opens; so a refusal here is about what lacks."""
    assert 200 == ask(server, "/api/kernels", Cookie=header(jar), X_XSRFToken=jar["_xsrf"]).status
    opened = connect(
        server,
        kernel,
        cookie=header(jar),
        origin=server.origin,
        subprotocols=[PROTOCOL],
    )

    assert PROTOCOL == opened.getsubprotocol()
    opened.close()


def test_a_foreign_origin_starts_nothing(server: Live, jar: dict[str, str]) -> None:
    """Even with the reader's cookie and the right header."""
    assert 404 == start_kernel(server, jar, Origin=FOREIGN).status


@pytest.mark.parametrize("origin", [FOREIGN, "http://127.0.0.1:1", "http://localhost", "null"])
def test_a_foreign_origin_opens_no_socket(
    server: Live, jar: dict[str, str], kernel: str, origin: str
) -> None:
    """Another port of the same host is another origin, although the browser sends it the cookie."""
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        connect(server, kernel, cookie=header(jar), origin=origin)

    assert 403 == refused.value.status_code


@pytest.mark.parametrize(
    "host", ["attacker.example", "attacker.example:80", "127.0.0.1.nip.example"]
)
def test_a_foreign_host_name_is_refused(server: Live, jar: dict[str, str], host: str) -> None:
    """A name that an attacker lets resolve to this machine opens nothing."""
    for path in ("/lesson/", "/api/kernels", "/login"):
        assert 403 == ask(server, path, Cookie=header(jar), Host=host).status


@pytest.mark.parametrize("sent", ["", "2|00000000|00000000000000000000000000000000|0"])
def test_without_the_header_against_forgery_nothing_starts(
    server: Live, jar: dict[str, str], sent: str
) -> None:
    """The cookie alone, which the browser sends by itself, starts no kernel."""
    assert 403 == start_kernel(server, jar, X_XSRFToken=sent).status


def test_a_leaked_cookie_is_of_no_use_to_another_page(server: Live, jar: dict[str, str]) -> None:
    """A page of another port has the reader's cookies; it gets no answer that it could read."""
    other = "http://127.0.0.1:1"
    assert 404 == start_kernel(server, jar, Origin=other).status
    preflight = {"Origin": other, "Access_Control_Request_Method": "POST"}
    asked = ask(server, "/api/kernels", "OPTIONS", Cookie=header(jar), **preflight)

    assert "Access-Control-Allow-Origin" not in asked.headers


def test_there_are_no_terminals(server: Live, jar: dict[str, str]) -> None:
    """The server runs kernels, and nothing else."""
    assert 404 == ask(server, "/api/terminals", Cookie=header(jar), X_XSRFToken=jar["_xsrf"]).status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_kernel_is_left(folder: Path, number: signal.Signals) -> None:
    """Ctrl-C, SIGTERM and a terminal that closes end even a busy one, and the server's folder goes.

    After SIGKILL it sees that its parent is gone.
    """
    before = set(folder.parent.glob("lesson-live-*"))
    with live(folder) as running:
        login = ask(running, f"/lesson/?token={running.token}").cookies
        cookies = login | ask(running, "/lesson/", Cookie=header(login)).cookies
        path = f"/api/kernels/{json.loads(start_kernel(running, cookies).text)['id']}/channels"
        with closing(
            connect(running, path, cookie=header(cookies), subprotocols=[PROTOCOL])
        ) as kernel:
            loop(kernel)
            kernels = running.kernels()
        status = running.stop(number)

    assert kernels
    assert (-signal.SIGKILL if number == signal.SIGKILL else 0) == status
    assert gone(*kernels)
    left = set(folder.parent.glob("lesson-live-*")) - before
    assert (number == signal.SIGKILL) == bool(left)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says when it refuses."""
    assert 2 == main(["live", "--no-browser", *arguments])
    return capsys.readouterr().err


def test_a_site_that_is_not_built_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, with what builds it."""
    assert f"error: {tmp_path} holds no built site; run `make build` first\n" == refusal(
        capsys, str(tmp_path)
    )


@pytest.mark.parametrize(
    "page", ["<title>Unfinished</title>", PAGE.replace("'self'", "'self' 'unsafe-inline'")]
)
def test_a_site_without_its_policy_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str
) -> None:
    """Pages that may run code on the machine are served with their policy, or not at all."""
    (tmp_path / "index.html").write_text(page)
    (tmp_path / package.CLIENT).parent.mkdir(parents=True)
    (tmp_path / package.CLIENT).touch()

    assert "run `make build` again" in refusal(capsys, str(tmp_path))


def test_a_port_that_is_taken_is_said(
    folder: Path, server: Live, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence, with the way out."""
    said = refusal(capsys, str(folder), "--port", str(server.port))

    assert (
        f"error: can't listen on port {server.port}; leave out --port to take a free one\n" == said
    )


@pytest.mark.parametrize("name", package.NEEDED)
def test_a_missing_library_is_said(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, with what installs it."""
    monkeypatch.setattr(package, "find_spec", lambda asked: None if asked == name else asked)

    assert f"error: {name} is not installed; run `pip install -e '.[lesson,live]'`\n" == refusal(
        capsys, str(folder)
    )
