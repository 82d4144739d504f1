"""Compiled programs: called with arrays, they return arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _core
from .arrays import maker


class Compiled:
    """A program compiled for this machine.

    Inputs are arrays that speak DLPack or the buffer protocol. They are read where they lie, so
    their shape, dtype and strides must be those of the program's inputs.
    """

    def __init__(self, program: _core.Program, threads: int = 0) -> None:
        self._program = program
        self._threads = threads
        self._is_single = len(program.outputs) == 1
        self._makers: tuple[type, list[Callable[[], Any]]] | None = None  # of outputs, by input

    @property
    def source(self) -> str:
        """The generated program text."""
        return self._program.source

    def run(self, arrays: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """All outputs as a list: those of `out`, or new arrays of the kind of the first input."""
        if out is None:
            out = self._new_outputs(arrays[0] if len(arrays) > 0 else None)
        self._program.run(arrays, out, self._threads)
        return list(out)

    def _new_outputs(self, like: object) -> list[Any]:
        makers = self._makers
        if makers is None or makers[0] is not type(like):
            made = [maker(*spec, like=like) for spec in self._program.outputs]
            makers = self._makers = (type(like), made)
        return [make() for make in makers[1]]

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The output, or a list where there are several. `out` is an array or a sequence of them."""
        if out is not None and self._is_single and not isinstance(out, (list, tuple)):
            out = [out]
        results = self.run(arrays, out)
        return results[0] if self._is_single else results


class Runnable(_core.Graph):
    """A graph that is compiled, as it is, when it is first called."""

    _compiled: tuple[str, Any] | None = None  # hash, and a Compiled or another back end's program

    def compiled(self) -> Any:
        """The graph compiled operator by operator, without any search."""
        key = self.hash
        if self._compiled is None or self._compiled[0] != key:
            self._compiled = (key, Compiled(_core.compile(self)))
        return self._compiled[1]
