"""Compiled programs: what a call takes, checks and returns. One small program, compiled once."""

import threading

import mirage as mi
import numpy as np
import pytest

RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def graph():
    graph = mi.Graph("two_outputs")
    x = graph.input((5, 12), "f32", name="x")
    w = graph.input((12, 7), "f32", strides=(1, 12), name="w")
    y = x @ w
    graph.output(y)
    graph.mark_output(graph.relu(y), strides=(1, 5))
    return graph


@pytest.fixture
def arrays():
    x = RNG.standard_normal((5, 12)).astype(np.float32)
    return x, np.asfortranarray(RNG.standard_normal((12, 7)).astype(np.float32))


def test_results_are_new_arrays_with_the_strides_of_the_outputs(graph, arrays):
    y, z = graph(*arrays)
    assert np.allclose(y, arrays[0] @ arrays[1], rtol=1e-4, atol=1e-5)
    assert np.array_equal(z, np.maximum(y, 0))
    assert y.strides == (28, 4) and z.strides == (4, 20) and y.dtype == np.float32


def test_out_is_written_in_place(graph, arrays):
    out = [np.full((5, 7), np.nan, np.float32), np.full((5, 7), np.nan, np.float32, order="F")]
    results = graph(*arrays, out=out)
    assert results[0] is out[0] and results[1] is out[1]
    assert np.array_equal(out[0], graph(*arrays)[0]) and not np.isnan(out[1]).any()


def overlapping(arrays):
    memory = np.zeros(60, np.float32)
    return [memory[:35].reshape(5, 7), memory[20:55].reshape((5, 7), order="F")]


def read_only(arrays):
    first = np.zeros((5, 7), np.float32)
    first.flags.writeable = False
    return [first, np.zeros((5, 7), np.float32, order="F")]


@pytest.mark.parametrize(
    "out, message",
    [
        (lambda a: [np.zeros((5, 7), np.float32)], "expected 2 outputs, found 1"),
        (lambda a: [np.zeros((5, 7)), np.zeros((5, 7))], "output 0: expected dtype f32, found f64"),
        (lambda a: [np.zeros((5, 7), np.float32)] * 2,
         "output 1: expected strides (1, 5), found (7, 1) (in elements)"),
        (overlapping, "output 1 shares memory with output 0"),
        (lambda a: [a[1].reshape(-1, order="A")[:35].reshape(5, 7), np.zeros((5, 7), np.float32, order="F")],
         "output 0 shares memory with input 1"),
        (read_only, "output 0: expected a writable array (DLPack or the buffer protocol), found ndarray"),
    ],
)  # fmt: skip
def test_mistakes_in_out(graph, arrays, out, message):
    with pytest.raises(ValueError) as caught:
        graph(*arrays, out=out(arrays))
    assert str(caught.value) == message


def test_a_call_checks_its_inputs(graph, arrays):
    with pytest.raises(ValueError) as caught:
        graph(arrays[0][:4], arrays[1])
    assert str(caught.value) == "input 0 (%x): expected shape (5, 12), found (4, 12)"


def test_calls_from_several_threads(graph, arrays):
    expected = graph(*arrays)[0]
    failures = []

    def work():
        for _ in range(50):
            if not np.array_equal(graph(*arrays)[0], expected):
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_changed_graph_is_compiled_anew():
    graph = mi.Graph()
    x = graph.input((3,), "f32")
    y = x + 1
    ones = np.ones(3, np.float32)
    assert np.array_equal(graph(ones), [2, 2, 2])
    graph.exp(y)
    assert np.allclose(graph(ones), np.exp(2))


def test_source_is_readable(graph):
    assert "kernel" in graph.compiled().source


def test_bfloat16_results_are_bit_patterns_or_ml_dtypes():
    graph = mi.Graph()
    graph.output(graph.input((3,), "bf16") * 2)
    result = graph(np.array([0x3F80, 0x4000, 0], np.uint16))
    assert result.itemsize == 2
    assert np.array_equal(result.view(np.uint16), [0x4000, 0x4080, 0])


def test_pytorch_tensors_give_pytorch_tensors(graph, arrays):
    torch = pytest.importorskip("torch")
    y, _ = graph(*[torch.from_numpy(array) for array in arrays])
    assert isinstance(y, torch.Tensor)
    assert np.array_equal(y.numpy(), graph(*arrays)[0])


def test_integers_do_not_compute_yet():
    graph = mi.Graph()
    graph.output(graph.input((3,), "i32") + 1)
    with pytest.raises(mi.UnsupportedError) as caught:
        graph(np.ones(3, np.int32))
    assert caught.value.code == "unsupported"


def test_what_the_compiler_says_is_in_the_log(monkeypatch, tmp_path):
    compiler = tmp_path / "c++"
    compiler.write_text(
        "#!/bin/sh\n[ $1 = --version ] && echo picky 1.0 && exit\n"
        "for last; do :; done; [ $last = /dev/null ] && exit\necho I will not >&2; exit 1\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    graph = mi.Graph()
    graph.output(graph.input((3,), "f32") - 7)
    with pytest.raises(mi.Error) as caught:
        graph(np.ones(3, np.float32))
    assert caught.value.code == "compile failed" and "I will not" in caught.value.log
    assert not isinstance(caught.value, (ValueError, mi.UnsupportedError))
