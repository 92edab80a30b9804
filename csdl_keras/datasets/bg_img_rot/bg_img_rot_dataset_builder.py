"""Rotated MNIST digits on patches of photographs (Larochelle et al., 2007)."""

import hashlib
import io
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

ARCHIVE = "mnist_rotation_back_image_new.zip"
URL = f"http://www.iro.umontreal.ca/~lisa/icml2007data/{ARCHIVE}"
#: Published in skdata by J. Bergstra, one of the authors of the data. It is checked here because
#: checksums.tsv of TFDS needs an SHA-256, which is not published.
SHA1 = "902bb7e96136dd76e9f2924d7fdb9eb832f7bc33"
_SIDE = 28
#: Number of rows for validation, the last ones of the file for training and validation.
_VALIDATION = 2_000


class Builder(tfds.core.GeneratorBasedBuilder):
    """Prepares bg-img-rot from an archive that you provide, or downloads it."""

    VERSION = tfds.core.Version("1.0.0")
    RELEASE_NOTES = {"1.0.0": "The corrected files of the authors' page."}
    MANUAL_DOWNLOAD_INSTRUCTIONS = (
        f"Put the archive {ARCHIVE}, unchanged from {URL}, into the folder for manual downloads."
    )

    @property
    def manual_archive(self) -> Path:
        """Path of an archive that you provide instead of a download."""
        return Path(self.data_dir_root) / "downloads" / "manual" / ARCHIVE

    def _info(self) -> tfds.core.DatasetInfo:
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict(
                {
                    # `Image` cannot store float32 pixels of one channel without loss.
                    "image": tfds.features.Tensor(shape=(_SIDE, _SIDE, 1), dtype=np.float32),
                    "label": tfds.features.ClassLabel(num_classes=10),
                }
            ),
            supervised_keys=("image", "label"),
            homepage="http://www.iro.umontreal.ca/~lisa/icml2007",
            metadata=tfds.core.MetadataDict(),
            # Otherwise TFDS would not keep the order of the files.
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager: Any) -> dict[str, Iterator]:
        own = self.manual_archive
        archive = own if own.exists() else dl_manager.download(URL)
        content = archive.read_bytes()
        sha1 = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        if sha1 != SHA1:
            warnings.warn(
                f"The SHA-1 of {archive} is {sha1}, not the published {SHA1}. Unless you made it "
                "yourself, compare it with another copy.",
                stacklevel=2,
            )
        sha256 = hashlib.sha256(content).hexdigest()
        self.info.metadata.update(archive_sha1=sha1, archive_sha256=sha256)
        files = zipfile.ZipFile(io.BytesIO(content))
        rows = _rows(files, "train_valid")
        return {
            "train": self._generate_examples(rows[:-_VALIDATION]),
            "validation": self._generate_examples(rows[-_VALIDATION:]),
            "test": self._generate_examples(_rows(files, "test")),
        }

    def _generate_examples(self, rows: np.ndarray) -> Iterator[tuple[int, dict]]:
        for number, row in enumerate(rows):
            # Pixels are read row by row, as in skdata; some loaders differ, see README.md.
            image = row[:-1].reshape(_SIDE, _SIDE, 1)
            yield number, {"image": image, "label": int(row[-1])}


def _rows(files: zipfile.ZipFile, name: str) -> np.ndarray:
    """Returns float32 rows of 784 pixels and a label."""
    with files.open(f"mnist_all_background_images_rotation_normalized_{name}.amat") as lines:
        return np.loadtxt(lines, dtype="float32", ndmin=2)
