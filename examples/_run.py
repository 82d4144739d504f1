"""What every example does with its program: optimise it, run the result, show what happened."""

import sys

import mirage as mi
import numpy as np


def main(graph: mi.Graph) -> None:
    print(graph)
    best = mi.optimize(graph, time_limit=float(sys.argv[1]) if len(sys.argv) > 1 else 60)
    print(best.report)
    rng = np.random.default_rng(1)
    inputs = []
    for x in graph.inputs:
        inputs.append(mi.empty(x))
        inputs[-1][...] = rng.standard_normal(x.shape)
    fast, plain = best(*inputs), graph(*inputs)
    print(f"largest difference to the program as written: {np.abs(fast - plain).max():.2g}")
