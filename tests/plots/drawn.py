"""What an Axes shows."""


def legend_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def line_of(axes, label):
    """Horizontal and vertical coordinates of the line with this label."""
    (line,) = [line for line in axes.get_lines() if line.get_label() == label]
    return line.get_xdata(), line.get_ydata()


def star_of(axes):
    """Coordinates of the star."""
    (star,) = [line for line in axes.get_lines() if line.get_marker() == "*"]
    return star.get_xdata()[0], star.get_ydata()[0]


def ticks_of(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]
