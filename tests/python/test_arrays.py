"""What may stand for an input or an output, held against the interpreter."""

import mirage as mi
import numpy as np
import pytest


def product(strides=None):
    graph = mi.Graph()
    x = graph.input((4, 8), "f32", name="x")
    w = graph.input((8, 4), "f32", strides=strides, name="w")
    graph.output(x @ w)
    return graph


X = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)
W = np.random.default_rng(2).standard_normal((8, 4)).astype(np.float32)


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "x",
    [X, frozen(X), memoryview(X), X.copy(order="K")],
    ids=["array", "read-only", "buffer", "copy"],
)
def test_arrays_of_many_kinds(x):
    assert np.allclose(mi.evaluate(product(), x, W)[0], X.astype(np.float64) @ W, rtol=1e-6)


def test_strides_are_part_of_the_program():
    column_major = np.asfortranarray(W)
    assert np.allclose(mi.evaluate(product((1, 8)), X, column_major)[0], X @ W, rtol=1e-4)
    for graph, w, message in [
        (product((1, 8)), W, "input 1 (%w): expected strides (1, 8), found (4, 1) (in elements)"),
        (
            product(),
            column_major,
            "input 1 (%w): expected strides (4, 1), found (1, 8) (in elements)",
        ),
    ]:
        with pytest.raises(ValueError) as caught:
            mi.evaluate(graph, X, w)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    "shape, strides, make",
    [
        ((3,), (-1,), lambda: np.arange(3, dtype=np.float32)[::-1]),
        ((3, 4), (0, 1), lambda: np.broadcast_to(np.arange(4, dtype=np.float32), (3, 4))),
        ((2, 3), (8, 2), lambda: np.arange(16, dtype=np.float32).reshape(2, 8)[:, :6:2]),
        ((), (), lambda: np.array(3, np.float32)),
        ((0, 3), None, lambda: np.zeros((0, 3), np.float32)),
        ((1, 4), (99, 1), lambda: np.arange(4, dtype=np.float32).reshape(1, 4)),
    ],
    ids=["reversed", "broadcast", "sliced", "scalar", "empty", "one row"],
)
def test_layouts(shape, strides, make):
    graph = mi.Graph()
    graph.output(graph.input(shape, "f32", strides=strides) * 2)
    array = make()
    (result,) = mi.evaluate(graph, array)
    assert result.shape == shape and np.array_equal(result, array * 2)


@pytest.mark.parametrize(
    "dtype", ["f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
)
def test_dtypes(dtype):
    graph = mi.Graph()
    graph.output(graph.input((3,), dtype) + 1)
    kind = {"f": "float", "i": "int", "u": "uint"}[dtype[0]] + dtype[1:]
    assert np.array_equal(mi.evaluate(graph, np.array([0, 1, 100], kind))[0], [1, 2, 101])


def test_bfloat16_as_bit_pattern_and_as_ml_dtypes():
    graph = mi.Graph()
    graph.output(graph.input((3,), "bf16") * 2)
    assert np.array_equal(
        mi.evaluate(graph, np.array([0x3F80, 0x4000, 0], np.uint16))[0], [2, 4, 0]
    )
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert np.array_equal(mi.evaluate(graph, np.array([1, 2, 0], ml_dtypes.bfloat16))[0], [2, 4, 0])


MISTAKES = [
    (lambda: (X,), "expected 2 inputs, found 1"),
    (lambda: (X, W, W), "expected 2 inputs, found 3"),
    (lambda: (X[:3], W), "input 0 (%x): expected shape (4, 8), found (3, 8)"),
    (lambda: (X.ravel(), W), "input 0 (%x): expected shape (4, 8), found (32,)"),
    (lambda: (X.astype(np.float64), W), "input 0 (%x): expected dtype f32, found f64"),
    (lambda: (X.astype(np.complex64), W), "input 0 (%x): expected dtype f32, found DLPack code 5 of 64 bits"),
    (lambda: (X, [1, 2]), "input 1 (%w): expected an array (DLPack or the buffer protocol), found list"),
    (lambda: (X, None), "input 1 (%w): expected an array (DLPack or the buffer protocol), found NoneType"),
    (lambda: (X.astype(">f4"), W), "input 0 (%x): expected an array (DLPack or the buffer protocol), found ndarray"),
    (lambda: (np.zeros(129, np.uint8)[1:].view(np.float32).reshape(4, 8), W), "input 0 (%x): elements are not aligned"),
]  # fmt: skip


@pytest.mark.parametrize("make, message", MISTAKES, ids=[message[:50] for _, message in MISTAKES])
def test_mistakes(make, message):
    with pytest.raises(ValueError) as caught:
        mi.evaluate(product(), *make())
    assert str(caught.value) == message


def test_pytorch_tensors():
    torch = pytest.importorskip("torch")
    x, w = torch.from_numpy(X), torch.from_numpy(W)
    assert np.allclose(mi.evaluate(product(), x, w)[0], X @ W, rtol=1e-4)
    with pytest.raises(ValueError, match=r"expected strides \(4, 1\), found \(1, 8\)"):
        mi.evaluate(product(), x, torch.from_numpy(np.asfortranarray(W)))
    with pytest.raises(ValueError, match="expected dtype f32, found f64"):
        mi.evaluate(product(), x.double(), w)
    # What has no memory of the CPU is refused whichever of PyTorch's protocols is asked.
    with pytest.raises(ValueError, match=r"input 0 \(%x\): expected"):
        mi.evaluate(product(), torch.empty(X.shape, device="meta"), w)
    padded = torch.zeros(7, 8)
    padded[3:] = x
    for same in [padded[3:], x.clone().requires_grad_()]:
        assert np.allclose(mi.evaluate(product(), same, w)[0], X @ W, rtol=1e-4)
    # DLPack cannot say that a negation is pending.
    with pytest.raises(ValueError, match=r"input 0 \(%x\): the tensor's negation is pending"):
        mi.evaluate(product(), torch._neg_view(x), w)

    class Named(torch.Tensor):
        pass

    doubled = mi.Graph()
    doubled.output(doubled.input(X.shape, "f32") * 2)
    assert torch.equal(doubled(x.as_subclass(Named)), x * 2)
    graph = mi.Graph()
    graph.output(graph.input((3,), "bf16") * 2)
    assert np.array_equal(
        mi.evaluate(graph, torch.tensor([1.0, 2, 0], dtype=torch.bfloat16))[0], [2, 4, 0]
    )


def test_empty_stands_for_an_input():
    graph = mi.Graph()
    for shape, strides in [
        ((3, 4), (1, 3)),
        ((3, 4), (4, 1)),
        ((3, 4), (-4, -1)),
        ((3, 4), (0, 1)),
        ((0, 4), (4, 1)),
        ((), ()),
    ]:
        x = graph.input(shape, "f16", strides=strides)
        array = mi.empty(x)
        assert (
            array.shape == shape == x.shape and x.strides == strides and array.dtype == np.float16
        )
        assert 0 in shape or array.strides == tuple(2 * stride for stride in strides)
    assert mi.empty(graph.input((2,), "bf16")).itemsize == 2
