"""Attention with the maximum subtracted before exp, as frameworks write softmax."""

import mirage as mi
from _run import main


def program() -> mi.Graph:
    g = mi.Graph("safe_softmax_attention")
    q = g.input((2, 256, 64), name="q")
    k = g.input((2, 64, 4096), name="k")
    v = g.input((2, 4096, 64), name="v")
    g.output(g.safe_softmax(q @ k) @ v)
    return g


if __name__ == "__main__":
    main(program())
