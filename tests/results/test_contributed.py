"""What readers give is read strictly, and kept apart from what we measured."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as given_any
from hypothesis import strategies as st

from benchmarks.contribute import given
from benchmarks.provenance import machine_slug
from results import contributed, contributor, result_file
from results.catalogue import Definition
from results.contributed import FOLDER, Contribution, best_of_each_card
from results.entry import entry
from results.store import FigureError, Store, open_store, read_result
from tests.benchmarks.made_up import CPU_MACHINE, GPU_MACHINE, good, part, raced, result
from tests.building import REPOSITORY

Content = dict[str, Any]
SKIPPED = {
    "finished": "2026-11-21T15:00Z",
    "took_s": 1.0,
    "load_average": None,
    "skipped": "no room on adas-laptop",
}
FILE = FOLDER / "ada" / "cpu-2-cores-2026-11-21-1400.json"


@pytest.fixture(scope="module")
def store() -> Store:
    """The store of this repository."""
    return open_store(REPOSITORY)


def content(name: str = "Ada", **provenance: object) -> Content:
    """What the command makes of a small result of a machine without a GPU."""
    made = given(good(), name)
    made["provenance"] |= provenance
    return made


def put(root: Path, what: Content, file: Path = FILE) -> Path:
    """Write a file into a repository."""
    result_file.write(what, root / file)
    return root / file


def test_every_file_that_readers_gave_is_good(store: Store) -> None:
    """Those of this repository, in their folders."""
    files = list((REPOSITORY / FOLDER).glob("*/*"))

    assert (REPOSITORY / FOLDER).is_dir()
    assert len(files) == len(contributed.read(store, REPOSITORY))


def test_a_file_says_who_measured_what_where(store: Store, tmp_path: Path) -> None:
    """Its figures have the catalogue's text; what it does not hold has none."""
    put(tmp_path, content())

    [one] = contributed.read(store, tmp_path)

    assert ("Ada", "A processor", "2026-11-21") == (one.name, one.machine, one.date)
    assert "A processor, 2 cores, 2 threads, PyTorch 2.15.0, 2026-11-21" == one.where
    assert "1.10\N{NO-BREAK SPACE}ms" == one.text(store.definitions["tiny_epoch.samples_100.cpu"])
    assert "" == one.text(store.definitions["mnist_epoch.cpu"])


def test_a_file_is_read_by_the_catalogue_of_the_store(store: Store, tmp_path: Path) -> None:
    """Which says what its entries are, and refuses those that it does not list."""
    put(tmp_path, content())
    name = "tiny_epoch.samples_100.cpu"
    other = replace(store.definitions[name], member={"samples": 7})

    [one] = contributed.read(Store((store.definitions | {name: other}).values()), tmp_path)
    assert {"samples": 7} == one.entries["tiny_epoch"]["samples_100.cpu"].at

    with pytest.raises(FigureError, match=r"cases\.tiny_epoch: no case has this name"):
        contributed.read(Store([store.definitions["mnist_epoch.cpu"]]), tmp_path)


def test_a_file_of_a_gpu_names_the_gpu_and_its_processor(store: Store, tmp_path: Path) -> None:
    """And the folder in which it lies."""
    tiny = {"tiny_epoch": {"all": part(samples_100__cuda=0.002)}}
    put(tmp_path, given(result(tiny, GPU_MACHINE), "Ada"), FILE.with_name("a.json"))

    [one] = contributed.read(store, tmp_path)

    assert ("Made-up GPU", "A processor") == (one.machine, one.processor)
    assert ("PyTorch 2.15.0", False) == (one.software, one.in_browser)
    assert "ada/a.json" == one.file
    assert {"samples_100.cuda"} == one.entries["tiny_epoch"].keys()


def test_a_file_of_a_browser_says_so(store: Store, tmp_path: Path) -> None:
    """Its engine is in the place of PyTorch."""
    put(tmp_path, given(raced(), "שרה"), FOLDER / contributor.folder_of("שרה") / "a.json")

    [one] = contributed.read(store, tmp_path)

    assert contributor.shown("שרה") == one.name
    assert ("made-up graphics", "WebAssembly", True) == (one.machine, one.processor, one.in_browser)
    assert "onnxruntime-web 1.30.0 in Made-up browser 1, Linux" == one.software
    assert f"made-up graphics, WebAssembly, 8 cores, 4 threads, {one.software}, 2026-11-22" == (
        one.where
    )


def one_of(name: str, day: str, seconds: dict[str, float], machine: str = "a") -> Contribution:
    """A file of a machine, with the time of each entry of the tiny epoch."""
    entries = {at: entry([time], "s", device="cpu", amount=100) for at, time in seconds.items()}
    at = ("a processor", "PyTorch", day, "somewhere", f"ada/{name}.json")
    return Contribution("Ada", machine, *at, {"tiny_epoch": entries})


