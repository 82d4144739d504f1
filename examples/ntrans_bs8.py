"""The normalised residual of nGPT: rms(x + alpha * (rms(h) + x)), batch 8."""

import mirage as mi
import ntrans_bs1
from _run import main


def program() -> mi.Graph:
    return ntrans_bs1.program(batch=8)


if __name__ == "__main__":
    main(program())
