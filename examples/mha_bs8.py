"""Multi-head attention, batch 8: softmax without the maximum, as published."""

import mha_bs1
import mirage as mi
from _run import main


def program() -> mi.Graph:
    return mha_bs1.program(batch=8)


if __name__ == "__main__":
    main(program())
