"""`load` and `names`."""

from __future__ import annotations

from pathlib import Path

import pytest

import unknot.data
from tests.data.sets.idx_files import write_set
from unknot.data.sets.loading import entries
from unknot.errors import DataError


def test_the_names() -> None:
    assert unknot.data.names() == (
        "mnist",
        "fashion-mnist",
        "svhn",
        "yale-b",
        "olivetti",
        "frey",
        "dsprites",
        "celeba",
        "20news",
        "20news-text",
        "spoken-digits",
        "multi-mnist",
        "digits",
    )


def test_digits_need_nothing(cache: Path) -> None:
    dataset = unknot.data.load("digits", download=False)
    assert len(dataset) == 1797
    assert not cache.exists()


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(DataError, match=r"no data set named 'minst'; did you mean 'mnist'"):
        unknot.data.load("minst")
    with pytest.raises(DataError, match="no data set named 'imagenet-21k'; there are: mnist, fashion"):
        unknot.data.load("imagenet-21k")


def test_an_unknown_option_is_refused_before_anything_is_fetched(cache: Path) -> None:
    with pytest.raises(DataError, match="yale-b has no option 'max_angel'; did you mean 'max_angle'"):
        unknot.data.load("yale-b", max_angel=85)
    with pytest.raises(DataError, match="mnist has no option 'size'; there are none"):
        unknot.data.load("mnist", size=3)
    assert not cache.exists()


def test_files_that_are_not_the_published_ones_are_refused(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "mnist").mkdir()
    write_set(tmp_path / "mnist", ".gz")
    with pytest.raises(DataError, match=r"mnist.train-images-idx3-ubyte\.gz is truncated"):
        unknot.data.load("mnist", tmp_path)


@pytest.mark.parametrize("name", [name for name in unknot.data.names() if name != "digits"])
def test_a_missing_set_says_where_to_put_which_file(name: str, tmp_path: Path, cache: Path) -> None:
    with pytest.raises(DataError, match=rf"The data set {name} was not found in .*: put .* into {tmp_path}"):
        unknot.data.load(name, tmp_path, download=False)


def test_every_file_of_the_catalogue_can_be_verified() -> None:
    """A checksum, or a folder, or one of the two zips for which nobody publishes one."""
    for entry in entries():
        for form in entry.forms:
            for file in form.files:
                if file.checksum is None:
                    assert file.is_folder or file.name in (
                        "CroppedYale.zip",
                        "free-spoken-digit-dataset-1.0.10.zip",
                    )
                else:
                    algorithm, digest = file.checksum.split(":")
                    assert len(digest) == {"sha256": 64, "md5": 32}[algorithm]
