"""A training loop in PyTorch."""

import torch


class Loop:
    """Trains a network of logistic layers and a linear one by SOSR and SGD.

    Args:
        weights: initial kernels and biases in turn.
        learning_rate: of SGD.
    """

    def __init__(self, weights, learning_rate):
        self.weights = [torch.tensor(array, requires_grad=True) for array in weights]
        self.rate = learning_rate

    def _step(self, x, y):
        for kernel, bias in zip(self.weights[:-2:2], self.weights[1:-2:2], strict=True):
            x = torch.sigmoid(torch.addmm(bias, x, kernel))
        estimates = torch.addmm(self.weights[-1], x, self.weights[-2])
        cheapest = y.amin(dim=-1, keepdim=True)
        sign = torch.where(y == cheapest, 1.0, -1.0)
        loss = torch.nn.functional.softplus(sign * (estimates - y)).sum(dim=-1).mean()
        loss.backward()
        with torch.no_grad():
            for variable in self.weights:
                variable.sub_(variable.grad, alpha=self.rate)
                variable.grad = None
        return loss.detach()

    def run(self, x, y, batch_size):
        """Trains an epoch; returns the last loss."""
        loss = None
        for start in range(0, len(x), batch_size):
            part = slice(start, start + batch_size)
            loss = self._step(torch.from_numpy(x[part]), torch.from_numpy(y[part]))
        return float(loss)

    def arrays(self):
        """The weights."""
        return [variable.detach().numpy() for variable in self.weights]
