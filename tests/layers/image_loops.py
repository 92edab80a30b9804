"""Layers of images as literal loops in NumPy."""

import math

import numpy as np


def affine(image, rotation=0.0, magnification=1.0, rows=0.0, columns=0.0, mirrored=(False, False)):
    """What `transform` makes of an image `(height, width, channels)`."""
    height, width, _ = image.shape
    angle, changed = math.radians(rotation), np.zeros_like(image)
    for row in range(height):
        for column in range(width):
            across = (column - (width - 1) / 2) * (-1 if mirrored[0] else 1)
            down = (row - (height - 1) / 2) * (-1 if mirrored[1] else 1)
            x = (math.cos(angle) * across - math.sin(angle) * down) / magnification
            y = (math.sin(angle) * across + math.cos(angle) * down) / magnification
            x = min(max(x + (width - 1) / 2 + columns * width, 0), width - 1)
            y = min(max(y + (height - 1) / 2 + rows * height, 0), height - 1)
            left, top = int(x), int(y)
            right, bottom = min(left + 1, width - 1), min(top + 1, height - 1)
            above = image[top, left] * (1 - x + left) + image[top, right] * (x - left)
            below = image[bottom, left] * (1 - x + left) + image[bottom, right] * (x - left)
            changed[row, column] = above * (1 - y + top) + below * (y - top)
    return changed


def views(images):
    """Images, then shifted by a pixel up, down, left and right, then all of them mirrored."""
    found = [images]
    for axis, pixels in ((1, 1), (1, -1), (2, 1), (2, -1)):
        places = np.clip(np.arange(images.shape[axis]) - pixels, 0, images.shape[axis] - 1)
        found.append(np.take(images, places, axis))
    found += [view[:, :, ::-1] for view in found]
    return np.concatenate(found)


def standardized_convolution(images, kernel):
    """A convolution with standardised kernels, without padding, and a ReLU."""
    size, sides = kernel[..., 0].size, kernel.shape[:2]
    _, height, width, _ = images.shape
    outputs = np.zeros((len(images), height - sides[0] + 1, width - sides[1] + 1, kernel.shape[3]))
    for out in range(kernel.shape[3]):
        weights = kernel[..., out].astype("float64")
        weights = (weights - weights.mean()) / np.sqrt(size * weights.var() + 1e-7)
        weights *= math.sqrt(2 / (1 - 1 / math.pi))
        for row in range(outputs.shape[1]):
            for column in range(outputs.shape[2]):
                part = images[:, row : row + sides[0], column : column + sides[1]]
                outputs[:, row, column, out] = np.sum(part * weights, axis=(1, 2, 3))
    return np.maximum(outputs, 0)
