"""A folder of images becomes data sets: looked at, split by writer, prepared alike, loaded."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

from lesson_code.foundations import own_data
from lesson_code.foundations.made_up_writers import damage, temporary_folder, write_images
from lesson_code.foundations.own_data import (
    ImageFiles,
    class_names,
    group_of,
    held_out,
    look,
    mean_and_std,
    one_run,
    print_more_files,
    shifted,
    split,
    study_split,
    tensors,
    two_sets,
)
from tests.printed import recorded

CUT = "eight/writer-11_012.png"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """The images of twelve writers, unharmed."""
    with temporary_folder(range(12)) as root:
        yield root


@pytest.fixture
def harmed(tmp_path: Path) -> Path:
    """The same, and then damaged."""
    write_images(tmp_path, range(12))
    damage(tmp_path)
    return tmp_path


def all_of(root: Path) -> ImageFiles:
    """Every file of a folder."""
    return ImageFiles(sorted(root.glob("*/*.png")), class_names(root))


def test_a_look_finds_what_was_damaged(harmed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All files count, the unreadable one has a name, and 25 files have colour."""
    look(harmed)
    head, *rows, _, last = capsys.readouterr().out.splitlines()
    cells = {row.split()[0]: row.split() for row in rows}

    assert ["class", "files", "writers", "sizes", "modes"] == head.split()
    assert class_names(harmed) == list(cells)
    assert 300 == sum(int(row[1]) for row in cells.values())
    assert ["nine", "9", "1", "28", "×", "28", "9", "L"] == cells["nine"]
    modes = " ".join(" ".join(row[6:]) for row in cells.values()).replace(",", "").split()
    counted = [(int(n), mode) for n, mode in zip(modes[::2], modes[1::2], strict=True)]
    assert (25, 274) == tuple(sum(n for n, m in counted if m == mode) for mode in ("RGB", "L"))
    assert f"unreadable: {CUT}" == last


def test_a_truncated_file_opens_and_does_not_load(harmed: Path) -> None:
    """Its head says the size, so only reading it to the end finds the damage."""
    with Image.open(harmed / CUT) as image:
        assert (28, 28) == image.size
        with pytest.raises(OSError, match="truncated"):
            image.load()


def test_an_example_is_a_float32_image_and_the_place_of_its_class(harmed: Path) -> None:
    """Grey or coloured, it has one channel with values from 0 to 1."""
    for path in sorted(harmed.glob("*/writer-0[67]_*.png")):
        image, label = ImageFiles([path], class_names(harmed))[0]
        with Image.open(path) as opened:
            grey = np.asarray(opened).reshape(28, 28, -1)[..., 0]

        assert (torch.float32, (1, 28, 28)) == (image.dtype, image.shape)
        assert np.array_equal(grey, (image[0] * 255).round().numpy())
        assert class_names(harmed)[label] == path.parent.name


@pytest.mark.parametrize("workers", [0, 1])
def test_a_broken_file_names_itself(harmed: Path, workers: int) -> None:
    """In the main process and in a worker."""
    broken = ImageFiles([harmed / CUT], class_names(harmed))

    with pytest.raises(OSError, match=r"cannot read .*writer-11_012\.png: image file is truncated"):
        next(iter(DataLoader(broken, num_workers=workers)))


def test_image_folder_finds_the_same(harmed: Path) -> None:
    """Classes, files, labels and, once it is made grey, each image; and it opens as RGB."""
    (harmed / CUT).unlink()
    ours = all_of(harmed)
    theirs = ImageFolder(
        harmed, transforms.Compose([transforms.Grayscale(), transforms.ToTensor()])
    )

    assert theirs.classes == ours.classes
    assert [Path(name) for name, _ in theirs.samples] == ours.files
    for at in range(0, len(ours), 7):
        assert theirs[at][1] == ours[at][1]
        assert torch.equal(theirs[at][0], ours[at][0])
    assert "RGB" == ImageFolder(harmed)[0][0].mode


def test_a_new_folder_moves_the_indices(tmp_path: Path) -> None:
    """With a folder of blanks, the nines move from 3 to 4."""
    write_images(tmp_path, range(12))
    before = class_names(tmp_path)
    (tmp_path / "blank").mkdir()
    (tmp_path / "names.txt").touch()

    assert (3, 4) == tuple(names.index("nine") for names in (before, class_names(tmp_path)))
    assert (10, "eight") == (len(before), before[0])


def test_a_split_has_every_file_once_and_no_writer_twice(folder: Path) -> None:
    """By file, most writers are on both sides."""
    training, validation = split(folder)
    by_file = split(folder, lambda path: path.stem)

    assert sorted(folder.glob("*/*.png")) == sorted(training + validation)
    assert {"writer-02", "writer-04"} == {group_of(path) for path in validation}
    assert not {group_of(path) for path in training} & {group_of(path) for path in validation}
    assert len(set.intersection(*({group_of(p) for p in side} for side in by_file))) > 8


