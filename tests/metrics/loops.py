"""The loop that the tests of metrics compare with."""


def decide(outputs, output="cost"):
    """The lowest index of the smallest cost or the largest probability of one example."""
    if output == "probability":
        outputs = [1 - outputs[0], outputs[0]] if len(outputs) == 1 else outputs
        outputs = [-value for value in outputs]
    best = 0
    for k in range(len(outputs)):
        if outputs[k] < outputs[best]:
            best = k
    return best
