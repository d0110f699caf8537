"""Users' own arrays, test splits, and what every form of file has in common."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.data.readers.user_files import read_user_data
from unknot.errors import DataError


def save(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


X = np.random.default_rng(0).random((6, 4)).astype(np.float32)


def test_every_array_beside_x_is_a_factor(tmp_path: Path) -> None:
    data = read_user_data(save(tmp_path / "a.npz", x=X, kind=[0, 1, 2, -1, 0, 1], angle=np.linspace(0, 1, 6)))
    np.testing.assert_array_equal(data.x, X)
    assert {name: f.kind for name, f in data.factors.items()} == {
        "kind": "categorical",
        "angle": "continuous",
    }
    assert list(read_user_data(tmp_path / "a.npz", factors=["angle"]).factors) == ["angle"]
    declared = read_user_data(tmp_path / "a.npz", kinds={"kind": "count"}, classes=None)
    assert declared.factors["kind"].kind == "count"


def test_a_test_split_of_its_own(tmp_path: Path) -> None:
    path = save(tmp_path / "a.npz", x=X, kind=np.arange(6) % 3, x_test=X[:2] + 1, kind_test=[2, 1])
    data = read_user_data(path, test_share=0.5)  # the file's own split counts
    assert len(data.split("train")) == 6
    np.testing.assert_array_equal(data.split("test").x, X[:2] + 1)
    assert data.split("test").factors["kind"].values.tolist() == [2, 1]
    save(path, x=X, kind=np.arange(6) % 3, x_test=X[:2])
    with pytest.raises(DataError, match="there is x_test, but no kind_test"):
        read_user_data(path)
    save(path, x=X, x_test=X[:2, :3])
    with pytest.raises(DataError, match="but x_test of"):
        read_user_data(path)


def test_a_share_for_testing(tmp_path: Path) -> None:
    path = save(tmp_path / "a.npz", x=X)
    data = read_user_data(path, test_share=1 / 3, seed=1)
    train, test = data.splits["train"].tolist(), data.splits["test"].tolist()
    assert sorted(train + test) == list(range(6))
    assert len(test) == 2
    assert read_user_data(path, test_share=1 / 3, seed=1).splits["test"].tolist() == test
    others = {tuple(read_user_data(path, test_share=1 / 3, seed=s).splits["test"].tolist()) for s in range(9)}
    assert len(others) > 1
    for share in (1.0, -0.1, "half"):
        with pytest.raises(DataError, match="test_share is a fraction"):
            read_user_data(path, test_share=share)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="leaves none to train on"):
        read_user_data(save(tmp_path / "one.npz", x=X[:1]), test_share=0.5)


@pytest.mark.parametrize("values", [(10, 20, 30), (1, 2, 3)])
def test_labels_10_20_30_of_another_file_are_the_classes_of_the_first(
    tmp_path: Path, values: tuple[int, ...]
) -> None:
    first = read_user_data(save(tmp_path / "a.npz", x=X, kind=np.array(values)[np.arange(6) % 3]))
    other = read_user_data(save(tmp_path / "b.npz", x=X[:2], kind=[values[2], values[0]]), like=first)
    assert other.factors["kind"].values.tolist() == [2, 0]
    assert other.factors["kind"].classes == first.factors["kind"].classes
    with pytest.raises(DataError, match="expected one of the classes"):
        read_user_data(save(tmp_path / "c.npz", x=X[:2], kind=[0, 7]), like=first)


def test_other_data_has_the_same_kinds_and_classes(tmp_path: Path) -> None:
    first = read_user_data(save(tmp_path / "a.npz", x=X, kind=np.arange(6) % 3, size=np.linspace(0, 1, 6)))
    other = save(tmp_path / "b.npz", x=X[:2], kind=[0, 1], size=[1, 2], more=[0, 0])
    again = read_user_data(other, like=first)
    assert {n: f.kind for n, f in again.factors.items()} == {"kind": "categorical", "size": "continuous"}
    assert again.factors["kind"].classes == ("0", "1", "2")
    with pytest.raises(DataError, match=r"items have shape \(3,\), but \(4,\) is needed"):
        read_user_data(save(tmp_path / "c.npz", x=X[:, :3]), like=first)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="is a table, but the model was trained on items of shape"):
        read_user_data(tmp_path / "t.csv", like=first)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    save(tmp_path / "objects.npz", x=np.array([{}, {}], dtype=object))
    with pytest.raises(DataError, match="holds Python objects, not arrays"):
        read_user_data(tmp_path / "objects.npz")
    whole = save(tmp_path / "a.npz", x=X).read_bytes()
    (tmp_path / "a.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cannot be read as an \.npz file"):
        read_user_data(tmp_path / "a.npz")
    with pytest.raises(DataError, match="holds <U1 values, expected numbers"):
        read_user_data(save(tmp_path / "words.npz", x=np.array([["a"]])))
    with pytest.raises(DataError, match="has no labels of 'kind'; it has none"):
        read_user_data(save(tmp_path / "b.npz", x=X), factors=["kind"])
    with pytest.raises(DataError, match="is empty"):
        read_user_data(save(tmp_path / "none.npz", x=X[:0]))
    for name in ("absent.npz", "absent.csv", "absent"):
        with pytest.raises(DataError, match=f"{name}"):
            read_user_data(tmp_path / name)


def test_arrays_are_read_as_what_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.zeros((3, 2)))
    (tmp_path / "array.npy").rename(tmp_path / "array.npz")
    with pytest.raises(DataError, match="it is a single array"):
        read_user_data(tmp_path / "array.npz")
    for dtype in (">f8", np.longdouble, ">i4", np.uint64):
        np.savez(
            tmp_path / "odd.npz", x=np.arange(6).reshape(3, 2).astype(dtype), y=np.array([0, 1, 1], dtype)
        )
        assert read_user_data(tmp_path / "odd.npz", kinds={"y": "continuous"}).x.tolist() == [
            [0, 1],
            [2, 3],
            [4, 5],
        ]


def test_training_and_test_rows_are_of_one_kind(tmp_path: Path) -> None:
    path, x = tmp_path / "both.npz", np.zeros((3, 2), dtype=np.uint8)
    np.savez(path, x=x, x_test=x.astype(np.float32))
    with pytest.raises(DataError, match="x holds uint8 and x_test float32"):
        read_user_data(path)
    np.savez(path, x=x, x_test=x, y=np.array([0, 1, 2]), y_test=np.array(["a", "b", "c"]))
    with pytest.raises(DataError, match=r"y holds int64 of shape .* and y_test <U1"):
        read_user_data(path)
    np.savez(path, x=x, x_test=x, y=np.array([0, 1, 1]), y_test=np.array([0.5, 1, 1]))
    with pytest.raises(DataError, match=r"y holds int64 of shape .* and y_test float64"):
        read_user_data(path)  # joined they would be numbers, which training labels are not
    np.savez(path, x=x, x_test=x, y=np.array([0, 1.5, np.nan]), y_test=np.array([0, 1, 1]))
    assert read_user_data(path).factors["y"].kind == "continuous"


def test_an_array_that_is_too_large_to_be_true(tmp_path: Path) -> None:
    import io
    import zipfile

    stream = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**6)}
    np.lib.format.write_array_header_1_0(stream, header)
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("x.npy", stream.getvalue() + b"0" * 64)
    with pytest.raises(DataError, match=r"huge.npz"):
        read_user_data(tmp_path / "huge.npz")
