"""Folders that cannot be written to, and disks that fill up."""

import errno
import pathlib

import pytest

import csdl_keras as csdl
from csdl_keras._utils.files import replace_file


@pytest.fixture
def unwritable(tmp_path):
    """A folder below a file, where not even root can write."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "folder"


def test_a_stage_cache_says_so_before(unwritable):
    with pytest.raises(ValueError, match="`folder` .* is not a writable folder"):
        csdl.StageCache(unwritable)


def test_what_was_there_stays(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    replace_file(path, b"old")

    def fail(self, content):
        with self.open("wb") as file:
            file.write(content[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_bytes", fail)
    with pytest.raises(OSError, match="No space") as caught:
        replace_file(path, b"new one")
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
