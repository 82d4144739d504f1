#!/usr/bin/env python3
"""Writes the programs that bench/triton/check.py runs on a GPU: generated modules, inputs, and what
float64 says of them. Needs the mirage package, no GPU.

    python bench/triton/prepare.py FOLDER
"""

import json
import pathlib
import re
import sys

import mirage as mi
import numpy as np
from mirage import _core

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))
import triton_programs as programs  # noqa: E402
import triton_standin as standin  # noqa: E402

EXAMPLES = ROOT / "examples"
CANDIDATES = 4


def plain(array):
    """In a type that every NumPy knows, with the same values."""
    array = np.asarray(array)
    return array if array.dtype == np.float64 else array.astype(np.float32)


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.cases = []

    def add(self, name, text, **more):
        """A case; `arrays` are kept beside it."""
        arrays = more.pop("arrays", None)
        (self.path / f"{name}.py").write_text(text)
        if arrays:
            np.savez(self.path / f"{name}.npz", **arrays)
        self.cases.append({"name": name, **more})

    def add_small(self, name, graph, text, scale=1.0):
        """A case with inputs and outputs of the interpreter."""
        specs = standin.load(text).INPUTS
        inputs = programs.inputs_of(specs, 1, scale)
        views = [programs.strided(a, strides) for a, (_, strides, _) in zip(inputs, specs)]
        outputs = mi.evaluate(graph, *views)
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        arrays = {f"in{i}": plain(a) for i, a in enumerate(inputs)}
        arrays |= {f"out{i}": plain(a) for i, a in enumerate(outputs)}
        self.add(name, text, arrays=arrays)


def main(path):
    folder = Folder(path)
    for name in sorted(programs.BLOCKS):
        graph = programs.parse_one(programs.BLOCKS[name])
        folder.add_small(f"block-{name}", graph, _core.emit(graph, "triton"))
    for op in programs.elementwise():
        for dtype in ("f64", "f32", "f16", "bf16"):
            graph = programs.elementwise_graph(op, dtype)
            folder.add_small(f"op-{op}-{dtype}", graph, _core.emit(graph, "triton"), 0.5)
    for name in programs.small_examples(EXAMPLES):
        graph = programs.small_example(EXAMPLES, name)
        for i, (_, text) in enumerate(_core.candidates(graph, "triton", 10, CANDIDATES, 0, 1)[0]):
            folder.add_small(f"small-{name}-{i}", graph, text)
        mu = re.sub(r"//.*", "", (EXAMPLES / f"{name}.mu").read_text()).replace("f32[", "f16[")
        graph = programs.parse_one(mu)
        for i, (_, text) in enumerate(_core.candidates(graph, "triton", 10, CANDIDATES, 0, 1)[0]):
            folder.add(f"f16-{name}-{i}", text, program=str(graph))
    (folder.path / "cases.json").write_text(json.dumps(folder.cases, indent=1))
    print(f"{len(folder.cases)} cases in {folder.path}")


if __name__ == "__main__":
    main(sys.argv[1])
