"""The published interface: kernel graphs, block graphs and superoptimize under their known names.

A program written for it runs unchanged, except for the device of its tensors. New programs may as
well use mirage.Graph, of which KNGraph is a sibling.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _core, triton
from ._core import DType, Tensor
from .errors import InputError, UnsupportedError
from .optimize import Optimized, optimize
from .program import Runnable

float64 = DType.f64
float32 = DType.f32
bfloat16 = DType.bf16
float16 = DType.f16
float8 = float8_e4m3 = DType.f8e4m3
float8_e5m2 = DType.f8e5m2
int64 = DType.i64
int32 = DType.i32
int16 = DType.i16
int8 = DType.i8
uint64 = DType.u64
uint32 = DType.u32
uint16 = DType.u16
uint8 = DType.u8

_CONFIGS = (None, "attention", "mlp", "lora")
_BACKENDS = ("cpu", "cuda", "triton")


class TBGraph(_core.BlockGraph):
    """The body of a customized kernel: tiles of a grid (x, y, z), with a loop over input tiles."""

    def __init__(
        self,
        grid_dim: Sequence[int],
        block_dim: Sequence[int],
        forloop_range: int,
        reduction_dimx: int,
    ) -> None:
        if len(grid_dim) != 3 or len(block_dim) != 3:
            raise InputError(
                f"new_threadblock_graph: expected 3 extents for grid_dim and block_dim, "
                f"found {tuple(grid_dim)} and {tuple(block_dim)}"
            )
        axes = [(name, "grid", trips) for name, trips in zip("xyz", grid_dim)]
        axes.append(("i", "loop", forloop_range))
        for name, _, trips in axes:
            if trips < 1:
                raise InputError(
                    f"new_threadblock_graph: axis {name}: expected at least one step, found {trips}"
                )
        # Axes of one step are no axes; _axis gives the number of those that are left.
        axes = [axis for axis in axes if axis[2] > 1]
        self._axis = {name: index for index, (name, _, _) in enumerate(axes)}
        self._trips = {name: trips for name, _, trips in axes}
        self._reduction_dimx = reduction_dimx
        super().__init__(axes, block_dim[0] * block_dim[1] * block_dim[2])

    def _bind(
        self, what: str, shape: Sequence[int], tensor_map: Sequence[int], loop: int
    ) -> list[list[int]]:
        """For each tensor axis the block axes that split it: grid before loop."""
        if len(tensor_map) != 3:
            raise InputError(f"{what}: expected a map of 3 entries, found {tuple(tensor_map)}")
        bind: list[list[int]] = [[] for _ in shape]
        extents = list(shape)
        for name, dim in zip("xyzi", (*tensor_map, loop)):
            if not -1 <= dim < len(shape):
                raise InputError(
                    f"{what}: block axis {name} is mapped to axis {dim} of a tensor of rank {len(shape)}"
                )
            if dim < 0 or name not in self._axis:
                continue
            if what == "new_input" and extents[dim] % self._trips[name] != 0:
                raise InputError(
                    f"{what}: axis {dim} of extent {extents[dim]} does not divide over "
                    f"{self._trips[name]} steps of block axis {name}"
                )
            extents[dim] //= self._trips[name]
            bind[dim].append(self._axis[name])
        return bind

    def new_input(
        self,
        dtensor: Tensor,
        input_map: Sequence[int],
        forloop_dim: int,
        store_in_dmem: bool = False,
    ) -> Tensor:
        """The tile of a kernel operand; -1 means: not split (by this grid axis, by the loop)."""
        bind = self._bind("new_input", dtensor.shape, input_map, forloop_dim)
        return self.load(self.input(dtensor), bind)

    def new_output(
        self, stensor: Tensor, output_map: Sequence[int], forloop_dim: int = -1
    ) -> Tensor:
        """Writes the tile of the next result."""
        if forloop_dim != -1:
            raise UnsupportedError("new_output: a result cannot be written in steps of the loop")
        return self.store(stensor, self._bind("new_output", stensor.shape, output_map, -1))

    def reduction(self, A: Tensor, dim: int) -> Tensor:
        """Sum over an axis, which keeps extent 1."""
        return self.sum(A, dim)

    def reduction_max(self, A: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        """(m, d): the maximum of all loop steps so far, and how much it fell behind: old m - new m."""
        return self.running_max(A, dim)

    def mul_scalar(self, A: Tensor, scalar: float) -> Tensor:
        """A * scalar."""
        return self.mul(A, scalar)

    def rms_norm(self, A: Tensor) -> Tensor:
        """A over its root mean square, over the last axis of the tile."""
        return self.div(A, self.sqrt(self.mean(self.square(A), -1)))

    def forloop_accum(self, A: Tensor, acc: str | None = None) -> Tensor:
        """Sum over the loop; acc says what is done with the last axis in the same step."""
        if acc is None:
            return self.accum(A, "sum")
        if acc == "sum":
            return self.accum(self.sum(A, -1), "sum")
        if acc == "mean":
            return self.accum(self.mean(A, -1), "mean")
        if acc == "rms":
            return self.sqrt(self.accum(self.mean(self.square(A), -1), "mean"))
        if acc == "sum_todimx":
            *outer, last = A.shape
            dimx = self._reduction_dimx
            if dimx < 1 or last % dimx != 0:
                raise InputError(
                    f"forloop_accum: last axis of extent {last} is no multiple of reduction_dimx {dimx}"
                )
            groups = self.reshape(A, (*outer, last // dimx, dimx))
            return self.accum(self.reshape(self.sum(groups, -2), (*outer, dimx)), "sum")
        raise InputError(
            f"forloop_accum: expected acc None, sum, mean, rms or sum_todimx, found {acc}"
        )

    def forloop_accum_rescale(self, A: Tensor, B: Tensor, acc: str | None = None) -> Tensor:
        """state = state * B + A at each loop step; with acc "sum", A is first summed over its last axis."""
        if acc not in (None, "sum"):
            raise InputError(f"forloop_accum_rescale: expected acc None or sum, found {acc}")
        return self.accum_rescale(A if acc is None else self.sum(A, -1), B)

    def forloop_accum_max(self, A: Tensor) -> Tensor:
        """Elementwise maximum over the loop."""
        return self.accum(A, "max")


class KNGraph(Runnable):
    """A tensor program; what superoptimize returns also knows the kernels that compute it."""

    @property
    def cygraph(self) -> KNGraph:
        """The handle that the published functions take."""
        return self

    @property
    def optimized(self) -> Optimized | None:
        """After superoptimize: report, verdict and source of the winner."""
        known = self._compiled
        if known is None or known[0] != self.hash:
            return None
        return known[1] if isinstance(known[1], Optimized) else None

    def new_input(
        self, dims: Sequence[int], strides: Sequence[int] | None = None, dtype: object = float16
    ) -> Tensor:
        """An input; strides count elements, None is row-major."""
        return self.input(dims, dtype, strides)

    def reduction(self, A: Tensor, dim: int) -> Tensor:
        """Sum over an axis, which keeps extent 1."""
        return self.sum(A, dim)

    def clamp(self, A: Tensor, min_val: float, max_val: float) -> Tensor:
        """min(max(A, min_val), max_val)."""
        return super().clamp(A, min_val, max_val)

    def customized(self, inputs: Sequence[Tensor], bgraph: _core.BlockGraph) -> list[Tensor]:
        """A kernel defined by a block graph; one result for each of its outputs."""
        return self.block(bgraph, *inputs)

    def superoptimize(
        self,
        imaps: object = None,
        omaps: object = None,
        griddims: object = None,
        blockdims: object = None,
        fmaps: object = None,
        franges: object = None,
        verbose: bool = False,
        config: str | None = None,
        backend: str = "cpu",
        warmup_iters: int = 16,
        profile_iters: int = 1000,
        use_graph_dataset: bool = True,
        use_cached_graphs: bool = True,
        save_codes: bool = False,
        is_formal_verified: bool = False,
        previous_checkpoint: object = None,
        max_num_threadblock_graph_op: int | None = None,
        max_num_kernel_graph_op: int | None = None,
        num_search_thread: int = 0,
        use_symbolic_search: bool = False,
        symbolic_checkpoint: object = None,
        search_time_limit_sec: float = -1,
        target_cc: int | None = None,
    ) -> KNGraph:
        """The fastest proven equal of this program on this machine, as a graph that can be called.

        Keywords are the published ones. use_cached_graphs, search_time_limit_sec and
        num_search_thread do what they say; with backend "triton" so do warmup_iters, profile_iters,
        verbose and save_codes. The others choose parts of a search space that is searched as a whole
        here, or a cache that no longer exists, and change nothing.
        """
        if config not in _CONFIGS:
            raise InputError(
                f"superoptimize: expected config None, attention, mlp or lora, found {config!r}"
            )
        _check_backend("superoptimize", backend)
        time_limit = search_time_limit_sec if search_time_limit_sec > 0 else 60
        best = KNGraph()
        if backend == "triton":
            graph, program = triton.fastest(
                self, time_limit, num_search_thread, warmup_iters, profile_iters, verbose, save_codes
            )
            best.become(graph)
            best._compiled = (best.hash, program)
            return best
        result = optimize(
            self,
            time_limit=time_limit,
            threads=num_search_thread,
            use_records=use_cached_graphs,
        )
        best.become(result.graph)
        best._compiled = (best.hash, result)
        return best

    def compile(self, **_: object) -> None:
        """Compiles the graph now instead of at the first call; published keywords change nothing."""
        self.compiled()

    def valid_kernels(self) -> bool:
        """Whether the graph compiles for this machine."""
        try:
            self.compiled()
        except (UnsupportedError, InputError):
            return False
        return True

    def get_error_message(self) -> str:
        """Why valid_kernels() is false."""
        try:
            self.compiled()
        except (UnsupportedError, InputError) as error:
            return str(error)
        return "No error"

    def get_owner_independent_hash(self) -> str:
        """Hash of structure, wiring, types and layouts."""
        return self.hash

    def __call__(
        self, inputs: Sequence[Any] = (), *, out: Sequence[Any] | None = None, **_: object
    ) -> list[Any]:
        """All outputs as a list: those of `out`, or new arrays of the kind of the first input.

        Other published keywords (stream, verbose) change nothing.
        """
        if not isinstance(inputs, (list, tuple)):
            raise InputError(f"expected inputs as a list, found {type(inputs).__name__}")
        return self.compiled().run(inputs, out)

    def to_json(self, filename: str | os.PathLike[str], epoch: str = "new") -> None:
        """Writes the graph in the published JSON format."""
        text = self.mugraph_json(epoch)
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text)

    def from_json(self, filename: str | os.PathLike[str], epoch: str = "new") -> KNGraph:
        """Becomes the graph of a file of one graph; "FILE#3" picks one of several.

        The epoch, "old" or "new", says what the file's dtype codes mean.
        """
        graphs = _core.load(filename, epoch)
        if len(graphs) != 1:
            raise InputError(
                f"{os.fspath(filename)}: expected one graph, found {len(graphs)}; FILE#n picks one"
            )
        self.become(graphs[0])
        return self


def _check_backend(function: str, backend: str) -> None:
    if backend not in _BACKENDS:
        raise InputError(f"{function}: expected backend cpu, cuda or triton, found {backend!r}")
    if backend == "triton":
        triton.require(f"{function}: backend triton")
    elif backend != "cpu":
        raise UnsupportedError(f"{function}: there is no {backend} back end yet")


def superoptimize(graph: KNGraph, **keywords: Any) -> KNGraph:
    """graph.superoptimize(...)."""
    return graph.superoptimize(**keywords)


def generate_cuda_program(
    graph: KNGraph, *, target_cc: int, input_strides: object = None, **_: object
) -> dict[str, Any]:
    """The published entry to CUDA code."""
    raise UnsupportedError("generate_cuda_program: there is no cuda back end yet")


def new_kernel_graph() -> KNGraph:
    """An empty program."""
    return KNGraph()


def new_threadblock_graph(
    grid_dim: Sequence[int], block_dim: Sequence[int], forloop_range: int, reduction_dimx: int
) -> TBGraph:
    """The empty body of a customized kernel."""
    return TBGraph(grid_dim, block_dim, forloop_range, reduction_dimx)
