"""Softmax over rows; compiled programs do not overflow."""

import mirage as mi
from _run import main


def program() -> mi.Graph:
    g = mi.Graph("softmax")
    x = g.input((256, 4096), name="x")
    g.output(g.softmax(x))
    return g


if __name__ == "__main__":
    main(program())
