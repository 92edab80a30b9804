"""What commands write holds no pickles; what they read may be damaged, which they say."""

import dataclasses
import io
import pickle
import shutil
import zipfile

import numpy as np
import pytest

from csdl_keras.experiments.csv_files import read_rows
from tests.experiments.grid_runs import PROFILE, Recorder, make_grid, run

ALGORITHMS = {"algorithms": ("dnn_blind", "csosr"), "datasets": ("digits",)}
GRID = dataclasses.replace(PROFILE, **ALGORITHMS, searches=(), cost_seeds=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a grid wrote."""
    folder = tmp_path_factory.mktemp("runs")
    run(folder / "grid", GRID)
    return folder


def is_pickle(content):
    """Whether the bytes begin and end as pickles of any protocol since 2 do."""
    return content[:1] == b"\x80" and content[-1:] == b"."


def parts(name, content):
    """What a file consists of, archives opened."""
    yield name, content
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from parts(f"{name}/{member}", archive.read(member))
    if content[:6] == b"\x93NUMPY":
        array = np.load(io.BytesIO(content), allow_pickle=False)
        if array.dtype == "uint8":
            yield f"{name} bytes", array.tobytes()


class TestPickles:
    def test_are_nowhere(self, folder):
        buffer = io.BytesIO()  # in which one is hidden, or this test could not fail
        np.savez(buffer, array_0=np.frombuffer(pickle.dumps({"a": 1}), np.uint8))
        found = [name for name, part in parts("a", buffer.getvalue()) if is_pickle(part)]
        assert found == ["a/array_0.npy bytes"]
        files = [path for path in folder.rglob("*") if path.is_file()]
        kinds = {path.suffix for path in files}
        assert {".npz", ".csv"} <= kinds
        assert not {".pkl", ".pickle", ".joblib"} & kinds
        for path in files:
            for name, part in parts(path.name, path.read_bytes()):
                assert not is_pickle(part), name


class TestDamaged:
    def damage(self, folder, tmp_path, kind, name, share):
        copy = shutil.copytree(folder / kind, tmp_path / "copy")
        (path,) = copy.rglob(name)
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        return copy, path

    def test_a_grid(self, folder, tmp_path):
        copy, path = self.damage(folder, tmp_path, "grid", "results.csv", 0.9)
        with pytest.raises(ValueError, match=f"a value for each column in row 2 of {path}"):
            read_rows(path)
        path.write_bytes(b"cost\n\xff\n")
        with pytest.raises(ValueError, match=f"Expected {path} to be a CSV file; 'utf-8' codec"):
            read_rows(path)
        copy, path = self.damage(folder, tmp_path / "b", "grid", "digits.npz", 0.9)
        failures = make_grid(copy, GRID).run(Recorder())
        assert f"Expected {path} to be an npz file" in "".join(failures.lines())
