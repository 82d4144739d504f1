"""Attention whose queries and keys are normalised over the head dimension."""

import mirage as mi
from _run import main


def program(batch: int = 1) -> mi.Graph:
    g = mi.Graph(f"qknorm_qk_bs{batch}")
    q = g.input((2 * batch, 256, 64), name="q")
    k = g.input((2 * batch, 64, 4096), name="k")
    v = g.input((2 * batch, 4096, 64), name="v")
    qn = g.rms_norm(q)
    kn = k / g.sqrt(g.mean(g.square(k), 1))
    e = g.exp(qn @ kn)
    g.output(e / g.sum(e, 2) @ v)
    return g


if __name__ == "__main__":
    main(program())
