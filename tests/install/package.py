"""package.py [FOLDER]: the installed Python package runs a program; it lies in FOLDER, if given."""

import pathlib
import sys

import mirage as mi
import numpy as np

place = pathlib.Path(mi.__file__).resolve().parent
assert len(sys.argv) < 2 or place == pathlib.Path(sys.argv[1]).resolve(), place
assert (place / "py.typed").exists() and (place / "_core.pyi").exists()

graph = mi.Graph()
x, w = graph.input((4, 64), "f32", name="x"), graph.input((64, 8), "f32", name="w")
graph.output(graph.silu(x @ w))
arrays = [np.random.default_rng(1).standard_normal(shape, np.float32) for shape in ((4, 64), (64, 8))]
product = arrays[0].astype(np.float64) @ arrays[1].astype(np.float64)
want = product / (1 + np.exp(-product))
assert np.abs(mi.evaluate(graph, *arrays) - want).max() < 1e-12
assert np.abs(graph(*arrays) - want).max() < 1e-4
print("mirage", mi.__version__, "from", place)
