"""A product of three matrices through a narrow middle."""

import mirage as mi
from _run import main


def program() -> mi.Graph:
    g = mi.Graph("matmul_chain")
    a = g.input((16, 4096), name="a")
    b = g.input((4096, 64), name="b")
    c = g.input((64, 4096), name="c")
    g.output(a @ b @ c)
    return g


if __name__ == "__main__":
    main(program())
