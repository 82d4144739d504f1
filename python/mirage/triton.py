"""Triton programs: their text, and running and timing it with PyTorch and Triton."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import pathlib
import re
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from . import _core
from .errors import Error, InputError, UnsupportedError
from .program import Compiled


def generate_triton_program(graph: _core.Graph, *, target_cc: int) -> dict[str, Any]:
    """The graph as it is as a Python module, docs/triton.md.

    Returns {"code": the text, "output_shapes": a list of shapes}. target_cc changes nothing: Triton
    compiles for the GPU it runs on. UnsupportedError says what Triton has no words for.
    """
    code = _core.emit(graph, "triton")
    return {"code": code, "output_shapes": output_shapes(code)}


def output_shapes(code: str) -> list[tuple[int, ...]]:
    """Shapes of the outputs of a generated module."""
    outputs = re.search(r"^OUTPUTS = \[\n(.*?)^\]", code, re.M | re.S)
    if outputs is None:
        raise InputError("expected the text of a generated module, found no OUTPUTS")
    shapes = re.findall(r"^    \(\(([\d, ]*)\),", outputs[1], re.M)
    return [tuple(int(word) for word in re.findall(r"\d+", shape)) for shape in shapes]


def write_module(code: str, folder: str | os.PathLike[str] | None = None) -> str:
    """The path of a file with this text, in a folder of the user by default."""
    if folder is None:
        folder = pathlib.Path(tempfile.gettempdir()) / f"mirage-triton-{os.getuid()}"
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.stat(folder).st_uid != os.getuid():
            raise Error(f"{folder}: belongs to somebody else", "io")
    path = pathlib.Path(folder) / f"mugraph_{hashlib.sha256(code.encode()).hexdigest()[:16]}.py"
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(code, encoding="utf-8")
    os.replace(draft, path)  # readers see all of it or nothing
    return str(path)


def require(what: str) -> Any:
    """The module torch, where it and Triton are installed and a GPU is there."""
    try:
        torch = importlib.import_module("torch")
        importlib.import_module("triton")
    except ImportError as error:
        raise UnsupportedError(f"{what}: needs PyTorch and Triton: {error}") from None
    if not torch.cuda.is_available():
        raise UnsupportedError(f"{what}: PyTorch finds no GPU")
    return torch


class TritonProgram:
    """A generated module, ready to be called with tensors on a GPU."""

    def __init__(self, code: str, folder: str | os.PathLike[str] | None = None) -> None:
        self.source = code
        self.path = write_module(code, folder)
        spec = importlib.util.spec_from_file_location(pathlib.Path(self.path).stem, self.path)
        assert spec is not None and spec.loader is not None
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def run(self, arrays: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """All outputs as a list: those of `out`, or new tensors beside the first input."""
        if out is None:
            return list(self.module.run(*arrays))
        self.module.execute_mugraph(*arrays, *out)
        return list(out)

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The output, or a list where there are several."""
        is_single = len(self.module.OUTPUTS) == 1
        if out is not None and is_single and not isinstance(out, (list, tuple)):
            out = [out]
        results = self.run(arrays, out)
        return results[0] if is_single else results


def _random_inputs(torch: Any, module: Any) -> list[Any]:
    """Tensors of random numbers as the module wants them."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    inputs = []
    for shape, strides, dtype in module.INPUTS:
        values = torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32)
        tensor = torch.empty_strided(shape, strides, dtype=dtype, device="cuda")
        tensor.copy_(values.to(dtype))
        inputs.append(tensor)
    return inputs


def _like(torch: Any, tensor: Any) -> Any:
    """The tensor on the CPU, in the same strides."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor)


def _deviation(torch: Any, found: Sequence[Any], wanted: Sequence[Any]) -> float:
    """The largest error of an output in units of its largest element and of its type's rounding."""
    worst = 0.0
    for one, reference in zip(found, wanted):
        reference = reference.to(device=one.device, dtype=torch.float64)
        size = reference.abs().max().clamp_min(torch.finfo(torch.float64).tiny)
        error = (one.to(torch.float64) - reference).abs().max() / size
        worst = max(worst, float(error.nan_to_num(nan=float("inf"))) / torch.finfo(one.dtype).eps)
    return worst


