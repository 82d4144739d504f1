from collections.abc import Sequence
import enum
import os


version: str = '0.1.0'

class DType(enum.Enum):
    """The type of a tensor's elements."""

    f64 = 0

    f32 = 1

    bf16 = 2

    f16 = 3

    f8e4m3 = 4

    f8e5m2 = 5

    i64 = 6

    i32 = 7

    i16 = 8

    i8 = 9

    u64 = 10

    u32 = 11

    u16 = 12

    u8 = 13

    bool = 14

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""

def dtype(object: object) -> DType:
    """
    The element type of this name ("f16", "float16") or of a NumPy or PyTorch type.
    """

class Tensor:
    """A value of a graph. Operators (+ - * / ** @) add to its graph."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, outermost first."""

    @property
    def dtype(self) -> DType:
        """Type of the elements."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements: those that an input was declared with, else row-major."""

    def __repr__(self) -> str: ...

    __array_ufunc__: None = None

    def __add__(self, other: Tensor | float, /) -> Tensor: ...

    def __radd__(self, other: Tensor | float, /) -> Tensor: ...

    def __sub__(self, other: Tensor | float, /) -> Tensor: ...

    def __rsub__(self, other: Tensor | float, /) -> Tensor: ...

    def __mul__(self, other: Tensor | float, /) -> Tensor: ...

    def __rmul__(self, other: Tensor | float, /) -> Tensor: ...

    def __truediv__(self, other: Tensor | float, /) -> Tensor: ...

    def __rtruediv__(self, other: Tensor | float, /) -> Tensor: ...

    def __pow__(self, other: Tensor | float, /) -> Tensor: ...

    def __rpow__(self, other: Tensor | float, /) -> Tensor: ...

    def __matmul__(self, other: Tensor, /) -> Tensor: ...

    def __neg__(self) -> Tensor: ...

