"""Arrays for results, of the kind that the inputs are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._core import DType, Tensor

# What NumPy itself lacks comes from ml_dtypes where that is installed, else as bit patterns.
_EXTENSIONS = {DType.bf16: "bfloat16", DType.f8e4m3: "float8_e4m3fn", DType.f8e5m2: "float8_e5m2"}
_KINDS = {"f": "float", "i": "int", "u": "uint"}


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy type of these elements; the unsigned integer of that size for types NumPy lacks."""
    if dtype == DType.bool:
        return np.dtype(np.bool_)
    if dtype in _EXTENSIONS:
        return np.dtype(f"uint{8 * dtype.itemsize}")
    return np.dtype(_KINDS[dtype.name[0]] + dtype.name[1:])


def _as_extension(array: np.ndarray[Any, Any], dtype: DType) -> Any:
    if dtype not in _EXTENSIONS:
        return array
    try:
        import ml_dtypes  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return array
    return array.view(getattr(ml_dtypes, _EXTENSIONS[dtype]))


def is_row_major(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements lie densely in order. Strides of axes of one element do not count."""
    step = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True


def _strided(
    shape: Sequence[int], strides: Sequence[int], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if 0 in shape or is_row_major(shape, strides):
        return np.empty(shape, dtype)
    reach = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    low = sum(min(r, 0) for r in reach)
    memory = np.empty(sum(max(r, 0) for r in reach) - low + 1, dtype)
    bytes_strides = [stride * dtype.itemsize for stride in strides]
    array: np.ndarray[Any, Any] = np.ndarray(
        shape, dtype, memory, -low * dtype.itemsize, bytes_strides
    )
    return array


def maker(
    shape: Sequence[int], strides: Sequence[int], dtype: DType, like: object = None
) -> Callable[[], Any]:
    """Makes uninitialised arrays with these strides (in elements): PyTorch tensors if `like` is one."""
    if any(base.__module__.split(".")[0] == "torch" for base in type(like).__mro__):
        from . import torch as bridge

        return bridge.maker(shape, strides, dtype)
    plain = numpy_dtype(dtype)
    return lambda: _as_extension(_strided(shape, strides, plain), dtype)


def empty(tensor: Tensor) -> Any:
    """An uninitialised NumPy array that can stand for an input: its shape, dtype and strides."""
    return maker(tensor.shape, tensor.strides, tensor.dtype)()
