"""Two linear layers, one gating the other."""

import mirage as mi
from _run import main


def program() -> mi.Graph:
    g = mi.Graph("gated_mlp")
    x = g.input((8, 4096), name="x")
    w1 = g.input((4096, 4096), name="w1")
    w2 = g.input((4096, 4096), name="w2")
    g.output(g.silu(x @ w1) * (x @ w2))
    return g


if __name__ == "__main__":
    main(program())
