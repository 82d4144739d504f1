"""A superoptimizer for tensor programs.

import mirage as mi

g = mi.Graph()
x, w = g.input((16, 4096)), g.input((4096, 6144))
g.output(g.exp(x) @ w)
"""

from ._core import BlockGraph, DType, Report, Tensor, Verdict, dtype, op_table, verify
from ._core import version as __version__
from .arrays import empty
from .errors import Error, InputError, UnsupportedError
from .graph import Graph, evaluate, load, parse
from .optimize import Optimized, optimize
from .program import Compiled
from .published import (
    KNGraph,
    TBGraph,
    bfloat16,
    float8,
    float8_e4m3,
    float8_e5m2,
    float16,
    float32,
    float64,
    generate_cuda_program,
    int8,
    int16,
    int32,
    int64,
    new_kernel_graph,
    new_threadblock_graph,
    superoptimize,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .triton import generate_triton_program, profile_and_select_best_graph

__all__ = [
    "BlockGraph",
    "Compiled",
    "DType",
    "Error",
    "Graph",
    "InputError",
    "KNGraph",
    "Optimized",
    "Report",
    "TBGraph",
    "Tensor",
    "UnsupportedError",
    "Verdict",
    "__version__",
    "bfloat16",
    "dtype",
    "empty",
    "evaluate",
    "float8",
    "float8_e4m3",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "generate_cuda_program",
    "generate_triton_program",
    "int8",
    "int16",
    "int32",
    "int64",
    "load",
    "new_kernel_graph",
    "new_threadblock_graph",
    "op_table",
    "optimize",
    "parse",
    "profile_and_select_best_graph",
    "superoptimize",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "verify",
]
