"""Attention whose queries and values are normalised, as the published qknorm_gqa files do, batch 8."""

import mirage as mi
import qknorm_qv_bs1
from _run import main


def program() -> mi.Graph:
    return qknorm_qv_bs1.program(batch=8)


if __name__ == "__main__":
    main(program())
