"""Attention whose queries and values are normalised, as the published qknorm_gqa files do."""

import mirage as mi
from _run import main


def program(batch: int = 1) -> mi.Graph:
    g = mi.Graph(f"qknorm_qv_bs{batch}")
    q = g.input((2 * batch, 256, 64), name="q")
    k = g.input((2 * batch, 64, 4096), name="k")
    v = g.input((2 * batch, 4096, 64), name="v")
    qn, vn = g.rms_norm(q), g.rms_norm(v)
    e = g.exp(qn @ k)
    g.output(e / g.sum(e, 2) @ vn)
    return g


if __name__ == "__main__":
    main(program())
