"""Caffe's pooling and normalisation, one number at a time, after its C++ sources."""

import math

import numpy as np


def pool(x: np.ndarray, mode: str, kernel: int = 3, stride: int = 2) -> np.ndarray:
    """`pooling_layer.cpp` without padding, `(batch, height, width, channels)`."""
    batch, height, width, channels = x.shape
    pooled_height = math.ceil((height - kernel) / stride) + 1
    pooled_width = math.ceil((width - kernel) / stride) + 1
    y = np.zeros((batch, pooled_height, pooled_width, channels))
    for n, ph, pw, c in np.ndindex(*y.shape):
        hstart, wstart = ph * stride, pw * stride
        hend, wend = min(hstart + kernel, height), min(wstart + kernel, width)
        values = []
        for h in range(hstart, hend):
            for w in range(wstart, wend):
                values.append(float(x[n, h, w, c]))
        size = (hend - hstart) * (wend - wstart)
        y[n, ph, pw, c] = max(values) if mode == "max" else sum(values) / size
    return y


def within_channel_lrn(
    x: np.ndarray, size: int = 3, alpha: float = 5e-5, beta: float = 0.75
) -> np.ndarray:
    """`lrn_layer.cpp`, WITHIN_CHANNEL: an average over the full window, zeros beyond the edge."""
    side = (size - 1) // 2
    y = np.zeros(x.shape)
    for n, i, j, c in np.ndindex(*x.shape):
        squares = 0.0
        for h in range(i - side, i + side + 1):
            for w in range(j - side, j + side + 1):
                if 0 <= h < x.shape[1] and 0 <= w < x.shape[2]:
                    squares += float(x[n, h, w, c]) ** 2
        y[n, i, j, c] = x[n, i, j, c] * (1.0 + alpha * squares / size**2) ** -beta
    return y
