"""Generated Triton programs, run by the stand-in (triton_standin.py) and held against float64.

The same programs run on a GPU with bench/triton_check.py.
"""

import pathlib

import mirage as mi
import numpy as np
import pytest
import triton_programs as programs
import triton_standin as standin
from mirage import _core
from mirage import triton as back_end

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


TWO_OUTPUTS = """
kernel(%x: f32[3,5]) -> f32[3,5], f32[3,1] { %y = exp %x %s = sum %y axis=1 return %y, %s }"""


def test_the_published_entry():
    made = mi.generate_triton_program(programs.parse_one(TWO_OUTPUTS), target_cc=90)
    assert made["output_shapes"] == [(3, 5), (3, 1)]
    assert made["code"] == _core.emit(programs.parse_one(TWO_OUTPUTS), "triton")


def test_without_pytorch_it_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    graph = mi.new_kernel_graph()
    graph.mark_output(graph.exp(graph.new_input((3, 5))))
    for call in (
        lambda: graph.superoptimize(backend="triton"),
        lambda: mi.profile_and_select_best_graph([graph], 90),
    ):
        with pytest.raises(mi.UnsupportedError, match="needs PyTorch and Triton"):
            call()


@pytest.fixture
def standing_in(monkeypatch, tmp_path):
    """The selection with the stand-in for PyTorch and a clock that shows the length of the text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(back_end, "require", lambda what: None)
    monkeypatch.setattr(back_end, "_like", lambda torch, tensor: standin.array(tensor))
    monkeypatch.setattr(
        back_end,
        "_random_inputs",
        lambda torch, module: [
            standin.tensor(array, strides)
            for array, (_, strides, _) in zip(programs.inputs_of(module.INPUTS, 3), module.INPUTS)
        ],
    )
    monkeypatch.setattr(
        back_end,
        "_deviation",
        lambda torch, found, wanted: max(
            np.abs(standin.array(a) - b).max() / 2.0**-23 for a, b in zip(found, wanted)
        ),
    )
    times = iter([5.0, 3.0, 4.0])
    monkeypatch.setattr(back_end, "_milliseconds", lambda *_: next(times))
    with standin.installed():
        yield


def test_the_fastest_that_agrees_is_selected(standing_in, capsys):
    text = "kernel(%x: f32[3,5], %y: f32[3,5]) -> f32[3,5] {{ %z = {} return %z }}"
    graphs = [
        programs.parse_one(text.format(body))
        for body in ("add %x, %y", "add %y, %x", "sub %x, %y", "sub %x, (neg %y)")
    ]
    best, path, shapes = mi.profile_and_select_best_graph(graphs, 90, 1, 1, True, save_codes=True)
    assert best is graphs[1] and shapes == [(3, 5)]
    assert pathlib.Path(path).read_text() == _core.emit(graphs[1], "triton")
    assert pathlib.Path(path).parent.name == "generated_codes"
    assert "graph 2: Error" in capsys.readouterr().out  # another function


def test_none_that_runs_is_an_error_with_reasons(standing_in):
    graph = programs.parse_one("kernel(%x: f32[3]) -> f32[3] { %y = exp %x return %y }")
    with pytest.raises(mi.Error, match="none of 1 graphs runs") as caught:
        back_end.select("test", [(graph, "broken")], lambda arrays: [], 1, 1, False, False)
    assert caught.value.notes[0].startswith("graph 0: NameError")


def test_superoptimize_with_triton(standing_in):
    graph = mi.new_kernel_graph()
    x, y = graph.new_input((3, 5), dtype=mi.float32), graph.new_input((3, 5), dtype=mi.float32)
    graph.mark_output(graph.mul(graph.exp(x), y))
    best = graph.superoptimize(backend="triton", search_time_limit_sec=1)
    values = programs.inputs_of([((3, 5), None, np.float32)] * 2, 4)
    (found,) = best(inputs=[standin.tensor(value) for value in values])
    np.testing.assert_allclose(standin.array(found), np.exp(values[0]) * values[1], rtol=1e-6)


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
