"""The normalised residual of nGPT: rms(x + alpha * (rms(h) + x))."""

import mirage as mi
from _run import main


def program(batch: int = 1) -> mi.Graph:
    g = mi.Graph(f"ntrans_bs{batch}")
    h = g.input((8 * batch, 4096), name="h")
    x = g.input((8 * batch, 4096), name="x")
    alpha = g.input((8 * batch, 4096), name="alpha")
    g.output(g.rms_norm(x + alpha * (g.rms_norm(h) + x)))
    return g


if __name__ == "__main__":
    main(program())
