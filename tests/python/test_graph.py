"""Building programs: every method checks its arguments, and nothing of a refused one stays behind."""

import mirage as mi
import numpy as np
import pytest


@pytest.fixture
def graph():
    return mi.Graph()


def test_every_kernel_operator_is_a_method_with_the_description_of_its_row():
    for row in mi.op_table():
        for level, cls in (("kernel", mi.Graph), ("block", mi.BlockGraph)):
            if level in row["levels"] and row["name"] != "block":
                assert getattr(cls, row["name"]).__doc__.endswith(row["description"])


def test_operators_of_the_syntax(graph):
    x, y = graph.input((4, 8), "f32"), graph.input((8, 4), "f32")
    for value, shape in [
        (x + 1, (4, 8)), (1 + x, (4, 8)), (x - x, (4, 8)), (2 - x, (4, 8)), (x * 2.5, (4, 8)), (x / x, (4, 8)),
        (1 / x, (4, 8)), (x**2, (4, 8)), (2**x, (4, 8)), (-x, (4, 8)), (x @ y, (4, 4)), (np.float32(2) * x, (4, 8)),
        (x * np.int64(2), (4, 8)),
    ]:  # fmt: skip
        assert (value.shape, value.dtype) == (shape, mi.float32)


def test_attributes_by_position_or_by_name(graph):
    x = graph.input((4, 8), "f32")
    assert (
        graph.sum(x, 1).shape
        == graph.sum(x, axis=-1).shape
        == graph.sum(x=x, axis=1).shape
        == (4, 1)
    )
    assert graph.narrow(x, 1, 2, length=3).shape == (4, 3)
    assert graph.transpose(x, (1, 0)).shape == graph.transpose(x, perm=[1, 0]).shape == (8, 4)
    assert graph.reshape(x, (2, 16)).shape == (2, 16)
    assert graph.concat([x, x], 0).shape == graph.concat(x, x, axis=0).shape == (8, 8)
    assert graph.clamp(x, 0, 1).shape == graph.clamp(x, lo=0, hi=1).shape == (4, 8)


@pytest.mark.parametrize(
    "spelling, dtype",
    [
        ("f16", mi.float16), ("float16", mi.float16), ("half", mi.float16), (np.float16, mi.float16),
        (np.dtype("float64"), mi.float64), ("torch.bfloat16", mi.bfloat16), (mi.int8, mi.int8),
        (np.uint32, mi.uint32),
    ],
)  # fmt: skip
def test_dtypes_go_by_many_names(graph, spelling, dtype):
    assert mi.dtype(spelling) == dtype
    assert graph.input((2,), spelling).dtype == dtype


def test_hash_is_that_of_the_structure():
    def build(name, op):
        graph = mi.Graph(name)
        x = graph.input((4, 8), name="x" + name)
        getattr(graph, op)(x)
        return graph.hash

    assert build("a", "exp") == build("b", "exp") != build("a", "log")


def test_outputs_are_those_marked_else_those_nobody_reads(graph):
    x = graph.input((4, 8))
    y = graph.exp(x)
    z = y + 1
    assert [v.shape for v in graph.outputs] == [(4, 8)]
    graph.output(y, z, y)
    assert len(graph.outputs) == 3


def test_a_refused_operator_leaves_nothing_behind(graph):
    x = graph.input((4, 8))
    graph.exp(x)
    before = graph.hash
    with pytest.raises(ValueError):
        graph.matmul(x, 2.0)
    assert graph.hash == before


