"""RMS norm and a linear layer."""

import mirage as mi
from _run import main


def program(batch: int = 1) -> mi.Graph:
    g = mi.Graph(f"rmsnorm_bs{batch}")
    x = g.input((2 * batch, 4096), name="x")
    w = g.input((4096, 6144), name="w")
    g.output(g.rms_norm(x) @ w)
    return g


if __name__ == "__main__":
    main(program())
