"""Every elementwise operator on special values: the compiled program against the interpreter."""

import functools

import mirage as mi
import numpy as np
import pytest

ATTRIBUTES = {"clamp": {"lo": -1.5, "hi": 2.0}}
# Largest error in units in the last place; device/cpu/math.h has the table.
ULP = 6
CANCELLING = {"gelu", "tanh"}


def elementwise():
    """The names and arities of the operators that take tensors of any one shape."""
    for row in mi.op_table():
        if "kernel" not in row["levels"] or row["arity"] not in (1, 2) or set(row["attributes"]) - {"lo", "hi"}:
            continue
        graph = mi.Graph()
        operands = [graph.input((2, 3), "f32") for _ in range(row["arity"])]
        try:
            result = getattr(graph, row["name"])(*operands, **ATTRIBUTES.get(row["name"], {}))
        except ValueError:
            continue  # matmul
        if result.shape == (2, 3):
            yield row["name"], row["arity"]


OPERATORS = list(elementwise())


def specials(dtype):
    info = np.finfo(dtype)
    sizes = [0, info.smallest_subnormal, info.tiny / 2, info.tiny, info.eps, 0.5, 1, 1.5, 2, 3, 10, 20, 88, 89.5, 104, 709,
             710.5, 746, 1e4, info.max / 2, info.max, np.inf]  # fmt: skip
    with np.errstate(over="ignore"):
        sizes = np.array(sizes, dtype)
    return np.concatenate([sizes, -sizes, np.array([np.nan], dtype)])


@functools.cache
def results(arity, dtype):
    """Operands, and for each operator what the compiled program and the interpreter make of them."""
    x = specials(dtype)
    arrays = [x] if arity == 1 else [a.ravel().copy() for a in np.meshgrid(x, x, indexing="ij")]
    graph = mi.Graph()
    operands = [graph.input(array.shape, np.dtype(dtype).name) for array in arrays]
    names = [name for name, count in OPERATORS if count == arity]
    graph.output(*(getattr(graph, name)(*operands, **ATTRIBUTES.get(name, {})) for name in names))
    return arrays, dict(zip(names, zip(graph(*arrays), mi.evaluate(graph, *arrays))))


def test_the_operators_are_found():
    names = {name for name, _ in OPERATORS}
    assert {"exp", "silu", "gelu", "clamp", "neg", "add", "pow", "maximum"} <= names
    assert "matmul" not in names and len(OPERATORS) >= 18


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("name, arity", OPERATORS)
def test_special_values(name, arity, dtype):
    arrays, by_name = results(arity, dtype)
    found, exact = by_name[name]
    with np.errstate(all="ignore"):
        want = exact.astype(dtype)
        unit = np.spacing(np.abs(np.where(np.isfinite(want), want, 1)).astype(dtype)).astype(np.float64)
        # The float64 formulas of gelu and tanh cancel near their limits; compiled programs do not.
        slack = 8 * np.finfo(np.float64).eps * np.maximum(1, np.abs(arrays[0])) if name in CANCELLING else 0
        near = np.abs(found.astype(np.float64) - exact) <= ULP * unit + slack
        # Just beyond the largest number either answer is the rounding of a value within the bound.
        edge = np.isinf(want) & (np.abs(exact) <= np.finfo(dtype).max * (1 + ULP * float(np.finfo(dtype).eps)))
        good = np.where(np.isnan(want), np.isnan(found), np.where(np.isinf(want), (found == want) | edge, near))
    bad = [(*(float(a[i]) for a in arrays), float(found[i]), float(exact[i])) for i in np.flatnonzero(~good)]
    assert bad == []


@pytest.mark.parametrize("name", ["silu", "gelu"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_minus_infinity_times_zero_is_nan(name, dtype):
    """As PyTorch has it; the limit would be -0."""
    (x,), by_name = results(1, dtype)
    assert all(np.isnan(values[x == -np.inf]).all() for values in by_name[name])


def test_programs_of_such_operators_pass_their_own_check():
    """The check of candidates has inputs with infinities and NaN of its own."""
    graph = mi.Graph()
    x = graph.input((4, 64), "f32")
    graph.output(*(getattr(graph, name)(x) for name in ("silu", "gelu", "tanh", "exp", "log")))
    result = mi.optimize(graph, time_limit=20, top=1, threads=1, use_records=False)
    assert result.report.is_checked
