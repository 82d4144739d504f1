"""PyTorch tensors as results. The only module that imports torch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import torch  # type: ignore[import-not-found,unused-ignore]

from ._core import DType
from .arrays import is_row_major

_DTYPES = {
    DType.f64: torch.float64,
    DType.f32: torch.float32,
    DType.bf16: torch.bfloat16,
    DType.f16: torch.float16,
    DType.f8e4m3: torch.float8_e4m3fn,
    DType.f8e5m2: torch.float8_e5m2,
    DType.i64: torch.int64,
    DType.i32: torch.int32,
    DType.i16: torch.int16,
    DType.i8: torch.int8,
    DType.u8: torch.uint8,
    DType.bool: torch.bool,
}


def maker(
    shape: Sequence[int], strides: Sequence[int], dtype: DType
) -> Callable[[], torch.Tensor]:
    """Makes uninitialised tensors in memory of the CPU."""
    options = {"dtype": _DTYPES[dtype], "device": "cpu"}
    if is_row_major(shape, strides):
        return functools.partial(torch.empty, tuple(shape), **options)
    return functools.partial(torch.empty_strided, tuple(shape), tuple(strides), **options)
