"""The trials on images: their sets, networks and ratios."""

import dataclasses

import numpy as np
import pytest


@pytest.fixture
def small(program):
    """A development set of few small images."""
    sets = program("image_trials_sets")
    generator = np.random.default_rng(0)
    labels = np.arange(60) % 3
    images = generator.uniform(size=(60, 8, 8, 1)) + labels.reshape(-1, 1, 1, 1)
    return sets.split(images / 4, labels, 30, 15, 15)


def test_parts_are_disjoint(program):
    images = np.arange(50.0).reshape(50, 1, 1, 1)
    made = program("image_trials_sets").split(images, np.arange(50), 20, 10, 15)
    parts = [made.y_train, made.y_val, made.y_eval]
    assert [len(part) for part in parts] == [20, 10, 15]
    assert len(np.unique(np.concatenate(parts))) == 45
    np.testing.assert_array_equal(made.x_eval.ravel(), made.y_eval)


def test_too_few_images(program):
    with pytest.raises(ValueError, match="Expected 60 images or more; received 50"):
        program("image_trials_sets").split(np.zeros((50, 1, 1, 1)), np.zeros(50), 20, 20, 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"normalization": "batch", "flip": True},
        {"network": "deep_residual", "label_smoothing": 0.05},
        {"network": "shared_trunk", "snapshots": 2, "networks": 2},
        {"mixup": 0.2, "moving_average": 0.9},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_a_run(program, small, changes, tmp_path):
    cases, trials = program("image_trials_cases"), program("image_trials")
    options = dataclasses.replace(cases.Options(filters=(2, 3), epochs=1, batch_size=10), **changes)
    row = trials.run(options, small, tmp_path)
    assert trials.kept_at(tmp_path, options).exists()
    assert tuple(row) == trials.FIELDS and row["seconds"] > 0
    assert all(np.isfinite(row[name]) and row[name] >= 0 for name in trials.FIELDS[2:])


def test_mixed_images_have_mixed_labels(program):
    cases, network = program("image_trials_cases"), program("image_trials_network")
    x = np.arange(4.0, dtype="float32").reshape(4, 1, 1, 1)
    y = np.eye(4, dtype="float32")[:, None]
    mixed_x, mixed_y = network.MixedEpochs(x, y, cases.Options(mixup=1.0, batch_size=4))[0]
    np.testing.assert_allclose(mixed_x.ravel(), mixed_y[:, 0] @ np.arange(4), rtol=1e-6)
    assert mixed_y.max(axis=-1).min() >= 0.5


def test_the_rate_begins_again(program):
    import keras

    network = program("image_trials_network")
    cosine = keras.optimizers.schedules.CosineDecay(1.0, 10)
    cycles = network.Cycles(cosine, 10)
    assert float(cycles(13)) == pytest.approx(float(cosine(3)))


def test_ratios_of_what_is_done(program):
    cases, trials = program("image_trials_cases"), program("image_trials")
    trial = next(one for one in cases.trials() if one.change == "twice the epochs")
    rows = [
        dict.fromkeys(trials.FIELDS, "2.0") | {"options": trial.without.key()},
        dict.fromkeys(trials.FIELDS, "1.5") | {"options": trial.with_change.key()},
    ]
    assert "twice the epochs" not in {row["tried"] for row in trials.ratios(rows[:1])}
    found = {row["tried"]: row for row in trials.ratios(rows)}["twice the epochs"]
    assert (found["set"], found["ratio"], found["seconds_ratio"]) == ("mnist", "0.750", "0.75")


@pytest.mark.slow
def test_calibrations(program, small, tmp_path, monkeypatch):
    """On probabilities that are too sure, each calibration costs less than none."""
    cases, trials = program("image_trials_cases"), program("image_trials")
    calibration = program("image_calibration")
    generator = np.random.default_rng(1)
    y = generator.integers(0, 3, 400)
    p = generator.dirichlet(np.ones(3), 400) + 0.4 * np.eye(3)[y]
    sharp = p**8 / (p**8).sum(axis=1, keepdims=True)
    data = dataclasses.replace(small, y_train=y, x_val=sharp, y_val=y, y_eval=y)
    runs = [cases.Options(), cases.Options(seed=1)]
    for options in runs:
        arrays = {"val_shifted": sharp, "eval_shifted": sharp}
        np.savez(trials.kept_at(tmp_path, options), **arrays)
    monkeypatch.setitem(calibration.SETS, "made", lambda: data)
    rows = calibration.measure("made", runs, tmp_path)
    found = {row["way"]: float(row["ratio_to_limit"]) for row in rows}
    assert len(found) == 8 and len(rows) == 16  # of 50 and of 150 images
    assert max(value for way, value in found.items() if way != "none") < found["none"]
    assert calibration.table(rows).count("\n") == 9
