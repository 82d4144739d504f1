"""The published names: programs of the original documents, and what those documents get wrong."""

import mirage as mi
import numpy as np
import pytest


def rms_linear_block(graph, x, w, grid=96, loop=64):
    block = mi.new_threadblock_graph(
        grid_dim=(grid, 1, 1), block_dim=(128, 1, 1), forloop_range=loop, reduction_dimx=64
    )
    tx = block.new_input(dtensor=x, input_map=(-1, -1, -1), forloop_dim=1)
    tw = block.new_input(dtensor=w, input_map=(1, -1, -1), forloop_dim=0)
    product = block.forloop_accum(block.matmul(tx, tw))
    root = block.forloop_accum(tx, "rms")
    block.new_output(stensor=block.div(product, root), output_map=(1, -1, -1))
    return graph.customized([x, w], block)


@pytest.fixture
def graph():
    return mi.new_kernel_graph()


def test_inputs_are_float16_unless_said_otherwise(graph):
    assert graph.new_input(dims=(2, 256, 64)).dtype == mi.float16
    assert graph.new_input(dims=(2, 64), dtype=mi.bfloat16).dtype == mi.bfloat16


def test_customized(graph):
    x, w = graph.new_input((16, 4096)), graph.new_input((4096, 6144))
    (y,) = rms_linear_block(graph, x, w)
    assert y.shape == (16, 6144) and y.dtype == mi.float16
    graph.mark_output(y)


def test_every_accumulator(graph):
    x = graph.new_input((16, 4096))
    block = mi.new_threadblock_graph((1, 1, 1), (128, 1, 1), 16, 64)
    tile = block.new_input(x, (-1, -1, -1), 1)
    assert tile.shape == (16, 256)
    m, d = block.reduction_max(tile, 1)
    assert m.shape == d.shape == (16, 1)
    for acc, shape in [
        (None, (16, 256)),
        ("sum", (16, 1)),
        ("mean", (16, 1)),
        ("rms", (16, 1)),
        ("sum_todimx", (16, 64)),
    ]:
        assert block.forloop_accum(tile, acc).shape == shape
    assert block.forloop_accum_rescale(tile, block.exp(d)).shape == (16, 256)
    assert block.forloop_accum_rescale(tile, block.exp(d), "sum").shape == (16, 1)
    assert block.forloop_accum_max(tile).shape == (16, 256)


BLOCK_MISTAKES = [
    (lambda b, x: b.new_input(x, (0, -1, -1), 1),
     "new_input: axis 0 of extent 16 does not divide over 96 steps of block axis x"),
    (lambda b, x: b.new_input(x, (2, -1, -1), 1), "new_input: block axis x is mapped to axis 2 of a tensor of rank 2"),
    (lambda b, x: b.new_input(x, (-1, -1), 1), "new_input: expected a map of 3 entries, found (-1, -1)"),
    (lambda b, x: b.new_input(x, (-1, -1, -1), 0),
     "new_input: axis 0 of extent 16 does not divide over 64 steps of block axis i"),
    (lambda b, x: b.new_output(b.forloop_accum(b.new_input(x, (-1, -1, -1), 1)), (-1, -1, -1)),
     "store %3: grid axis x (96 blocks) is not bound: blocks would overlap in the output"),
    (lambda b, x: b.new_output(b.new_input(x, (-1, -1, -1), 1), (1, -1, -1)),
     "store %2: stores a value that changes with the loop; accumulate it first"),
    (lambda b, x: b.forloop_accum(b.new_input(x, (-1, -1, -1), 1), "max"),
     "forloop_accum: expected acc None, sum, mean, rms or sum_todimx, found max"),
    (lambda b, x: b.exp(x), "exp: operand 0 belongs to another graph"),
    (lambda b, x: b.forloop_accum(b.forloop_accum(b.new_input(x, (-1, -1, -1), 1))),
     "accum %3: accumulates a value that exists only after the loop"),
]  # fmt: skip


@pytest.mark.parametrize(
    "make, message", BLOCK_MISTAKES, ids=[message[:40] for _, message in BLOCK_MISTAKES]
)
def test_block_mistakes(graph, make, message):
    x = graph.new_input((16, 4096))
    block = mi.new_threadblock_graph((96, 1, 1), (128, 1, 1), 64, 64)
    with pytest.raises(ValueError) as caught:
        make(block, x)
    assert str(caught.value) == message


