"""Multi-query attention, batch 8: softmax without the maximum, as published."""

import mirage as mi
import mqa_bs1
from _run import main


def program() -> mi.Graph:
    return mqa_bs1.program(batch=8)


if __name__ == "__main__":
    main(program())
