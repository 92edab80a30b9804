import numpy as np

from csdl_keras.datasets.photographs import photographs


class TestPhotographs:
    def test_gray_and_in_range(self):
        pictures = photographs()
        assert len(pictures) == 14
        for picture in pictures:
            assert picture.ndim == 2
            assert min(picture.shape) >= 300
            assert picture.dtype == np.float32
            assert 0.0 <= picture.min() < picture.max() <= 1.0

    def test_they_are_photographs(self):
        """Neighbouring pixels are alike, opposite halves are not."""
        for picture in photographs():
            assert np.corrcoef(picture[:, 1:].ravel(), picture[:, :-1].ravel())[0, 1] > 0.7
            assert picture.std() > 0.02