def test_a_block_needs_a_grid_and_a_result(graph):
    with pytest.raises(ValueError, match="axis y: expected at least one step, found 0"):
        mi.new_threadblock_graph((1, 0, 1), (128, 1, 1), 1, 64)
    block = mi.new_threadblock_graph((1, 1, 1), (128, 1, 1), 1, 64)
    with pytest.raises(ValueError, match="has no operators"):
        graph.customized([], block)
    x = graph.new_input((16, 4096))
    block.new_input(x, (-1, -1, -1), -1)
    with pytest.raises(ValueError, match="block: stores nothing"):
        graph.customized([x], block)


# What the documents get wrong, each with the message that helps.
def test_rms_norm_linear_with_a_weight_of_the_wrong_shape(graph):
    x, w = (
        graph.new_input(dims=(16, 4096), dtype=mi.float16),
        graph.new_input(dims=(406, 4096), dtype=mi.float16),
    )
    with pytest.raises(ValueError) as caught:
        graph.matmul(x, w)
    assert str(caught.value) == "matmul %2: inner extents differ: lhs has k=4096, rhs has k=406"


def test_gated_mlp_with_misplaced_parentheses(graph):
    d1, d2 = graph.new_input((8, 4096)), graph.new_input((8, 4096))
    with pytest.raises(ValueError) as caught:
        graph.mul(graph.silu(d1, d2))
    assert str(caught.value) == "silu %2: expected 1 operand, found 2"
    with pytest.raises(ValueError) as caught:
        graph.mul(graph.silu(d1))
    assert str(caught.value) == "mul %3: expected 2 operands, found 1"


def run_and_check(graph, *shapes):
    rng = np.random.default_rng(11)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    for result, expected in zip(graph(inputs), mi.evaluate(graph, *inputs)):
        assert np.allclose(result, expected, rtol=1e-4, atol=1e-5)
    return inputs, expected


def test_customized_runs(graph):
    x, w = graph.new_input((4, 64), dtype=mi.float32), graph.new_input((64, 48), dtype=mi.float32)
    (y,) = rms_linear_block(graph, x, w, grid=3, loop=4)
    graph.mark_output(y)
    (a, b), result = run_and_check(graph, (4, 64), (64, 48))
    exact = a.astype(np.float64) / np.sqrt((a.astype(np.float64) ** 2).mean(-1, keepdims=True)) @ b
    assert np.allclose(result, exact, rtol=1e-12)


def test_every_accumulator_runs(graph):
    x = graph.new_input((6, 64), dtype=mi.float32)
    block = mi.new_threadblock_graph((2, 1, 1), (128, 1, 1), 4, 8)
    tile = block.new_input(x, (0, -1, -1), 1)
    for acc in (None, "sum", "mean", "rms", "sum_todimx"):
        block.new_output(block.forloop_accum(tile, acc), (0, -1, -1))
    block.new_output(block.forloop_accum_max(tile), (0, -1, -1))
    m, d = block.reduction_max(tile, 1)
    e = block.exp(block.sub(tile, m))
    block.new_output(block.forloop_accum_rescale(e, block.exp(d), "sum"), (0, -1, -1))
    for y in graph.customized([x], block):
        graph.mark_output(y)
    inputs, last = run_and_check(graph, (6, 64))
    a = inputs[0].astype(np.float64)
    assert np.allclose(last, np.exp(a - a.max(-1, keepdims=True)).sum(-1, keepdims=True), rtol=1e-9)
    sums = mi.evaluate(graph, *inputs)[4]
    assert np.allclose(sums, a.reshape(6, 8, 8).sum(1), rtol=1e-9)  # strided groups over all steps


def test_softmax_in_blocks_of_two_grid_axes(graph):
    x = graph.new_input((4, 6, 10), dtype=mi.float32)
    block = mi.new_threadblock_graph((4, 3, 1), (64, 1, 1), 1, 64)
    tile = block.new_input(x, (0, 1, -1), -1)
    e = block.exp(tile)
    block.new_output(block.div(e, block.reduction(e, 2)), (0, 1, -1))
    (y,) = graph.customized([x], block)
    graph.mark_output(y)
    (a,), result = run_and_check(graph, (4, 6, 10))
    e = np.exp(a.astype(np.float64))
    assert np.allclose(result, e / e.sum(-1, keepdims=True), rtol=1e-12)
