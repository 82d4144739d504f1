"""Layer norm and a linear layer."""

import mirage as mi
from _run import main


def program() -> mi.Graph:
    g = mi.Graph("layernorm_linear")
    x = g.input((16, 4096), name="x")
    w = g.input((4096, 6144), name="w")
    g.output(g.layer_norm(x) @ w)
    return g


if __name__ == "__main__":
    main(program())
