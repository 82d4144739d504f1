"""Generated Triton programs, run by the stand-in (triton_standin.py) and held against float64.

The same programs run on a GPU with bench/triton_check.py.
"""

import pathlib

import mirage as mi
import numpy as np
import pytest
from mirage import _core

import triton_programs as programs
import triton_standin as standin

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
# Half the distance from 1 to the next number.
ROUNDING = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8, "float64": 2.0**-53}


def outputs_of(text, arrays):
    """Outputs of a generated module for arrays that it gets in the strides of its inputs."""
    module = standin.load(text)
    tensors = [
        standin.tensor(array, strides)
        for array, (_, strides, _) in zip(arrays, module.INPUTS, strict=True)
    ]
    return [standin.array(output) for output in module.run(*tensors)]


def check(graph, text, seed=1, scale=1.0):
    """Holds a module against the interpreter of the graph that it should compute."""
    specs = standin.load(text).INPUTS
    arrays = programs.inputs_of(specs, seed, scale)
    wanted = mi.evaluate(
        graph, *[programs.strided(a, strides) for a, (_, strides, _) in zip(arrays, specs)]
    )
    wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    for found, reference in zip(outputs_of(text, arrays), wanted, strict=True):
        tolerance = 32 * ROUNDING[found.dtype.name]
        programs.assert_close(found, reference, tolerance, f"seed {seed}")


@pytest.mark.parametrize("name", programs.small_examples(EXAMPLES))
def test_examples_as_written_and_searched(name):
    """Every example at small sizes that divide nothing, and what the search makes of it."""
    graph = programs.small_example(EXAMPLES, name)
    built, lost = _core.candidates(graph, "triton", 10, 4, 0, 1)
    assert not [reason for reason in lost if reason.startswith("lower")], lost
    for candidate, text in built:
        check(graph, text)
    texts = [text for _, text in built]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", sorted(programs.BLOCKS))
def test_block_graphs(name):
    (graph,) = mi.parse(programs.BLOCKS[name])
    for seed in (1, 2):
        check(graph, _core.emit(graph, "triton"), seed)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("op", programs.elementwise())
def test_elementwise(op, dtype):
    """silu is no sigmoid, mul no quotient, and so on for every row of the table."""
    graph = programs.elementwise_graph(op, dtype)
    check(graph, _core.emit(graph, "triton"), scale=0.5)


def test_silu_and_products_are_what_they_say():
    graph = programs.parse_one(
        "kernel(%x: f32[3,5], %y: f32[3,5]) -> f32[3,5] { %z = mul (silu %x), %y return %z }"
    )
    x, y = np.full((3, 5), 2, np.float32), np.full((3, 5), 4, np.float32)
    (found,) = outputs_of(_core.emit(graph, "triton"), [x, y])
    sigmoid = 1 / (1 + np.exp(-2.0))
    np.testing.assert_allclose(found, 2 * sigmoid * 4, rtol=1e-6)
    assert abs(found[0, 0] - sigmoid * 4) > 1 and abs(found[0, 0] - 2 * sigmoid / 4) > 1


def test_maxima_of_rows_with_a_nan_are_nan():
    graph = programs.parse_one("kernel(%x: f32[3,5]) -> f32[3,1] { %m = max %x axis=1 return %m }")
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    x[1, 2] = np.nan
    (found,) = outputs_of(_core.emit(graph, "triton"), [x])
    np.testing.assert_array_equal(found, [[4], [np.nan], [14]])


def test_softmax_of_large_numbers_without_a_maximum_in_the_program():
    (graph,) = mi.parse(programs.BLOCKS["attention_ragged_queries"])
    check(graph, _core.emit(graph, "triton"), scale=12)


@pytest.mark.parametrize("text, message", programs.REFUSED)
def test_refused_with_a_reason(text, message):
    graph = programs.parse_one(text)
    with pytest.raises(mi.Error) as caught:
        _core.emit(graph, "triton")
    assert message in str(caught.value)


def test_offsets_beyond_32_bits_are_wide():
    graph = programs.parse_one(
        "kernel(%x: f16[300000,2] strides(9728,1)) -> f16[300000,2] { %y = exp %x return %y }"
    )
    text = _core.emit(graph, "triton")
    loads = [line for line in text.splitlines() if "tl.load" in line]
    assert all("tl.int64" in line for line in loads), loads
    assert not [line for line in text.splitlines() if "tl.store" in line and "tl.int64" in line]


def test_the_standin_notices():
    """Mistakes that a back end could make are errors there."""
    head = _core.emit(
        programs.parse_one("kernel(%x: f32[3,5]) -> f32[3,5] { %y = exp %x return %y }"), "triton"
    )
    x = [np.ones((3, 5), np.float32)]
    for right, wrong, message in [
        ("tl.arange(0, 4)", "tl.arange(0, 3)", "no power of two"),
        (" & (r3[None, :] < 5)", "", "outside"),
        ("p1_y + r2[:, None] * 5", "p1_y + r2[:, None] * 4", "two lanes"),
        ("tl.exp(v1)", "tl.exp(v1.to(tl.float16))", "f32"),
    ]:
        assert right in head, head
        with pytest.raises(AssertionError, match=message):
            outputs_of(head.replace(right, wrong), x)
