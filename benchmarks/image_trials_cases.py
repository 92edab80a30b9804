"""The changes that were tried for images: with which options, and beside which."""

import dataclasses
import json
from typing import Any


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of one training.

    Args:
        data: name of the development set, see `image_trials_sets`.
        network: `"plain"`, `"residual"`, `"deep"`, `"deep_residual"` or `"shared_trunk"`.
        normalization: `"kernels"` for standardised kernels, or `"batch"`.
        filters: filters of each block.
        epochs: epochs, of each snapshot if there are several.
        batch_size, learning_rate, weight_decay: of AdamW.
        rotation, zoom, flip: of `RandomAffine`, besides shifts.
        label_smoothing: share of a label that is spread over all classes.
        mixup: parameter of mixup's beta distribution, or 0 for none.
        snapshots: networks that are kept, each at the end of a cycle of the learning rate.
        moving_average: momentum of an average of weights, or 0 for none.
        networks: networks, of seeds that follow each other, whose outputs are averaged.
        seed: seed of weights, batches and augmentation.
    """

    data: str = "mnist"
    network: str = "plain"
    normalization: str = "kernels"
    filters: tuple[int, ...] = (16, 32, 64)
    epochs: int = 28
    batch_size: int = 50
    learning_rate: float = 3e-3
    weight_decay: float = 0.01
    rotation: float = 0.0
    zoom: float = 0.0
    flip: bool = False
    label_smoothing: float = 0.0
    mixup: float = 0.0
    snapshots: int = 1
    moving_average: float = 0.0
    networks: int = 1
    seed: int = 0

    def key(self) -> str:
        """Returns what differs from the defaults, as JSON."""
        defaults = Options()
        values = dataclasses.asdict(self)
        changed = {
            name: value for name, value in values.items() if value != getattr(defaults, name)
        }
        return json.dumps(changed, sort_keys=True)


@dataclasses.dataclass(frozen=True)
class Trial:
    """A change, the options with and without it, and the views that are averaged.

    Args:
        change: a description.
        with_change, without: the options.
        views: `"one"`, `"shifted"`, or `"mirrored"` for shifted and mirrored copies.
        views_without: the same of `without`; `None` (default) is `views`.
    """

    change: str
    with_change: Options
    without: Options
    views: str
    views_without: str | None = None


# What is kept, on each set: the options that all other trials change.
_SMALL = {"rotation": 10.0, "zoom": 0.1}
_BARE = {
    "mnist": Options(),
    "mnist_imbalanced": Options(data="mnist_imbalanced", **_SMALL),
    "rotated_digits": Options(data="rotated_digits", rotation=180.0),
    "cifar10": Options(data="cifar10", epochs=36, flip=True),
    "gray_cifar10": Options(data="gray_cifar10", epochs=12, flip=True),
}
_WIDE = (32, 64, 128)


def kept_options(data: str, **changes: Any) -> Options:
    """Returns the options that are kept on a set, with changes."""
    small = _SMALL if data == "mnist" else {}
    return dataclasses.replace(_BARE[data], **{"label_smoothing": 0.05, **small, **changes})


def views_of(options: Options) -> str:
    """Returns the views that suit what a network was trained on."""
    return "mirrored" if options.flip else "shifted"


def _change(change: str, data: str, **changes: Any) -> Trial:
    kept = kept_options(data)
    return Trial(change, dataclasses.replace(kept, **changes), kept, views_of(kept))


def trials() -> list[Trial]:
    """Returns all trials."""
    some = ("mnist", "gray_cifar10", "cifar10")
    made = []
    for data in some:
        half = kept_options(data).epochs // 2
        kept = kept_options(data)
        batch = dataclasses.replace(kept, normalization="batch")
        made += [
            Trial(
                "standardised kernels instead of batch normalisation", kept, batch, views_of(kept)
            ),
            Trial("twice the epochs", kept, kept_options(data, epochs=half), views_of(kept)),
            Trial("twice as wide", kept_options(data, filters=_WIDE), kept, views_of(kept)),
            _change("a residual connection in each block", data, network="residual"),
            _change("a third convolution in each block", data, network="deep"),
            _change("the same, with a residual connection", data, network="deep_residual"),
            Trial(
                "two heads on shared first blocks instead of two networks",
                kept_options(data, network="shared_trunk"),
                kept_options(data, networks=2),
                views_of(kept),
            ),
            _change("another seed", data, seed=1),
            Trial(
                "two networks instead of one", kept_options(data, networks=2), kept, views_of(kept)
            ),
            Trial(
                "two snapshots instead of two networks of as many epochs",
                kept_options(data, epochs=half, snapshots=2),
                kept_options(data, epochs=half, networks=2),
                views_of(kept),
            ),
            Trial(
                "two snapshots instead of one network of twice the epochs",
                kept_options(data, epochs=half, snapshots=2),
                kept,
                views_of(kept),
            ),
            _change("mixup of .2", data, mixup=0.2),
            _change("moving average of weights, momentum .995", data, moving_average=0.995),
        ]
    for data in (*some, "rotated_digits", "mnist_imbalanced"):
        kept = kept_options(data)
        bare = dataclasses.replace(kept, label_smoothing=0.0)
        made += [
            Trial("label smoothing .05", kept, bare, views_of(kept)),
            Trial("five shifted copies averaged", kept, kept, "shifted", "one"),
        ]
    for data in ("cifar10", "gray_cifar10"):
        kept = kept_options(data)
        made.append(Trial("mirrored copies averaged", kept, kept, "mirrored", "shifted"))
        made.append(_change("rotations to 10 degrees, zooms to 10 %", data, **_SMALL))
    bare = kept_options("mnist", rotation=0.0, zoom=0.0)
    made.append(
        Trial("rotations to 10 degrees, zooms to 10 %", kept_options("mnist"), bare, "shifted")
    )
    upright = kept_options("rotated_digits", rotation=0.0)
    made.append(
        Trial("rotations to 180 degrees", kept_options("rotated_digits"), upright, "shifted")
    )
    made += [
        _change("label smoothing .1 instead of .05", "mnist", label_smoothing=0.1),
        _change("zooms to 20 % instead of 10 %", "mnist", zoom=0.2),
        _change("weight decay .05 instead of .01", "mnist", weight_decay=0.05),
        _change("batches of 100 at twice the rate", "mnist", batch_size=100, learning_rate=6e-3),
        _change("learning rate .005 instead of .003", "mnist", learning_rate=5e-3),
        _change("learning rate .001 instead of .003", "mnist", learning_rate=1e-3),
    ]
    return made