REFUSED = [
    (lambda g, x: g.matmul(x, x), "matmul %1: inner extents differ: lhs has k=8, rhs has k=4"),
    (lambda g, x: x @ 2, "matmul %2: expected operands of equal rank of at least 2, found [4,8] and []"),
    (lambda g, x: g.exp(), "exp %1: expected 1 operand, found 0"),
    (lambda g, x: g.silu(x, x), "silu %1: expected 1 operand, found 2"),
    (lambda g, x: g.mul(x), "mul %1: expected 2 operands, found 1"),
    (lambda g, x: g.add(x, g.input((3, 8))),
     "add %2: operands cannot be broadcast together: axis 0 has 4 and 3 elements ([4,8] and [3,8])"),
    (lambda g, x: g.add(x, g.input((4, 8), "f16")), "add %2: operand types differ: f32 and f16"),
    (lambda g, x: g.add(x, "y"), "add: operand 1 should be a tensor of this graph or a number, found str"),
    (lambda g, x: g.add(x, None), "add: operand 1 should be a tensor of this graph or a number, found NoneType"),
    (lambda g, x: g.add(x, float("nan")), "const %1: a scalar attribute is NaN"),
    (lambda g, x: g.add(x, mi.Graph().input((4, 8))), "add: operand 1 belongs to another graph"),
    (lambda g, x: g.sum(x, 2), "sum %1: axis 2 is out of range for rank 2"),
    (lambda g, x: g.sum(x), "sum: axis is missing"),
    (lambda g, x: g.sum(x, "last"), "sum: axis: expected an integer, found 'last'"),
    (lambda g, x: g.sum(x, 0, 1), "sum: expected 2 arguments, found 3"),
    (lambda g, x: g.sum(x, 0, axis=1), "sum: axis is given twice"),
    (lambda g, x: g.sum(x, keepdims=True, axis=1), "sum: unexpected argument keepdims"),
    (lambda g, x: g.clamp(x, 1, 0), "clamp %1: expected bounds lo <= hi, found [1, 0]"),
    (lambda g, x: g.clamp(x, float("nan"), 0), "clamp %1: a scalar attribute is NaN"),
    (lambda g, x: g.transpose(x, (0, 0)), "transpose %1: expected a permutation of 2 axes, found [0, 0]"),
    (lambda g, x: g.reshape(x, (5, 7)), "reshape %1: cannot reshape [4,8] (32 elements) to [5,7] (35 elements)"),
    (lambda g, x: g.narrow(x, 1, 6, 3), "narrow %1: range [6, 6 + 3) is outside axis 1 of extent 8"),
    (lambda g, x: g.input((2, 2), "f17"), "unknown dtype f17: expected a name such as f16, bf16, f32, f64 or i32"),
    (lambda g, x: g.input((2, -2)), "input %1: negative extent in shape [2,-2]"),
    (lambda g, x: g.input((2**40, 2**40)), "input %1: shape [1099511627776,1099511627776] is too large"),
    (lambda g, x: g.input((1,) * 9), "input %1: rank 9 is larger than 8"),
    (lambda g, x: g.input((2, 2), strides=(1,)), "input: expected 2 strides, found 1"),
    (lambda g, x: g.input((2**70,)), "input: expected a sequence of integers of 64 bits, found (1180591620717411303424,)"),
    (lambda g, x: g.input((2.5, 1)), "input: expected a sequence of integers of 64 bits, found (2.5, 1)"),
    (lambda g, x: g.input("12"), "input: expected a sequence of integers of 64 bits, found '12'"),
    (lambda g, x: g.mark_output(None), "mark_output: expected a tensor of this graph"),
    (lambda g, x: g.output(3), "mark_output: expected a tensor of this graph"),
    (lambda g, x: g.mark_output(x, (1,)), "mark_output: expected 2 strides, found 1"),
    (lambda g, x: g.mark_output(mi.Graph().input((2,))), "mark_output: the tensor belongs to another graph"),
    (lambda g, x: g.hash, "graph: has no operators"),
]  # fmt: skip


@pytest.mark.parametrize("make, message", REFUSED, ids=[message[:40] for _, message in REFUSED])
def test_bad_input_is_a_value_error(graph, make, message):
    x = graph.input((4, 8))
    with pytest.raises(ValueError) as caught:
        make(graph, x)
    assert str(caught.value) == message
    assert isinstance(caught.value, mi.Error) and caught.value.code == "bad input"


def test_output_strides_must_not_overlap(graph):
    graph.mark_output(graph.exp(graph.input((4, 8))), strides=(1, 1))
    with pytest.raises(ValueError, match="strides .* overlap"):
        graph.hash  # noqa: B018


def test_become_is_a_copy():
    first, second = mi.Graph(), mi.Graph()
    first.exp(first.input((4, 8)))
    second.become(first)
    assert second.hash == first.hash
    second.log(second.outputs[0])
    assert second.hash != first.hash and len(first.outputs) == 1
