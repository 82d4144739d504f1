"""Attention whose queries and keys are normalised over the head dimension, batch 8."""

import mirage as mi
import qknorm_qk_bs1
from _run import main


def program() -> mi.Graph:
    return qknorm_qk_bs1.program(batch=8)


if __name__ == "__main__":
    main(program())
