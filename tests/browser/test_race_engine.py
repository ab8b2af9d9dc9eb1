"""The race's engine in a real browser: it trains as PyTorch does, and tells every failure.

The GPU here is SwiftShader, a program on the CPU; it computes what a GPU computes, slowly. Nothing
asks how fast anything is.
"""

import base64
import gzip
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page
from torch import nn

from lesson_code.benchmarks.race import train_step
from lesson_site import vendor
from tests.browser.conftest import BROWSERS, FLAGS, REPOSITORY, QuietHandler, QuietServer
from tests.lesson_site.race.native import (
    ADAM_WEIGHTS,
    LOSSES,
    SGD_WEIGHTS,
    SMALLEST_GRADIENT,
    STEPS,
    optimizer_of,
)
from tests.race import batches, first_state, matrices, model_of

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; style-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}
PLAIN_HOST = "plain.example"  # http without any trust
GPU_FLAGS = (
    *(flag for flag in FLAGS if flag != "--disable-gpu"),
    *("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"),
    f"--host-resolver-rules=MAP {PLAIN_HOST} 127.0.0.1",
)
RACERS = ["browser_cpu", "browser_gpu"]
BATCH = 16
PATIENCE_MS = 120_000
PROGRAM = "**/ort-wasm-simd-threaded.jspi.wasm.gz"

# What the tests run in the page. Numbers cross as bytes, which is faster than as text.
TOOLS = """() => {
  window.violations = [];
  addEventListener("securitypolicyviolation", ({ blockedURI }) => violations.push(blockedURI));
  window.packed = (numbers) =>
    btoa(Array.from(new Uint8Array(numbers.buffer), (byte) => String.fromCharCode(byte)).join(""));
  window.engines = {};
  window.load = async (name, racer, choice, root = "/assets/") => {
    const { Engine } = await import(root + "elements/race/engine.js");
    window.engines[name]?.close();
    window.engines[name] = new Engine(racer, undefined, choice);
    const onProgress = (...bytes) => { window.progress = bytes; };
    return window.told(window.engines[name].load({ onProgress }));
  };
  window.told = (promise) => promise.catch(({ name, kind, message }) => [name, kind, message]);
}"""
LOAD = "([name, racer, choice, root]) => load(name, racer, choice, root)"
# Runs so many steps one by one; gives all losses, and the state after the steps that are named.
TRAIN = """async ([name, task, steps, wanted]) => {
  const engine = engines[name];
  const { check } = await engine.prepare(task);
  const found = { check, losses: [], states: [] };
  for (let step = 1; step <= steps; step += 1) {
    found.losses.push((await engine.block(1)).value);
    if (!wanted.includes(step)) continue;
    const state = Object.entries(await engine.state());
    found.states.push(state.map(([name, numbers]) => [name, packed(numbers)]));
  }
  return found;
}"""
PREPARE_AND_STEP = """async ([name, task]) => {
  const { check } = await engines[name].prepare(task);
  return [check, (await engines[name].block(1)).value];
}"""


class RaceHandler(QuietHandler):
    """Serves our assets under the strict policy; an address's first folder may ask for more."""

    extensions_map: ClassVar = {**QuietHandler.extensions_map, ".mjs": "text/javascript"}

    def translate_path(self, path: str) -> str:
        """The same files for every first folder."""
        return super().translate_path(path.removeprefix("/isolated").removeprefix("/unpacking"))

    def end_headers(self) -> None:
        """Send what the folder asks for."""
        headers = {"Content-Security-Policy": POLICY}
        if self.path.startswith("/isolated"):
            headers |= ISOLATION
        if self.path.startswith("/unpacking") and self.path.endswith(".gz"):
            headers["Content-Encoding"] = "gzip"
        for name, value in headers.items():
            self.send_header(name, value)
        super().end_headers()

    def do_GET(self) -> None:  # noqa: N802
        """A file, or a page without anything."""
        if not self.path.endswith("/blank"):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(
            b"<!doctype html><html lang=en><link rel=icon href=data:,><title>Race</title>"
        )


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where our assets are served, without the lesson around them."""
    for build in vendor.RACE_BUILDS:
        missing = "run `python -m lesson_site.vendor`"
        assert vendor.race_download_mb(build, REPOSITORY), missing
    server: ThreadingHTTPServer = QuietServer(
        ("127.0.0.1", 0), partial(RaceHandler, directory=str(REPOSITORY / "docs"))
    )
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def gpu_browser(browser: Browser) -> Iterator[Browser]:
    """A browser of our own, since the other one has its GPU switched off."""
    executable = next(filter(None, map(shutil.which, BROWSERS)))
    own = browser.browser_type.launch(executable_path=executable, args=list(GPU_FLAGS))
    yield own
    own.close()


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """An empty page with the tools of these tests, in a window of its own."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address}/blank")
        page.evaluate(TOOLS)
        yield page


