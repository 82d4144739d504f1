"""Grouped-query attention: softmax without the maximum, as published."""

import mirage as mi
from _run import main


def program(batch: int = 1) -> mi.Graph:
    g = mi.Graph(f"gqa_bs{batch}")
    q = g.input((2 * batch, 256, 64), name="q")
    k = g.input((2 * batch, 64, 4096), name="k")
    v = g.input((2 * batch, 4096, 64), name="v")
    e = g.exp(q @ k)
    g.output(e / g.sum(e, 2) @ v)
    return g


if __name__ == "__main__":
    main(program())
