"""The TFDS builder of bg-img-rot."""
