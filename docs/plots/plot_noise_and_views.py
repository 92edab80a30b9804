"""
Noise and views of images
=========================

The figure shows what each layer does to images in training, and the shifted copies over which
`ImageViews` averages when it decides.
"""

import keras
import matplotlib.pyplot as plt

import csdl_keras as csdl

images = csdl.datasets.load("mnist_5k").x_test[:5]
views = csdl.layers.ImageViews()(images[:1])
rows = {
    "images": images,
    "MaskingNoise(0.25)": csdl.MaskingNoise(0.25, seed=0)(images, training=True),
    "RandomShift(0.1, 0.1)": csdl.layers.RandomShift(0.1, 0.1, seed=0)(images, training=True),
    "RandomAffine(rotation=30)": csdl.layers.RandomAffine(rotation=30, seed=0)(
        images, training=True
    ),
    "ImageViews(), of the first": views,
}

figure, axes = plt.subplots(len(rows), 5, figsize=(6, 7), layout="constrained")
for row, (name, pictures) in zip(axes, rows.items(), strict=True):
    row[2].set_title(name, fontsize=10)
    for cell, picture in zip(row, keras.ops.convert_to_numpy(pictures)[:5], strict=True):
        cell.imshow(picture[..., 0], cmap="gray_r", vmin=0, vmax=1)
        cell.set_axis_off()
