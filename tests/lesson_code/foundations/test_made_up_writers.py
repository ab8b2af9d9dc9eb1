"""The made-up folder has what its page says: writers, papers, classes and damage."""

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lesson_code.foundations.made_up_writers import damage, temporary_folder, write_images


def written(folder: Path) -> dict[str, list[Path]]:
    """The files of each writer."""
    files = defaultdict(list)
    for path in sorted(folder.glob("*/*.png")):
        files[path.stem.split("_")[0]].append(path)
    return files


def pixels(path: Path) -> np.ndarray:
    """Those of a file, in its mode."""
    with Image.open(path) as image:
        return np.asarray(image)


def test_forty_writers_wrote_25_images_of_three_digits_each() -> None:
    """A thousand grey files; the first writer alone wrote nines."""
    with temporary_folder() as folder:
        files = written(folder)

        assert [25] * 40 == [len(paths) for paths in files.values()]
        assert {3} == {len({path.parent for path in paths}) for paths in files.values()}
        assert {"writer-00"} == {path.stem.split("_")[0] for path in folder.glob("nine/*")}
    assert not folder.exists()


def test_a_writer_has_one_paper_and_no_image_twice(tmp_path: Path) -> None:
    """The corners, where no ink is, are alike in all images of a writer, and in no others."""
    write_images(tmp_path, range(6))
    stacks = [np.stack([pixels(path) for path in paths]) for paths in written(tmp_path).values()]

    corners = [
        {stack[at, y, x] for at in range(25) for y in (0, 3) for x in (0, 3)} for stack in stacks
    ]
    assert [1] * 6 == [len(shades) for shades in corners]
    assert max(max(shades) for shades in corners) < 128
    assert len({stack[:, :4, ::4].tobytes() for stack in stacks}) == 6
    assert 150 == len({image.tobytes() for stack in stacks for image in stack})


def test_other_writers_have_other_digits_and_the_same_ones_return(tmp_path: Path) -> None:
    """Writers are the same in any folder of one seed, and others with another."""
    for name, writers, seed in (("a", range(4), 0), ("b", range(2, 6), 0), ("c", range(4), 1)):
        (tmp_path / name).mkdir()
        write_images(tmp_path / name, writers, seed)
    a, b, c = ({p.name: p.read_bytes() for p in (tmp_path / n).glob("*/*")} for n in "abc")

    shared = a.keys() & b.keys()
    assert {"writer-02", "writer-03"} == {name.split("_")[0] for name in shared}
    assert all(a[name] == b[name] for name in shared)
    assert not any(a[name] == c[name] for name in a)


def test_damage_is_one_scanner_and_one_copy(tmp_path: Path) -> None:
    """The files of one writer become RGB, one of another is cut; the rest stays as it was."""
    write_images(tmp_path, range(12))
    before = {path: path.read_bytes() for path in tmp_path.glob("*/*")}
    damage(tmp_path)
    changed = [path for path in before if path.read_bytes() != before[path]]
    by = Counter(path.stem.split("_")[0] for path in changed)

    assert {"writer-07": 25, "writer-11": 1} == by
    [cut] = tmp_path.glob("*/writer-11_012.png")
    assert before[cut].startswith(cut.read_bytes())
    with pytest.raises(OSError, match="truncated"), Image.open(cut) as image:
        image.load()