def _milliseconds(torch: Any, call: Callable[[], object], warmup: int, repeats: int) -> float:
    """Time of a call on the GPU, averaged over all repeats."""
    for _ in range(warmup):
        call()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(max(repeats, 1)):
        call()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / max(repeats, 1)


def select(
    what: str,
    candidates: Sequence[tuple[Any, str]],
    reference: Callable[[Sequence[Any]], Sequence[Any]],
    warmup_iters: int,
    profile_iters: int,
    debug_mode: bool,
    save_codes: bool,
) -> tuple[Any, TritonProgram]:
    """The fastest of (graph, text) that runs and agrees with the reference, which takes the first
    candidate's inputs on the CPU.
    """
    torch = require(what)
    folder = pathlib.Path("generated_codes") if save_codes else None
    if folder is not None:
        folder.mkdir(exist_ok=True)
    best: tuple[float, Any, TritonProgram] | None = None
    wanted = None
    losses = []
    for number, (graph, code) in enumerate(candidates):
        try:
            program = TritonProgram(code, folder)
            inputs = _random_inputs(torch, program.module)
            outputs = program.run(inputs)
            if wanted is None:
                wanted = list(reference([_like(torch, tensor) for tensor in inputs]))
            deviation = _deviation(torch, outputs, wanted)
            if deviation > 32:
                raise Error(f"{deviation:.3g} roundings from the reference", "mismatch")
            call = lambda p=program, i=inputs, o=outputs: p.run(i, o)  # noqa: E731
            time = _milliseconds(torch, call, warmup_iters, profile_iters)
        except Exception as error:  # what Triton's compiler throws has no common base
            losses.append(f"graph {number}: {type(error).__name__}: {error}")
            if debug_mode:
                print(losses[-1])
            continue
        if debug_mode:
            print(f"graph {number}: {time:.4f} ms, {program.path}")
        if best is None or time < best[0]:
            best = (time, graph, program)
    if best is None:
        raise Error(f"{what}: none of {len(candidates)} graphs runs", "run failed", losses)
    return best[1:]


def profile_and_select_best_graph(
    graphs: Sequence[_core.Graph],
    target_cc: int,
    warmup_iters: int = 16,
    profile_iters: int = 1000,
    debug_mode: bool = False,
    save_codes: bool = False,
) -> tuple[_core.Graph, str, list[tuple[int, ...]]]:
    """The fastest of equal graphs, run by Triton, as (graph, path of its text, output shapes).

    Graphs that Triton cannot express or run are left out; debug_mode prints why, and all times.
    save_codes keeps the texts in generated_codes/. All are held against what the first graph gives
    on the CPU. target_cc changes nothing.
    """
    what = "profile_and_select_best_graph"
    if not graphs:
        raise InputError(f"{what}: expected at least one graph")
    require(what)
    candidates, losses = [], []
    for number, graph in enumerate(graphs):
        try:
            candidates.append((graph, _core.emit(graph, "triton")))
        except Error as error:
            losses.append(f"graph {number}: {error}")
            if debug_mode:
                print(losses[-1])
    if not candidates:
        message = f"{what}: none of {len(graphs)} graphs is one for Triton"
        raise UnsupportedError(message, notes=losses)
    graph, best = select(
        what, candidates, _on_cpu(graphs[0]), warmup_iters, profile_iters, debug_mode, save_codes
    )
    return graph, best.path, output_shapes(best.source)


def _on_cpu(graph: _core.Graph) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """The graph as a program for the CPU, by another back end."""
    return Compiled(_core.compile(graph)).run


def fastest(
    graph: _core.Graph,
    time_limit: float,
    threads: int,
    warmup_iters: int,
    profile_iters: int,
    debug_mode: bool,
    save_codes: bool,
) -> tuple[_core.Graph, TritonProgram]:
    """The fastest proven equal of a graph among those that the search puts first."""
    found, losses = _core.candidates(graph, "triton", time_limit, 12, threads, 1)
    if debug_mode:
        print("\n".join(losses))
    return select(
        "superoptimize", found, _on_cpu(graph), warmup_iters, profile_iters, debug_mode, save_codes
    )