class Graph:
    """A tensor program. Methods add operators and return tensors."""

    def __init__(self, name: str = '') -> None: ...

    def input(self, shape: Sequence[int], dtype: object = 'f32', strides: Sequence[int] | None = None, name: str = '') -> Tensor:
        """An input; strides count elements, None is row-major."""

    def mark_output(self, x: Tensor, strides: Sequence[int] | None = None) -> None:
        """
        Makes x the next output; strides count elements, None is row-major. Without any, the outputs are the values nobody reads.
        """

    def output(self, *xs: Tensor) -> None:
        """Makes these the next outputs."""

    @property
    def inputs(self) -> list[Tensor]:
        """In the order in which a call takes them."""

    @property
    def outputs(self) -> list[Tensor]:
        """In the order in which a call returns them."""

    @property
    def hash(self) -> str:
        """Of structure, types and layouts; names do not count."""

    def become(self, other: Graph) -> None:
        """Makes this a copy of other; tensors it had belong to it no more."""

    def block(self, body: BlockGraph, *xs: Tensor) -> list[Tensor]:
        """A kernel with this body; one result for each of its stores."""

    def rms_norm(self, x: Tensor, weight: Tensor | int | Sequence[int] | None = None, normalized_shape: int | Sequence[int] | None = None, eps: float | None = None) -> Tensor:
        """
        x / sqrt(mean(x * x) + eps) * weight, the mean over the trailing axes of normalized_shape (the last axis). The shape may stand in the place of the weight.
        """

    def layer_norm(self, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float | None = None, axes: int = 1) -> Tensor:
        """
        (x - mean) / sqrt(variance + eps) * weight + bias over the last `axes` axes.
        """

    def softmax(self, x: Tensor, axis: int = -1) -> Tensor:
        """exp(x) / sum(exp(x)) along an axis; compiled programs do not overflow."""

    def safe_softmax(self, x: Tensor, axis: int = -1) -> Tensor:
        """softmax whose shift by the maximum is part of the program."""

    def chunk(self, x: Tensor, count: int, axis: int) -> list[Tensor]:
        """Equal parts along an axis."""

    def split(self, x: Tensor, extents: Sequence[int], axis: int) -> list[Tensor]:
        """Parts of these extents along an axis."""

    def __str__(self) -> str: ...

    def mugraph_json(self, epoch: str = 'new') -> str:
        """The graph in the published JSON format."""

    def const(self, value: float) -> Tensor:
        """a literal scalar"""

    def extent(self, x: Tensor, axis: int) -> Tensor:
        """the number of elements along an axis of the operand, as a scalar"""

    def exp(self, x: Tensor) -> Tensor:
        """e to the power of x"""

    def log(self, x: Tensor) -> Tensor:
        """natural logarithm"""

    def sqrt(self, x: Tensor) -> Tensor:
        """square root"""

    def rsqrt(self, x: Tensor) -> Tensor:
        """reciprocal square root"""

    def square(self, x: Tensor) -> Tensor:
        """x * x"""

    def sigmoid(self, x: Tensor) -> Tensor:
        """1 / (1 + exp(-x))"""

    def silu(self, x: Tensor) -> Tensor:
        """x * sigmoid(x)"""

    def gelu(self, x: Tensor) -> Tensor:
        """x / 2 * (1 + erf(x / sqrt(2)))"""

    def relu(self, x: Tensor) -> Tensor:
        """max(x, 0)"""

    def tanh(self, x: Tensor) -> Tensor:
        """hyperbolic tangent"""

    def neg(self, x: Tensor) -> Tensor:
        """-x"""

    def clamp(self, x: Tensor, lo: float, hi: float) -> Tensor:
        """min(max(x, lo), hi)"""

    def add(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a + b"""

    def sub(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a - b"""

    def mul(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a * b"""

    def div(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a / b"""

    def pow(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a to the power of b"""

    def maximum(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """the larger of a and b, NaN if either is"""

    def minimum(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """the smaller of a and b, NaN if either is"""

    def matmul(self, a: Tensor, b: Tensor) -> Tensor:
        """batched matrix product"""

    def sum(self, x: Tensor, axis: int | Sequence[int]) -> Tensor:
        """sum over an axis"""

    def mean(self, x: Tensor, axis: int | Sequence[int]) -> Tensor:
        """arithmetic mean over an axis"""

    def max(self, x: Tensor, axis: int | Sequence[int]) -> Tensor:
        """maximum over an axis"""

    def gauge_max(self, x: Tensor, axis: int) -> Tensor:
        """
        maximum over an axis (0 where it is infinite) whose value must not matter to any output: a softmax shift
        """

    def transpose(self, x: Tensor, perm: Sequence[int]) -> Tensor:
        """axis i of the result is axis perm[i] of the operand"""

    def reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """the same elements in row-major order under another shape"""

    def concat(self, xs: Sequence[Tensor], axis: int) -> Tensor:
        """operands one after another along an axis"""

    def narrow(self, x: Tensor, axis: int, start: int, length: int) -> Tensor:
        """length elements from start along an axis"""

class BlockGraph:
    """The body of a kernel: what each block of a grid does."""

    def __init__(self, axes: Sequence[tuple[str, str, int]], threads: int = 0) -> None:
        """
        Axes are (name, role, trips), role "grid" or "loop"; threads 0 leaves the number to lowering.
        """

    def input(self, x: Tensor) -> Tensor:
        """The next operand of the kernel, of the type of x; to be read by load."""

    def __str__(self) -> str: ...

    def const(self, value: float) -> Tensor:
        """a literal scalar"""

    def extent(self, x: Tensor, axis: int) -> Tensor:
        """the number of elements along an axis of the operand, as a scalar"""

    def exp(self, x: Tensor) -> Tensor:
        """e to the power of x"""

    def log(self, x: Tensor) -> Tensor:
        """natural logarithm"""

    def sqrt(self, x: Tensor) -> Tensor:
        """square root"""

    def rsqrt(self, x: Tensor) -> Tensor:
        """reciprocal square root"""

    def square(self, x: Tensor) -> Tensor:
        """x * x"""

    def sigmoid(self, x: Tensor) -> Tensor:
        """1 / (1 + exp(-x))"""

    def silu(self, x: Tensor) -> Tensor:
        """x * sigmoid(x)"""

    def gelu(self, x: Tensor) -> Tensor:
        """x / 2 * (1 + erf(x / sqrt(2)))"""

    def relu(self, x: Tensor) -> Tensor:
        """max(x, 0)"""

    def tanh(self, x: Tensor) -> Tensor:
        """hyperbolic tangent"""

    def neg(self, x: Tensor) -> Tensor:
        """-x"""

    def clamp(self, x: Tensor, lo: float, hi: float) -> Tensor:
        """min(max(x, lo), hi)"""

    def add(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a + b"""

    def sub(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a - b"""

    def mul(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a * b"""

    def div(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a / b"""

    def pow(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """a to the power of b"""

    def maximum(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """the larger of a and b, NaN if either is"""

    def minimum(self, a: Tensor | float, b: Tensor | float) -> Tensor:
        """the smaller of a and b, NaN if either is"""

    def matmul(self, a: Tensor, b: Tensor) -> Tensor:
        """batched matrix product"""

    def sum(self, x: Tensor, axis: int | Sequence[int]) -> Tensor:
        """sum over an axis"""

    def mean(self, x: Tensor, axis: int | Sequence[int]) -> Tensor:
        """arithmetic mean over an axis"""

    def max(self, x: Tensor, axis: int | Sequence[int]) -> Tensor:
        """maximum over an axis"""

    def gauge_max(self, x: Tensor, axis: int) -> Tensor:
        """
        maximum over an axis (0 where it is infinite) whose value must not matter to any output: a softmax shift
        """

    def transpose(self, x: Tensor, perm: Sequence[int]) -> Tensor:
        """axis i of the result is axis perm[i] of the operand"""

    def reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """the same elements in row-major order under another shape"""

    def concat(self, xs: Sequence[Tensor], axis: int) -> Tensor:
        """operands one after another along an axis"""

    def narrow(self, x: Tensor, axis: int, start: int, length: int) -> Tensor:
        """length elements from start along an axis"""

    def load(self, x: Tensor, bind: Sequence[Sequence[int]]) -> Tensor:
        """the tile of a kernel operand at this grid point and loop step"""

    def store(self, x: Tensor, bind: Sequence[Sequence[int]], shape: Sequence[int] | None = None) -> Tensor:
        """writes this block's tile of a kernel result"""

    def accum(self, x: Tensor, combine: str) -> Tensor:
        """sum, mean or max of x over all loop steps"""

    def accum_rescale(self, a: Tensor, b: Tensor) -> Tensor:
        """state = state * r + x at each loop step"""

    def running_max(self, x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
        """
        in-loop pair (m, d): m the maximum over an axis of all steps so far, d = previous m - m (0 at the first step)
        """

    def running_gauge(self, x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
        """
        running_max whose value must not matter to any output (0 where it is infinite): an online softmax shift
        """

def parse(text: str) -> list[Graph]:
    """The graphs of a text in the .mu format."""

def load(path: str | os.PathLike[str], epoch: str = 'new') -> list[Graph]:
    """
    The graphs of a .mu or published .json file; "FILE#3" picks one. The epoch says what the dtype codes of a .json file mean.
    """

def op_table() -> list[dict[str, object]]:
    """
    Every operator: name, arity (-1: one or more), levels, attributes, description.
    """

class Program:
    """A compiled program."""

    def run(self, inputs: Sequence[object], outputs: Sequence[object], threads: int = 0) -> None:
        """
        Computes the outputs; arrays are checked against `inputs` and `outputs`.
        """

    @property
    def inputs(self) -> list[tuple[tuple[int, ...], tuple[int, ...], DType]]:
        """Shape, strides in elements and dtype of each input."""

    @property
    def outputs(self) -> list[tuple[tuple[int, ...], tuple[int, ...], DType]]:
        """Shape, strides in elements and dtype of each output."""

    @property
    def source(self) -> str:
        """The generated program text."""

def compile(graph: Graph, target: str = 'cpu') -> Program:
    """Compiles a graph as it is, operator by operator."""

def evaluate(graph: Graph, inputs: Sequence[object], outputs: Sequence[object]) -> None:
    """Computes the outputs (f64, row-major) in float64, by the interpreter."""

class Verdict:
    """Whether two programs are the same function; true if they are."""

    @property
    def answer(self) -> str:
        """"equivalent", "different" or "unknown"."""

    @property
    def method(self) -> str:
        """How that was found."""

    @property
    def log2_error_bound(self) -> float:
        """
        Base-2 logarithm of the probability that a wrong pair passed; 0: none is claimed.
        """

    @property
    def trials(self) -> int:
        """Random evaluations over finite fields."""

    @property
    def real_size_entries(self) -> int:
        """Output entries that were compared at the real size."""

    @property
    def all_sizes(self) -> bool:
        """Holds for all extents, not only for these."""

    @property
    def output_order(self) -> list[int]:
        """
        Entry i is the candidate's output that computes output i of the reference.
        """

    @property
    def uninterpreted(self) -> list[str]:
        """Functions of which only equal arguments with equal results were used."""

    @property
    def notes(self) -> list[str]:
        """What was assumed or restricted, a line each."""

    @property
    def reason(self) -> str:
        """Why the answer is not "equivalent"."""

    @property
    def witness(self) -> str | None:
        """Inputs on which the two differ, in words."""

    def __bool__(self) -> bool: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def verify(reference: Graph, candidate: Graph, seed: int = 1) -> Verdict:
    """Whether the candidate computes the same function as the reference."""

class Report:
    """What a run of optimize did."""

    @property
    def funnel(self) -> dict[str, int]:
        """How many candidates came how far, in order."""

    @property
    def rejected(self) -> list[tuple[str, str, int, str]]:
        """Losses: stage, reason, count, the first one's message."""

    @property
    def skipped(self) -> list[tuple[str, str]]:
        """What was left out for lack of time: stage and reason."""

    @property
    def is_checked(self) -> bool:
        """
        Whether the winner agreed with float64; false only for a program as written that there was no time to check.
        """

    @property
    def baseline_us(self) -> float:
        """
        Median time of the program as written, in microseconds; NaN if not measured.
        """

    @property
    def best_us(self) -> float:
        """Median time of the winner, in microseconds; NaN if not measured."""

    @property
    def speed_up(self) -> float:
        """baseline_us / best_us."""

    @property
    def verdict(self) -> Verdict:
        """Why the winner is the same function as the program."""

    @property
    def plan(self) -> str:
        """What the winner does, in words."""

    @property
    def total_seconds(self) -> float:
        """Wall time of the run."""

    @property
    def stage_seconds(self) -> dict[str, float]:
        """Wall time of each stage."""

    @property
    def is_from_store(self) -> bool:
        """
        The winner was known from an earlier run and only checked and timed again.
        """

    @property
    def notes(self) -> list[str]:
        """What is worth knowing, a line each."""

    def json(self) -> str:
        """One document: docs/schemas/optimize.schema.json."""

    def __str__(self) -> str: ...

class Optimized:
    """The winner of a run of optimize."""

    @property
    def program(self) -> Program:
        """Compiled."""

    @property
    def graph(self) -> Graph:
        """As a graph."""

    @property
    def report(self) -> Report:
        """What the run did."""

class Session:
    """Compiled code, records and threads that runs share."""

    def __init__(self, worker: Sequence[str]) -> None:
        """worker: the command of a program that calls serve_gpu_worker()."""

    def optimize(self, graph: Graph, target: str, time_limit: float, max_states: int, top: int, threads: int, seed: int, use_records: bool, progress: object | None) -> Optimized:
        """The fastest proven equal of a graph."""

def emit(graph: Graph, target: str) -> str:
    """The source text of a graph as it is, for a row of `mirage targets`."""

def candidates(graph: Graph, target: str, time_limit: float, top: int, threads: int, seed: int) -> tuple[list[tuple[Graph, str]], list[str]]:
    """
    Proven equals of a graph with their source text, the graph itself first, and why others are not there.
    """

def serve_gpu_worker() -> int:
    """
    What the process that measures on a GPU does, until its parent has no more use for it.
    """
