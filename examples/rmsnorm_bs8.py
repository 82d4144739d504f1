"""RMS norm and a linear layer, batch 8."""

import mirage as mi
import rmsnorm_bs1
from _run import main


def program() -> mi.Graph:
    return rmsnorm_bs1.program(batch=8)


if __name__ == "__main__":
    main(program())
