"""Programs, and files of programs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from .program import Runnable


class Graph(Runnable):
    """A tensor program.

    Methods add operators and return tensors; str(graph) is its text. Called with arrays, it runs as
    it is; mirage.optimize finds something faster.
    """

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The output, or a list where there are several. `out` is an array or a sequence of them."""
        return self.compiled()(*arrays, out=out)


def adopted(core: _core.Graph) -> Graph:
    """What the extension module returns, as a Graph of this package."""
    graph = Graph()
    graph.become(core)
    return graph


def parse(text: str) -> list[Graph]:
    """The graphs of a text in the .mu format."""
    return [adopted(graph) for graph in _core.parse(text)]


def load(path: str | os.PathLike[str], epoch: str = "new") -> list[Graph]:
    """The graphs of a .mu or published .json file; "FILE#3" picks one.

    The epoch, "old" or "new", says what the dtype codes of a .json file mean.
    """
    return [adopted(graph) for graph in _core.load(path, epoch)]


def evaluate(graph: _core.Graph, *arrays: Any) -> list[np.ndarray[Any, Any]]:
    """All outputs in float64 by the interpreter: what compiled programs are held against. Slow."""
    out = [np.empty(value.shape, np.float64) for value in graph.outputs]
    _core.evaluate(graph, arrays, out)
    return out