def test_a_noisy_time_says_so_and_has_the_digits_that_hold() -> None:
    """A rate is shown too, and what was not measured is empty; a browser has to be named."""
    time = Definition("t", "-", "measured", "s", {"measured": "tiny_epoch:cpu"})
    rate = Definition("r", "-", "rate", "samples_per_s", {"rate": "tiny_epoch:cpu"})
    ratio = Definition("q", "-", "ratio", "times", {"ratio": ["tiny_epoch:cpu"] * 2})
    calm, noisy = (one_of("a", "2026-11-21", {"cpu": 0.5}) for _ in range(2))
    noisy.entries["tiny_epoch"]["cpu"] = entry([0.1, 0.25, 0.5, 0.7, 0.9], "s", device="cpu")

    assert "500\N{NO-BREAK SPACE}ms" == calm.text(time)
    assert "500\N{NO-BREAK SPACE}ms (noisy)" == noisy.text(time)
    assert "200\N{NO-BREAK SPACE}per second" == calm.text(rate)
    assert "" == calm.text(ratio)
    assert not calm.in_browser
    assert "" == one_of("a", "2026-11-21", {}).text(time)


def test_the_newest_file_of_all_comes_first(store: Store, tmp_path: Path) -> None:
    """And of one day the one whose path is last; nothing is read again before a change."""
    for day, name, at in (
        ("2026-11-20", "Zoe", "zoe/a.json"),
        ("2026-11-21", "Ada", "ada/a.json"),
        ("2026-11-21", "Ada", "ada/b.json"),
        ("2026-11-21", "Bob", "bob/a.json"),
    ):
        put(tmp_path, content(name, date=day), FOLDER / at)
    (tmp_path / FOLDER / ".gitkeep").touch()

    found = contributed.read(store, tmp_path)

    assert ["bob/a.json", "ada/b.json", "ada/a.json", "zoe/a.json"] == [one.file for one in found]
    assert found is contributed.read(store, tmp_path)


def test_without_a_folder_nobody_gave_anything(store: Store, tmp_path: Path) -> None:
    """As in a repository that is only begun."""
    assert [] == contributed.read(store, tmp_path)


@pytest.mark.parametrize("name", ["0.json", "a-b.1.json", "x" * 151 + ".json"])
def test_a_file_is_called_as_the_command_calls_it(name: str, store: Store, tmp_path: Path) -> None:
    """With small letters, digits, hyphens and dots, up to 156 characters."""
    put(tmp_path, content(), FILE.with_name(name))

    assert [f"ada/{name}"] == [one.file for one in contributed.read(store, tmp_path)]


@pytest.mark.parametrize(
    "name", ["-a.json", ".json", "a_b.json", "a.jsonl", "a.json.txt", "ajson", "x" * 152 + ".json"]
)
def test_a_file_that_is_called_otherwise_is_refused(
    name: str, store: Store, tmp_path: Path
) -> None:
    """The sentence names it, and says what writes such files."""
    path = put(tmp_path, content(), FILE.with_name(name))

    with pytest.raises(FigureError) as refused:
        contributed.read(store, tmp_path)

    assert (
        f"{path} is not a result file as `python -m benchmarks.contribute` writes it; remove it"
    ) == str(refused.value)


def test_of_each_card_the_file_of_most_figures_is_best() -> None:
    """The newest of several, fullest first; a card that gives none is left out."""
    wanted = [
        Definition(of, "-", "measured", "s", {"measured": f"tiny_epoch:{of}"}) for of in "abc"
    ]
    times = dict.fromkeys("abc", 1.0)
    none = one_of("none", "2026-11-25", {"d": 1.0}, "other")
    few = one_of("few", "2026-11-24", {"a": 1.0})
    new = one_of("new", "2026-11-23", times)
    old = one_of("old", "2026-11-22", times)
    second = one_of("second", "2026-11-21", {"a": 1.0, "b": 1.0}, "b")

    files = [none, few, new, old, second]

    assert [new, second] == best_of_each_card(iter(files), iter(wanted), most=2)
    assert [new] == best_of_each_card(files, wanted, most=1)
    assert [new, second] == best_of_each_card(files, wanted, most=5)


@pytest.mark.parametrize(
    "name", ["Ada", "J. R. Doe", "O’Neill", "Łukasz Żółw", "李雷", "שרה", "Nguyễn", "अनिता", "R2"]
)
def test_people_keep_their_names(name: str, store: Store, tmp_path: Path) -> None:
    """In any script; one from right to left cannot turn round the words beside it."""
    folder = contributor.folder_of(name)
    put(tmp_path, content(name), FOLDER / folder / "a.json")

    [one] = contributed.read(store, tmp_path)

    assert name in one.name
    assert (len(name) + 2 == len(one.name)) == (name == "שרה")
    assert folder.isascii()


