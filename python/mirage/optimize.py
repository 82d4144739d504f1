"""From a program to the fastest proven program that this machine runs."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from . import _core
from .graph import Graph, adopted
from .program import Compiled


class Optimized(Compiled):
    """The winner, ready to be called, with everything that is known about it."""

    def __init__(self, core: _core.Optimized, threads: int) -> None:
        super().__init__(core.program, threads)
        self._core = core

    @functools.cached_property
    def graph(self) -> Graph:
        """The winner as a graph."""
        return adopted(self._core.graph)

    @property
    def report(self) -> _core.Report:
        """What was found, built, checked and timed; why the rest was lost."""
        return self._core.report

    @property
    def verdict(self) -> _core.Verdict:
        """Why the winner is the same function as the program."""
        return self.report.verdict

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the winner in the .mu format."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(self.graph))


# Runs take turns: they would disturb each other's times.
_turn = threading.RLock()


def _worker_command() -> list[str]:
    """Starts _worker.py with this interpreter; nothing where there is none, as in other programs."""
    if not sys.executable:
        return []
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_worker.py")
    return [sys.executable, "-I", "-S", script, os.path.abspath(_core.__file__)]


@functools.cache
def _session() -> _core.Session:
    return _core.Session(_worker_command())


def _show(news: dict[str, Any]) -> None:
    """Progress as one line of a terminal, written over and over."""
    best = f", {news['best_us']:.0f} us of {news['baseline_us']:.0f} us" if news["best_us"] else ""
    line = (
        f"{news['stage']} {news['done']}/{news['total']}{best}, {news['seconds_left']:.0f} s left"
    )
    print(f"\r{line[:78]:78}", end="", file=sys.stderr, flush=True)


def optimize(
    graph: _core.Graph,
    target: str = "cpu",
    time_limit: float = 60,
    *,
    threads: int = 0,
    seed: int = 1,
    top: int = 12,
    max_states: int = 0,
    use_records: bool = True,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Optimized:
    """The fastest program found within time_limit seconds that is proven equal to the graph.

    target:      "cpu", or a row of `mirage targets`
    threads:     of the compiled program; 0 is all cores
    top:         how many candidates are built beside the program as written
    max_states:  bound on the search; 0 is its default
    use_records: start from what earlier runs found
    progress:    called now and then with a dict; on a terminal the default is a line of it
    """
    shows = progress is None and sys.stderr.isatty()
    try:
        with _turn:
            core = _session().optimize(
                graph,
                target,
                time_limit,
                max_states,
                top,
                threads,
                seed,
                use_records,
                _show if shows else progress,
            )
    finally:
        if shows:
            print(f"\r{'':78}\r", end="", file=sys.stderr, flush=True)
    return Optimized(core, threads)
