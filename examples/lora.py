"""A linear layer with a low-rank correction."""

import mirage as mi
from _run import main


def program() -> mi.Graph:
    g = mi.Graph("lora")
    x = g.input((16, 256), name="x")
    w = g.input((256, 4096), name="w")
    a = g.input((256, 16), name="a")
    b = g.input((16, 4096), name="b")
    g.output(x @ w + x @ a @ b)
    return g


if __name__ == "__main__":
    main(program())