@pytest.mark.parametrize(
    "name",
    [
        *("A", "A" * 25, "<b>Ada</b>", "/home/ada", "C:\\ada", "ada@lab", "gpu01.lab.example"),
        *("localhost", "ip-172-31-4-12", "DESKTOP-4F7K2Q1", "10.0.0.1", "1st", "Ada\n", "Ada "),
        *(
            "Ada  L",
            "A\u202eda",
            "A\u200bda",
            "Ada 🚀",
            "e\u0301ve",
            "Z\u0335\u0335\u0335a",
            "Ada&Co",
        ),
    ],
)
def test_what_is_no_name_is_refused(name: str, store: Store, tmp_path: Path) -> None:
    """Markup, paths, addresses, machines, what nobody sees and what covers the next line."""
    put(tmp_path, {**content(), "contributor": name})

    with pytest.raises(FigureError, match=r"at contributor: "):
        contributed.read(store, tmp_path)


def renamed(machine: str) -> Callable[[Content], object]:
    """Damage: another name of the machine."""
    return lambda c: c["provenance"].update(machine=machine)


@given_any(st.text(min_size=2, max_size=24))
def test_whatever_is_a_name_is_harmless(text: str) -> None:
    """No markup, no path, nothing that nobody sees; its folder is plain."""
    if contributor.problem_of_name(text):
        return

    assert text.isprintable()
    assert not set(text) & set('<>&"/\\@:|[]{}`$')
    assert re.fullmatch(r"[a-z0-9-]+", contributor.folder_of(text))