def test_the_hash_of_a_name_is_the_same_everywhere_and_pythons_is_not() -> None:
    """The share is that which was asked for, if there are many names."""
    names = [f"writer-{number}" for number in range(5000)]
    seeded = [
        subprocess.check_output(
            [sys.executable, "-c", "print(hash('writer-02'))"],
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in "12"
    ]

    assert seeded[0] != seeded[1]
    assert [True, False] == [held_out(name) for name in ("writer-02", "writer-03")]
    for percent in (10, 20, 50):
        assert sum(held_out(name, percent) for name in names) == pytest.approx(
            50 * percent, rel=0.1
        )


def test_new_files_move_no_old_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A random split with the same seed moves two fifths of four fifths, about."""
    found = print_more_files()

    assert (1000, 0) == (found["files"], found["hash"])
    assert 0.32 == pytest.approx(found["random"] / 1000, abs=0.03)
    _, random_row, hashed = (line.split() for line in capsys.readouterr().out.splitlines())
    assert [f"{found['random']}", "0"] == [random_row[-1], hashed[-1]]


def test_mean_and_deviation_are_those_of_the_training_pixels(folder: Path) -> None:
    """One pass gives what PyTorch gives of all at once."""
    training, _, kept = two_sets(folder)
    pixels = tensors(ImageFiles(training.files, training.classes))[0].double()

    assert split(folder)[0] == training.files
    assert pytest.approx(pixels.mean().item()) == kept["mean"]
    assert pytest.approx(pixels.std(correction=0).item()) == kept["std"]
    assert (kept["mean"], kept["std"]) == mean_and_std(ImageFiles(training.files, training.classes))


def test_training_images_move_and_validation_images_do_not(folder: Path) -> None:
    """Both are normalised by the numbers of the training files."""
    training, validation, kept = two_sets(folder)
    raw = ImageFiles(validation.files, kept["classes"])

    torch.testing.assert_close((raw[0][0] - kept["mean"]) / kept["std"], validation[0][0])
    assert torch.equal(validation[0][0], validation[0][0])
    assert len({training[0][0].numpy().tobytes() for _ in range(20)}) > 5
    assert validation.files == split(folder)[1]


def test_a_shift_is_one_of_25_and_keeps_the_size() -> None:
    """All of them come, the image as it was among them; no pixel is new."""
    image = torch.arange(6.0 * 7).reshape(1, 6, 7)
    padded = functional.pad(image, (2, 2, 2, 2), mode="replicate")
    possible = [padded[:, y : y + 6, x : x + 7] for y in range(5) for x in range(5)]
    torch.manual_seed(0)
    drawn = [shifted(image) for _ in range(400)]

    assert all(any(torch.equal(one, other) for other in possible) for one in drawn)
    assert 25 == len({one.numpy().tobytes() for one in drawn})
    assert any(torch.equal(one, image) for one in drawn)


def test_a_run_learns_from_one_side_and_is_judged_by_three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepared by the training files, prepared images of both others, and these as they are."""
    used: list[torch.Tensor] = []
    monkeypatch.setattr(own_data, "learn", lambda _, training, *__: used.append(training[0]))
    monkeypatch.setattr(
        own_data, "judge", lambda _, images, labels: (used.append(images), labels >= 0)
    )

    assert (1.0, 1.0, 1.0) == one_run(group_of, seed=0)
    training, _, others, raw = used
    assert [775, 225, 500, 500] == [len(images) for images in used]
    assert (0, 1) == pytest.approx((training.mean().item(), training.std().item()), abs=1e-3)
    assert 0 <= raw.min() < raw.max() <= 1
    assert others.min() < 0


def test_the_splits_have_a_row_each(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five seeds give a range; the third accuracy is kept and not printed."""
    monkeypatch.setattr(
        own_data,
        "one_run",
        lambda name_of, seed: (
            (0.5 if name_of(Path("a/b_c")) == "b" else 0.9) + seed / 100,
            0.4,
            0.1 + seed / 100,
        ),
    )
    found = study_split()

    assert list(recorded("foundations/own_data:study_split").data) == list(found)
    assert (0.5, 0.54) == (
        found["writer"]["validation_lowest"],
        found["writer"]["validation_highest"],
    )
    assert (0.1, 0.14) == (found["file"]["raw_lowest"], found["file"]["raw_highest"])
    _, by_file, by_writer = capsys.readouterr().out.splitlines()
    assert ["file", "0.90", "to", "0.94", "0.40", "to", "0.40"] == by_file.split()
    assert by_writer.startswith("writer")
