"""Attention with norms over the last axes of queries and keys (for keys: the sequence)."""

import mirage as mi
from _run import main


def program() -> mi.Graph:
    g = mi.Graph("qknorm_doc")
    q = g.input((2, 256, 64), name="q")
    k = g.input((2, 64, 4096), name="k")
    v = g.input((2, 4096, 64), name="v")
    e = g.exp(g.rms_norm(q) @ g.rms_norm(k))
    g.output(e / g.sum(e, 2) @ v)
    return g


if __name__ == "__main__":
    main(program())
