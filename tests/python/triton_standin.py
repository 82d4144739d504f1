"""A stand-in for Triton and PyTorch over NumPy: generated modules run without a GPU, one program of
the grid after the other, and what real Triton would refuse or read wrongly is an error.

    module = load(text)                       # of generate_triton_program or mirage emit
    outputs = module.run(tensor(array), ...)  # array(outputs[0]) is a NumPy array again

What is checked beside the arithmetic: extents are powers of two; tiles meet at equal rank; lanes that
no mask excludes lie in memory that somebody has written; masked lanes without `other` hold NaN; no
two lanes or programs write one element; 32-bit integers do not overflow; tl.dot gets 16 lanes a side.
"""

from __future__ import annotations

import contextlib
import math
import sys
import types

import ml_dtypes
import numpy as np

_erf = np.vectorize(math.erf, otypes=[np.float64])


# ---- memory ----


class Storage:
    """Bytes of an allocation, and which of them hold something."""

    def __init__(self, count):
        self.bytes = np.full(count, 0xFF, np.uint8)  # NaN in every float type
        self.is_written = np.zeros(count, bool)


class Tensor:
    """What generated launchers use of torch.Tensor."""

    def __init__(self, storage, dtype, shape, strides, offset=0):
        self.storage, self.dtype, self.offset = storage, np.dtype(dtype), offset
        self.shape, self.strides, self.device = tuple(shape), tuple(strides), "standin"

    def stride(self):
        return self.strides

    def __getitem__(self, part):
        assert len(self.shape) == 1 and part.step is None
        start, stop, _ = part.indices(self.shape[0])
        return Tensor(self.storage, self.dtype, (stop - start,), (1,), self.offset + start)

    def view(self, dtype):
        """The same bytes under another type."""
        count = self.shape[0] * self.dtype.itemsize // np.dtype(dtype).itemsize
        start = self.offset * self.dtype.itemsize
        assert start % np.dtype(dtype).itemsize == 0
        return Tensor(self.storage, dtype, (count,), (1,), start // np.dtype(dtype).itemsize)

    def elements(self):
        """Numbers of the elements in the storage, in the tensor's shape."""
        index = np.full(self.shape, self.offset, np.int64)
        for axis, (count, stride) in enumerate(zip(self.shape, self.strides)):
            lanes = [1] * len(self.shape)
            lanes[axis] = count
            index += np.arange(count, dtype=np.int64).reshape(lanes) * stride
        return index


def _empty_strided(shape, strides, dtype, device=None):
    reach = sum((n - 1) * s for n, s in zip(shape, strides)) + 1 if 0 not in shape else 0
    return Tensor(Storage(reach * np.dtype(dtype).itemsize), dtype, shape, strides)


def tensor(values, strides=None):
    """A tensor of these values; strides count elements, and what lies between holds nothing."""
    values = np.asarray(values)
    if strides is None:
        strides = np.cumprod([1, *values.shape[:0:-1]])[::-1].tolist() if values.ndim else []
    made = _empty_strided(values.shape, strides, values.dtype)
    if values.size:
        index = made.elements()
        made.storage.bytes.view(values.dtype)[index] = values
        flags = made.storage.is_written.reshape(-1, values.dtype.itemsize)
        flags[index.ravel()] = True
    return made


def array(made):
    """The tensor's elements, which must all have been written."""
    if 0 in made.shape:
        return np.zeros(made.shape, made.dtype)
    index = made.elements()
    flags = made.storage.is_written.reshape(-1, made.dtype.itemsize)
    missing = np.count_nonzero(~flags[index.ravel()])
    assert missing == 0, f"{missing} elements were never written"
    assert np.count_nonzero(flags.all(1)) == len(np.unique(index)), "wrote between the elements"
    return made.storage.bytes.view(made.dtype)[index].copy()


# ---- tiles ----


def _checked(values):
    """A tile's array."""
    values = np.asarray(values)
    for extent in values.shape:
        assert extent & (extent - 1) == 0, f"extent {extent} is no power of two"
    assert values.size <= 1 << 20, "a tile of more than 2^20 elements"
    return values


class Tile:
    def __init__(self, values):
        self.values = _checked(values)

    @property
    def dtype(self):
        return self.values.dtype

    def to(self, dtype):
        with np.errstate(over="ignore"):
            return Tile(self.values.astype(dtype))

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        assert all(i is None or i == slice(None) for i in index)
        assert sum(i is not None for i in index) == self.values.ndim, "indices of another rank"
        return Tile(self.values[index])

    def __neg__(self):
        return Tile(-self.values)


class Pointers:
    """Addresses of elements of one storage."""

    def __init__(self, storage, dtype, index):
        self.storage, self.dtype, self.index = storage, dtype, index

    def __add__(self, other):
        offsets = np.asarray(other.values if isinstance(other, Tile) else other)
        _same_rank(self.index, offsets)
        return Pointers(self.storage, self.dtype, self.index + offsets)

    def __sub__(self, other):
        return self + -other


def _same_rank(a, b):
    assert a.ndim == b.ndim or a.ndim == 0 or b.ndim == 0, f"tiles of rank {a.ndim} and {b.ndim}"


def _pair(a, b):
    """Operands as arrays of one type; numbers take that of the tile."""
    x = a.values if isinstance(a, Tile) else a
    y = b.values if isinstance(b, Tile) else b
    if not isinstance(a, Tile) and not isinstance(b, Tile):
        return np.asarray(x, np.float32), np.asarray(y, np.float32)
    if not isinstance(a, Tile):
        x = np.asarray(x, y.dtype)
    if not isinstance(b, Tile):
        y = np.asarray(y, x.dtype)
    _same_rank(x, y)
    kinds = {x.dtype.kind, y.dtype.kind}
    assert x.dtype == y.dtype or kinds == {"i"}, f"operands of types {x.dtype} and {y.dtype}"
    return x, y


def _operator(function, is_comparison=False):
    def apply(a, b):
        if isinstance(b, Pointers):
            return NotImplemented
        x, y = _pair(a, b)
        with np.errstate(all="ignore"):
            if x.dtype.kind == "i" and not is_comparison:
                wide = function(x.astype(np.int64), y.astype(np.int64))
                is_wide = 8 in (x.dtype.itemsize, y.dtype.itemsize)
                assert is_wide or np.all(np.abs(wide) < 2**31), "a 32-bit integer overflows"
                return Tile(wide if is_wide else wide.astype(np.int32))
            values = function(x, y)
        return Tile(values if is_comparison else np.asarray(values).astype(x.dtype))

    return apply


def _div(x, y):
    assert x.dtype.kind != "i", "an integer quotient"
    return x / y


for _name, _function in {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": _div,
    "floordiv": np.floor_divide,
    "mod": np.mod,
}.items():
    _apply = _operator(_function)
    setattr(Tile, f"__{_name}__", _apply)
    setattr(Tile, f"__r{_name}__", lambda b, a, apply=_apply: apply(a, b))
for _name, _function in {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
}.items():
    setattr(Tile, f"__{_name}__", _operator(_function, True))


def _logical(function):
    def apply(a, b):
        x = a.values if isinstance(a, Tile) else np.asarray(a)
        y = b.values if isinstance(b, Tile) else np.asarray(b)
        assert x.dtype == bool and y.dtype == bool
        _same_rank(x, y)
        return Tile(function(x, y))

    return apply


for _name, _function in {"and": np.logical_and, "or": np.logical_or}.items():
    _apply = _logical(_function)
    setattr(Tile, f"__{_name}__", _apply)
    setattr(Tile, f"__r{_name}__", lambda b, a, apply=_apply: apply(a, b))


# ---- the language ----

_program = [0]


def _values(x):
    return x.values if isinstance(x, Tile) else np.asarray(x, np.float32)


def _mathematical(function):
    def apply(x):
        assert isinstance(x, Tile) and x.dtype in (np.float32, np.float64), "exp and its like: f32"
        with np.errstate(all="ignore"):
            return Tile(np.asarray(function(x.values.astype(np.float64))).astype(x.dtype))

    return apply


def _load(pointers, mask=None, other=None):
    index = pointers.index
    wanted = np.ones(index.shape, bool)
    if mask is not None:
        _same_rank(index, mask.values)
        shape = np.broadcast_shapes(index.shape, mask.values.shape)
        assert shape == index.shape, "a mask larger than the pointers"
        wanted = np.broadcast_to(mask.values, shape)
    size = pointers.dtype.itemsize
    count = len(pointers.storage.bytes) // size
    used = index[wanted]
    assert np.all((used >= 0) & (used < count)), "reads outside of the tensor"
    flags = pointers.storage.is_written.reshape(-1, size)
    assert flags[used].all(), "reads what nobody wrote"
    values = np.full(index.shape, math.nan if other is None else other).astype(pointers.dtype)
    values[wanted] = pointers.storage.bytes.view(pointers.dtype)[used]
    return Tile(values)


def _store(pointers, value, mask=None):
    index = pointers.index
    values = np.asarray(_values(value))
    assert values.dtype == pointers.dtype, f"stores {values.dtype} where {pointers.dtype} lies"
    assert values.shape == index.shape or values.ndim == 0, "stores a tile of another shape"
    wanted = np.ones(index.shape, bool)
    if mask is not None:
        _same_rank(index, mask.values)
        wanted = np.broadcast_to(mask.values, index.shape)
    size = pointers.dtype.itemsize
    count = len(pointers.storage.bytes) // size
    used = index[wanted]
    assert np.all((used >= 0) & (used < count)), "writes outside of the tensor"
    assert len(np.unique(used)) == used.size, "two lanes write one element"
    assert not _written_here(pointers.storage, used * size), "two programs write one element"
    pointers.storage.bytes.view(pointers.dtype)[used] = np.broadcast_to(values, index.shape)[wanted]
    pointers.storage.is_written.reshape(-1, size)[used] = True


_this_launch: dict[int, tuple[Storage, set]] = {}


def _written_here(storage, used):
    """Whether this launch has written one of the elements; they are noted."""
    known = _this_launch.setdefault(id(storage), (storage, set()))[1]
    mine = set(used.ravel().tolist())
    repeated = not known.isdisjoint(mine)
    known |= mine
    return repeated


def _dot(a, b, acc=None, input_precision="tf32", out_dtype=np.float32):
    x, y = a.values, b.values
    assert x.ndim == y.ndim and x.ndim in (2, 3) and x.dtype == y.dtype
    assert min(*x.shape[-2:], y.shape[-1]) >= 16 and x.shape[-1] == y.shape[-2]
    result = np.float64 if x.dtype == np.float64 else np.float32
    assert np.dtype(out_dtype) == result
    if x.dtype == np.float32 and input_precision == "tf32":
        x, y = ((v.view(np.int32) & ~0x1FFF).view(np.float32) for v in (x, y))
    with np.errstate(all="ignore"):
        values = np.matmul(x.astype(result), y.astype(result))
        if acc is not None:
            assert acc.dtype == result and acc.values.shape == values.shape
            values = acc.values + values
    return Tile(values)


def _where(condition, a, b):
    assert condition.values.dtype == bool
    x, y = _pair(a, b)
    for one in (x, y):
        _same_rank(condition.values, one)
    return Tile(np.where(condition.values, x, y))


def _extreme(propagating, ignoring):
    def apply(a, b, propagate_nan=None):
        x, y = _pair(a, b)
        with np.errstate(all="ignore"):
            return Tile((propagating if propagate_nan == "all" else ignoring)(x, y))

    return apply


def _reduce(x, axis, combine):
    """Halves against halves: the order is no one's business."""
    values = np.moveaxis(x.values, axis, 0)
    while len(values) > 1:
        half = len(values) // 2
        values = combine(Tile(values[:half]), Tile(values[half:])).values
    return Tile(values[0])


def _sum(x, axis):
    with np.errstate(all="ignore"):
        return Tile(np.asarray(x.values.sum(axis=axis, dtype=x.dtype)))


def _gather(x, index, axis):
    assert np.all((index.values >= 0) & (index.values < x.values.shape[axis]))
    return Tile(np.take_along_axis(x.values, index.values, axis))


def _full(shape, value, dtype):
    return Tile(np.full(tuple(shape), value, dtype))


def _broadcast_to(x, shape):
    _same_rank(_values(x), np.empty(shape))
    return Tile(np.broadcast_to(_values(x), tuple(shape)))


def _cast(x, dtype):
    return x.to(dtype) if isinstance(x, Tile) else Tile(np.asarray(x, dtype))


def _range(start, end):
    return (Tile(np.asarray(i, np.int32)) for i in range(start, end))


def _arange(start, end):
    return Tile(np.arange(start, end, dtype=np.int32))


def _pow(a, b):
    x, y = _pair(a, b)
    with np.errstate(all="ignore"):
        return Tile(np.power(x.astype(np.float64), y.astype(np.float64)).astype(x.dtype))


class _Kernel:
    """A function of the language: launched over a grid, or called by another one."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments):
        return self.function(*arguments)

    def __getitem__(self, grid):
        def launch(*tensors, num_warps=4, num_stages=3):
            _this_launch.clear()
            for number in range(math.prod(grid)):
                _program[0] = number
                self.function(
                    *(Pointers(t.storage, t.dtype, np.asarray(t.offset, np.int64)) for t in tensors)
                )

        return launch


def _module(name, **members):
    made = types.ModuleType(name)
    vars(made).update(members)
    return made


_TYPES = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "int64": np.int64,
    "uint8": np.uint8,
}


def _modules():
    libdevice = _module("libdevice", tanh=_mathematical(np.tanh), pow=_pow)
    extra = _module("triton.language.extra", libdevice=libdevice)
    language = _module(
        "triton.language",
        **_TYPES,
        PropagateNan=types.SimpleNamespace(ALL="all", NONE=None),
        abs=lambda x: Tile(np.abs(x.values)),
        arange=_arange,
        broadcast_to=_broadcast_to,
        cast=_cast,
        dot=_dot,
        erf=_mathematical(_erf),
        exp=_mathematical(np.exp),
        extra=extra,
        full=_full,
        gather=_gather,
        load=_load,
        log=_mathematical(np.log),
        maximum=_extreme(np.maximum, np.fmax),
        minimum=_extreme(np.minimum, np.fmin),
        permute=lambda x, order: Tile(np.transpose(x.values, order)),
        program_id=lambda axis: Tile(np.asarray(_program[axis], np.int32)),
        reduce=_reduce,
        reshape=lambda x, shape: Tile(x.values.reshape(shape)),
        rsqrt=_mathematical(lambda x: 1 / np.sqrt(x)),
        sqrt=_mathematical(np.sqrt),
        store=_store,
        sum=_sum,
        where=_where,
    )
    triton = _module("triton", jit=_Kernel, language=language)
    torch = _module(
        "torch",
        **{name: np.dtype(dtype) for name, dtype in _TYPES.items()},
        empty_strided=_empty_strided,
        empty=lambda count, dtype, device: _empty_strided((count,), (1,), dtype),
    )
    named = (torch, triton, language, extra, libdevice)
    return {made.__name__: made for made in named} | {"triton.language.extra.libdevice": libdevice}


@contextlib.contextmanager
def installed():
    """Imports of torch and triton find the stand-in."""
    made = _modules()
    known = {name: sys.modules.get(name) for name in made}
    sys.modules.update(made)
    try:
        yield
    finally:
        for name, module in known.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def load(text):
    """The generated module."""
    with installed():
        module = _module("generated")
        module.range = _range  # the language has numbers there, not Python's
        exec(compile(text, "generated", "exec"), vars(module))
    return module
