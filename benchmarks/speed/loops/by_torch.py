"""A training loop in PyTorch."""

import torch

from loops import Loop


class FrameworkLoop(Loop):
    """A loop in PyTorch."""

    def __init__(self, weights, learning_rate):
        self.weights = [torch.tensor(array, requires_grad=True) for array in weights]
        self.rate = learning_rate

    def step(self, x, y):
        x, y = torch.from_numpy(x), torch.from_numpy(y)
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

    def arrays(self):
        return [variable.detach().numpy() for variable in self.weights]