DAMAGE: dict[str, tuple[Callable[[Content], object], str]] = {
    "nobody": (lambda c: c.pop("contributor"), "names no contributor"),
    "another name": (lambda c: c.update(contributor="Eve"), "belongs into the folder eve"),
    "a machine's own name": (renamed("adas-laptop"), "not called after its model; write cpu-2"),
    "a host": (lambda c: c["provenance"].update(system="gpu1.lab.example"), "provenance.system"),
    "a local host": (lambda c: c["provenance"].update(processor="box.local"), "an address"),
    "an address": (lambda c: c["provenance"].update(processor="at 10.0.0.12"), "an address"),
    "mail": (lambda c: c["provenance"].update(processor="me@lab.example"), "an address"),
    "a path": (lambda c: c["provenance"].update(processor="/home/ada"), "without slashes"),
    "a trial": (lambda c: c["provenance"].update(quick=True), "quick: it is a quick trial"),
    "the future": (lambda c: c["provenance"].update(date="2099-01-01"), "lies in the future"),
    "a reason": (
        lambda c: c["cases"]["tiny_epoch"].update(late=SKIPPED),
        "at cases.tiny_epoch.late.skipped: its words may tell",
    ),
    "a mishap": (
        lambda c: c["cases"]["tiny_epoch"]["samples_100"].update(incomplete="OSError on ada1"),
        "at cases.tiny_epoch.samples_100.incomplete: its words may tell",
    ),
    "nothing": (lambda c: c.update(cases={}, figures={}), "nothing was measured"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_file_that_tells_too_much_is_refused(kind: str, store: Store, tmp_path: Path) -> None:
    """The sentence names the file and the place."""
    damage, said = DAMAGE[kind]
    what = content()
    damage(what)
    path = put(tmp_path, what)

    with pytest.raises(FigureError) as refused:
        contributed.read(store, tmp_path)

    assert str(refused.value).startswith(str(path))
    assert said in str(refused.value)


@pytest.mark.parametrize("raw", [b"", b'{"version": NaN}', b" " * 5_000_001], ids=len)
def test_what_is_no_result_file_is_refused(raw: bytes, store: Store, tmp_path: Path) -> None:
    """The one validator reads contributed files too: empty, no number, huge."""
    path = put(tmp_path, content())
    path.write_bytes(raw)

    with pytest.raises(FigureError, match=r"2026-11-21-1400\.json "):
        contributed.read(store, tmp_path)


@pytest.mark.parametrize(
    "at",
    [
        "page.html",
        "ada/page.html",
        "ada/more/a.json",
        "ada/more.json/a.json",
        'ada/" onload="x.json',
        "ada/A.json",
    ],
)
def test_nothing_else_lies_there(at: str, store: Store, tmp_path: Path) -> None:
    """All of the folder is published, so only result files may be in it."""
    path = tmp_path / FOLDER / at
    path.parent.mkdir(parents=True)
    path.write_text("<p>Hello</p>", encoding="utf-8")

    with pytest.raises(FigureError, match="remove it"):
        contributed.read(store, tmp_path)


def test_links_are_refused(store: Store, tmp_path: Path) -> None:
    """A linked file or folder would publish what lies elsewhere."""
    path = put(tmp_path, content())
    link = path.with_name("b.json")
    link.symlink_to(path)
    with pytest.raises(FigureError, match=r"b\.json is not a result file"):
        contributed.read(store, tmp_path)

    link.unlink()
    link.symlink_to("nothing.json")
    with pytest.raises(FigureError, match=r"b\.json is not a result file"):
        contributed.read(store, tmp_path)

    link.unlink()
    (tmp_path / FOLDER / "eve").symlink_to(path.parent, target_is_directory=True)
    with pytest.raises(FigureError, match="eve is not a folder"):
        contributed.read(store, tmp_path)


@pytest.mark.parametrize("wrong", ["{}/a.json", "ada/{}.html"])
def test_of_several_wrong_files_the_first_is_named(
    wrong: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever order the system lists a folder, so that all see the same message."""
    paths = [tmp_path / FOLDER / wrong.format(name) for name in ("eve", "bob", "zoe")]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    listed = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda path: iter(sorted(listed(path), reverse=True)))

    with pytest.raises(FigureError, match=re.escape(str(paths[1]))):
        contributed.read(store, tmp_path)


def test_names_that_differ_in_case_alone_are_refused(store: Store, tmp_path: Path) -> None:
    """They would be one folder, and nobody could tell the two apart."""
    put(tmp_path, content())
    put(tmp_path, content("ADA"), FILE.with_name("b.json"))

    with pytest.raises(FigureError, match="and another file beside it by"):
        contributed.read(store, tmp_path)


def test_a_maintainer_takes_a_file_among_ours(tmp_path: Path) -> None:
    """Moved, and without the contributor's line, it is a result like any other."""
    what = content()
    del what["contributor"]

    taken = read_result(put(tmp_path, what, Path("benchmarks/results/cpu-2-cores/a.json")))

    assert "cpu-2-cores/a.json" == taken.file
    assert {"tiny_epoch"} == set(taken.cases)


def test_a_contributed_file_is_none_of_ours(tmp_path: Path) -> None:
    """In our own folder a file that names a contributor is refused."""
    path = put(tmp_path, content(), Path("benchmarks/results/cpu-2-cores/a.json"))

    with pytest.raises(FigureError, match="names a contributor, so it belongs below"):
        read_result(path)


def test_no_ratio_is_made_of_a_readers_times(store: Store, tmp_path: Path) -> None:
    """What the catalogue derives from several entries is derived from ours alone."""
    epoch = {"mnist_epoch": {"epoch": part(cpu=12.0, cuda=4.0)}}
    put(tmp_path, given(result(epoch, GPU_MACHINE), "Ada"))

    [one] = contributed.read(store, tmp_path)

    assert "12.0\N{NO-BREAK SPACE}s" == one.text(store.definitions["mnist_epoch.cpu"])
    assert None is one.estimate(store.definitions["mnist_epoch.cuda_speedup"])


def test_of_each_card_the_fullest_and_newest_is_shown(store: Store, tmp_path: Path) -> None:
    """Two files of one machine are one point, and no more cards than asked for."""
    tiny, epoch = ({"tiny_epoch": {"all": part(samples_100__cpu=0.002)}}, "mnist_epoch")
    both = {**tiny, epoch: {"all": part(cpu=4.0)}}
    for day, cases, machine in (
        ("2026-11-19", both, CPU_MACHINE),
        ("2026-11-20", both, CPU_MACHINE),
        ("2026-11-21", tiny, CPU_MACHINE),
        ("2026-11-21", tiny, GPU_MACHINE),
    ):
        made = given(result(cases, {**machine, "date": day}), "Ada")
        put(tmp_path, made, FILE.with_name(f"{machine['machine']}-{day}.json"))
    figures = [store.definitions[f"{name}.cpu"] for name in ("tiny_epoch.samples_100", epoch)]
    everything = contributed.read(store, tmp_path)

    best = best_of_each_card(everything, figures, most=5)

    assert 4 == len(everything)
    assert [("A processor", "2026-11-20"), ("Made-up GPU", "2026-11-21")] == [
        (one.machine, one.date) for one in best
    ]
    assert 1 == len(best_of_each_card(everything, figures, most=1))


@pytest.mark.parametrize("provenance", [CPU_MACHINE, GPU_MACHINE])
def test_a_machine_is_called_as_the_job_calls_it(provenance: dict[str, Any]) -> None:
    """So that an honest file keeps its name."""
    expected = machine_slug(provenance["cores"], provenance["gpu"])

    assert expected == contributor.machine_of(provenance)