@pytest.fixture
def window(gpu_browser: Browser, address: str) -> Iterator[Page]:
    """A page without any engine."""
    with opened(gpu_browser, address) as page:
        yield page


@pytest.fixture(scope="module")
def said() -> list[str]:
    """The errors that the page with the racers wrote on the console."""
    return []


@pytest.fixture(scope="module")
def racers(gpu_browser: Browser, address: str, said: list[str]) -> Iterator[Page]:
    """A page on which both racers are loaded, for several tests."""
    with opened(gpu_browser, address) as page:
        page.on("console", lambda told: said.extend([told.text] * (told.type == "error")))
        page.evaluate("() => { window.facts = {}; }")
        for racer in RACERS:
            facts = page.evaluate(LOAD, [racer, racer, {}])
            page.evaluate("([racer, facts]) => { window.facts[racer] = facts; }", [racer, facts])
        yield page


def numbers(packed: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The numbers in a text of the page."""
    return np.frombuffer(base64.b64decode(packed), np.float32)


def largest_difference(model: nn.Module, state: dict[str, str], of_clear_gradients: bool) -> float:
    """Between PyTorch's weights and those in the page."""
    largest = 0.0
    for name, weight in model.named_parameters():
        found = torch.from_numpy(numbers(state[name]).reshape(weight.shape).copy())
        difference = (weight.detach() - found).abs()
        if of_clear_gradients and weight.grad is not None:
            difference = difference[weight.grad.abs() > SMALLEST_GRADIENT]
        largest = max(largest, difference.max().item())
    return largest


def checked_losses(graph: dict[str, Any], size: int) -> list[float]:
    """The losses of three steps on the first batch, by PyTorch."""
    model = model_of(graph, first_state(graph))
    trained = optimizer_of(graph, model)
    images, labels = batches(size, 1)[0]
    criterion = nn.CrossEntropyLoss()
    return [train_step(model, criterion, trained, images, labels).item() for _ in range(3)]


@pytest.mark.parametrize("racer", RACERS)
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_page_trains_as_pytorch_does(racers: Page, racer: str, optimizer: str) -> None:
    """From the same weights and batches: weights after the first and 20th step, and every loss."""
    graph = STEPS[f"{optimizer}-256-128"]
    task = {"kind": "step", "width": 256, "batch": BATCH, "optimizer": optimizer}

    found = racers.evaluate(TRAIN, [racer, task, 20, [1, 20]])

    model = model_of(graph, first_state(graph))
    trained = optimizer_of(graph, model)
    weights, losses = [], []
    for step, (images, labels) in enumerate(batches(BATCH, 20), start=1):
        losses.append(train_step(model, nn.CrossEntropyLoss(), trained, images, labels).item())
        if step in (1, 20):
            state = dict(found["states"][len(weights)])
            weights.append(largest_difference(model, state, optimizer == "adam"))
    if optimizer == "sgd":
        assert max(weights) <= SGD_WEIGHTS
    else:
        assert weights[0] <= ADAM_WEIGHTS
    assert np.abs(np.subtract(losses, found["losses"])).max() <= LOSSES
    assert found["check"] == sorted(found["check"], reverse=True)
    assert np.allclose(checked_losses(graph, BATCH), found["check"], rtol=1e-4)


@pytest.mark.parametrize("racer", RACERS)
def test_one_session_takes_every_batch(racers: Page, racer: str) -> None:
    """The first losses are PyTorch's at each size, one after the other."""
    for size in (2, 7, 64, 128):
        task = {"kind": "step", "width": 64, "batch": size}
        check, value = racers.evaluate(PREPARE_AND_STEP, [racer, task])

        expected = checked_losses(STEPS["adam-64-32"], size)
        assert np.allclose([*expected, expected[0]], [*check, value], rtol=1e-4)


@pytest.mark.parametrize("racer", RACERS)
def test_products_are_those_of_pytorch(racers: Page, racer: str) -> None:
    """Three of them, each of the one before, and the sizes of their entries, which are compared."""
    left, right = map(torch.from_numpy, matrices(128))
    expected = [left @ right, left @ right @ right, left @ right @ right @ right]

    found = racers.evaluate(TRAIN, [racer, {"kind": "product", "n": 128}, 3, [1, 3]])

    sizes = [product.square().mean().sqrt().item() for product in expected]
    assert np.allclose(sizes, found["check"], rtol=1e-5)
    assert np.allclose(sizes, found["losses"], rtol=1e-5)
    for product, state in zip((expected[0], expected[2]), found["states"], strict=True):
        assert np.abs(numbers(dict(state)["a"]) - product.numpy().ravel()).max() <= 1e-4 * sizes[0]


def test_a_loss_can_be_read_after_every_step(racers: Page) -> None:
    """It is the same training, so the last loss is the one of a block that reads once."""
    block = """async (name) => {
      await engines[name].prepare({ kind: "step", width: 64, batch: 16 });
      const once = await engines[name].block(4);
      await engines[name].prepare({ kind: "step", width: 64, batch: 16 });
      const each = await engines[name].block(4, { read: true });
      return [once, each];
    }"""

    once, each = racers.evaluate(block, "browser_gpu")

    assert np.allclose(once["value"], each["value"], rtol=1e-5)
    assert min(once["ms"], each["ms"]) > 0


def test_the_racers_say_what_they_are(racers: Page, said: list[str]) -> None:
    """A program is not called a GPU; nothing broke the policy, and no error is on the console."""
    cpu, gpu = (racers.evaluate("(racer) => facts[racer]", racer) for racer in RACERS)

    common = {"threads": 1, "build": "jspi", "engine": "onnxruntime-web 1.30.0"}
    name = "CPU in the browser (WebAssembly, 1 thread)"
    assert common | {
        "racer": "browser_cpu", "adapter": None, "software": False, "name": name,
    } == cpu  # fmt: skip
    name = "software WebGPU adapter (google swiftshader), not a GPU"
    assert common | {
        "racer": "browser_gpu", "adapter": "google swiftshader", "software": True, "name": name,
    } == gpu  # fmt: skip
    loaded, total = racers.evaluate("progress")
    assert loaded == total > 16e6
    assert [] == racers.evaluate("violations")
    assert [] == said


def test_nothing_comes_back_from_the_gpu_in_a_step(window: Page) -> None:
    """The runtime's own account of the step names a copy to the GPU, and none from it."""
    said: list[str] = []
    prepare = "() => { told(engines.one.prepare({ kind: 'step', width: 64, batch: 2 })); }"
    window.evaluate(LOAD, ["one", "browser_gpu", {"verbose": True}])
    window.on("console", lambda message: said.append(message.text))

    ready = "Session successfully initialized"
    with window.expect_console_message(lambda told: ready in told.text, timeout=PATIENCE_MS):
        window.evaluate(prepare)

    account = "\n".join(said)
    assert "MemcpyFromHost" in account
    assert "MemcpyToHost" not in account


@pytest.mark.parametrize("racer", RACERS)
def test_the_other_build_trains_too(window: Page, racer: str) -> None:
    """The one for browsers in which WebAssembly can't wait by itself."""
    expected = checked_losses(STEPS["adam-64-32"], 2)

    facts = window.evaluate(LOAD, ["one", racer, {"build": "asyncify"}])
    task = {"kind": "step", "width": 64, "batch": 2}
    check, value = window.evaluate(PREPARE_AND_STEP, ["one", task])

    assert "asyncify" == facts["build"]
    assert np.allclose([*expected, expected[0]], [*check, value], rtol=1e-4)


def test_without_a_gpu_nothing_is_loaded(browser: Browser, address: str) -> None:
    """The racer says so in a sentence before it downloads anything."""
    asked: list[str] = []
    with opened(browser, address) as page:
        page.on("request", lambda request: asked.append(request.url))
        name, kind, sentence = page.evaluate(LOAD, ["one", "browser_gpu", {}])

    assert ("EngineError", True) == (name, kind in ("no-webgpu", "no-adapter"))
    assert "GPU" in sentence
    assert [] == [url for url in asked if "vendor" in url or "/race/graphs" in url]


OTHER = {"body": gzip.compress(b"something else")}
BROKEN_FILES = {
    "another program": (PROGRAM, OTHER, "is not the file that this page was built with"),
    "half a program": (PROGRAM, {"body": OTHER["body"][:-9]}, "jspi.wasm.gz did not come whole"),
    "no program": (PROGRAM, {"status": 404}, "jspi.wasm.gz is not on this site"),
    "a tired server": (PROGRAM, {"status": 503}, "The server answered with 503"),
    "no network": (PROGRAM, None, "jspi.wasm.gz did not come; look at the network"),
    "another loader": ("**/*.jspi.mjs", OTHER, "ort-wasm-simd-threaded.jspi.mjs is not the file"),
    "another graph": ("**/product.onnx", OTHER, "product.onnx is not the file"),
    "no list": ("**/graphs.json", {"status": 404}, "graphs.json is not on this site"),
}


@pytest.mark.parametrize("case", BROKEN_FILES)
def test_a_file_that_is_missing_or_wrong_is_named(window: Page, case: str) -> None:
    """Nothing of it runs."""
    files, answer, expected = BROKEN_FILES[case]
    window.route(files, lambda route: route.fulfill(**answer) if answer else route.abort())

    name, kind, sentence = window.evaluate(LOAD, ["one", "browser_cpu", {}])

    assert ("EngineError", "download") == (name, kind)
    assert expected in sentence


def test_closing_stops_what_is_under_way(window: Page) -> None:
    """A load, and a block that would take hours."""
    during_load = """async () => {
      const loading = load("one", "browser_cpu", {});
      while (!engines.one) await new Promise((resolve) => setTimeout(resolve));
      engines.one.close();
      return loading;
    }"""
    during_block = """async () => {
      await load("two", "browser_cpu", {});
      await engines.two.prepare({ kind: "product", n: 128 });
      const block = told(engines.two.block(1e9));
      setTimeout(() => engines.two.close(), 50);
      return block;
    }"""

    found = [window.evaluate(during_load), window.evaluate(during_block)]

    assert [["EngineError", "stopped", "The race was stopped."]] * 2 == found


def test_a_lost_device_is_told(window: Page, address: str) -> None:
    """Anyone who waits for it hears that it is gone, and so does anyone who asks next."""
    take_away = """async (url) => {
      const { env } = await import(url);
      (await env.webgpu.device).destroy();
    }"""
    wait = "async () => [await block, await told(engines.one.block(1))]"
    begin = "() => { window.block = told(engines.one.block(1e9)); }"
    window.evaluate(LOAD, ["one", "browser_gpu", {}])
    window.evaluate(PREPARE_AND_STEP, ["one", {"kind": "product", "n": 128}])
    window.evaluate(begin)

    window.workers[0].evaluate(
        take_away, f"{address}/assets/vendor/onnxruntime/{vendor.RACE_BUILDS['jspi'][0]}"
    )
    found = window.evaluate(wait)

    assert [["EngineError", "lost"]] * 2 == [told[:2] for told in found]
    assert found[0][2].startswith("The GPU was taken away while it ran")


def test_what_cannot_run_is_told(window: Page) -> None:
    """A width that the race lacks, and a batch that is too large; the engine works afterwards."""
    ask = """async (tasks) => {
      await load("one", "browser_cpu", {});
      const told = [];
      for (const task of tasks) told.push(await window.told(engines.one.prepare(task)));
      return told;
    }"""
    tasks = [
        {"kind": "step", "width": 100, "batch": 16},
        {"kind": "step", "width": 64, "batch": 8192},
        {"kind": "product", "n": 128},
    ]

    width, batch, product = window.evaluate(ask, tasks)

    assert ["EngineError", "broken"] == width[:2] == batch[:2]
    assert "There is no adam-100-50 among the graphs" in width[2]
    assert "There are 4096 images" in batch[2]
    assert 3 == len(product["check"])


def test_a_server_may_unpack_by_itself(window: Page) -> None:
    """Some send packed files as packed answers, which the browser then unpacks."""
    facts = window.evaluate(LOAD, ["one", "browser_cpu", {}, "/unpacking/assets/"])

    assert "CPU in the browser (WebAssembly, 1 thread)" == facts["name"]


def test_an_isolated_page_uses_several_threads(gpu_browser: Browser, address: str) -> None:
    """As many as there are, but for more than eight; the losses are the same."""
    with opened(gpu_browser, f"{address}/isolated") as page:
        facts = page.evaluate(LOAD, ["one", "browser_cpu", {}, "/isolated/assets/"])
        task = {"kind": "step", "width": 64, "batch": 64}
        check, _ = page.evaluate(PREPARE_AND_STEP, ["one", task])
        cores = page.evaluate("navigator.hardwareConcurrency")

    assert min(cores, 8) == facts["threads"]
    assert np.allclose(checked_losses(STEPS["adam-64-32"], 64), check, rtol=1e-4)


def test_an_address_without_trust_is_told(gpu_browser: Browser, address: str) -> None:
    """Browsers check no files there, and have no WebGPU."""
    plain = address.replace("127.0.0.1", PLAIN_HOST)

    with opened(gpu_browser, plain) as page:
        _, kind, sentence = page.evaluate(LOAD, ["one", "browser_gpu", {}])

    assert "broken" == kind
    assert sentence.startswith("Browsers check files on secure addresses only")
