"""Files of arrays: what is damaged is told, and nothing in them is ever executed."""

import pickle

import hypothesis
import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras._utils.files import DamagedFileError, read_arrays, write_arrays

ARRAYS = [np.arange(600, dtype="float32").reshape(20, 30), np.array([True]), np.array(2.5)]
RECORD = {"info": {"epochs": 3}, "seconds": 1.5}


class Bomb:
    """Whoever loads this pickle notices."""

    def __reduce__(self):
        return exec, ("raise SystemExit('a pickle was loaded')",)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "a.npz"
    write_arrays(path, RECORD, ARRAYS)
    return path, path.read_bytes()


def same(found):
    record, arrays = found
    return record == RECORD and all(
        np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(arrays, ARRAYS, strict=True)
    )


class TestReadArrays:
    def test_what_was_written(self, file):
        assert same(read_arrays(file[0]))
        assert [it.name for it in file[0].parent.iterdir()] == ["a.npz"]

    def test_bfloat16_keeps_its_values(self, tmp_path):
        array = np.array([1.5, -3e38, 1e-30], ml_dtypes.bfloat16)
        write_arrays(tmp_path / "a.npz", {}, [array])
        (found,) = read_arrays(tmp_path / "a.npz")[1]
        np.testing.assert_array_equal(found, array.astype("float32"))

    @hypothesis.given(share=st.floats(0, 1, exclude_max=True))
    @hypothesis.settings(max_examples=60)
    def test_truncated_anywhere(self, file, share):
        path, content = file[0].with_name("cut.npz"), file[1]
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(DamagedFileError, match=f"{path} is damaged"):
            read_arrays(path)

    @hypothesis.given(
        share=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255), times=st.integers(1, 9)
    )
    @hypothesis.settings(max_examples=100)
    def test_changed_anywhere(self, file, share, bits, times):
        """Whole, or told: never other numbers, and never another error."""
        path, content = file[0].with_name("changed.npz"), bytearray(file[1])
        start = int(share * len(content))
        for index in range(start, min(start + times, len(content))):
            content[index] ^= bits
        path.write_bytes(content)
        try:
            record, arrays = read_arrays(path)
        except DamagedFileError:
            return
        assert same((record, arrays))

    def test_another_npz_file(self, tmp_path):
        np.savez(tmp_path / "a.npz", record=np.arange(3))
        with pytest.raises(DamagedFileError, match="not an .npz file that csdl_keras wrote"):
            read_arrays(tmp_path / "a.npz")


class TestPickles:
    def test_are_not_written(self, tmp_path):
        with pytest.raises(ValueError, match="has dtype object"):
            write_arrays(tmp_path / "a.npz", {}, [np.array([Bomb()])])
        assert not list(tmp_path.iterdir())

    def test_are_not_read(self, tmp_path):
        np.savez(tmp_path / "a.npz", record=np.array([Bomb()], dtype=object))
        with pytest.raises(DamagedFileError, match="allow_pickle"):
            read_arrays(tmp_path / "a.npz")
        (tmp_path / "b.npz").write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(DamagedFileError):
            read_arrays(tmp_path / "b.npz")


def test_arrays_anywhere_in_a_record(tmp_path):
    value = [None, 1, float("inf"), "a", (True, [np.arange(3), np.float32(0.1)])]
    write_arrays(tmp_path / "a.npz", {"it": {"value": value}}, [np.zeros(2)])
    record, arrays = read_arrays(tmp_path / "a.npz")
    found = record["it"]["value"]
    assert found[:4] == value[:4] and found[4][0] is True
    np.testing.assert_array_equal(found[4][1][0], np.arange(3))
    assert found[4][1][1] == np.float32(0.1) and len(arrays) == 1
