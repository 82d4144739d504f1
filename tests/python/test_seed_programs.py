"""The programs of the original documents, at their shapes, with NumPy arrays and no device string."""

import mirage as mi
import numpy as np
import pytest
import triton_standin as standin

RNG = np.random.default_rng(7)
LIMIT = {"search_time_limit_sec": 3}


def randn(*shape):
    return RNG.standard_normal(shape, np.float32).astype(np.float16)


@pytest.fixture(params=["numpy", "torch"])
def given(request):
    """The arrays as those of a library; PyTorch where it is installed (pip install .[torch])."""
    if request.param == "numpy":
        return list
    torch = pytest.importorskip("torch")
    return lambda arrays: [torch.from_numpy(array) for array in arrays]


def exact(array):
    return array.astype(np.float64)


def rms_norm(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True))


def attention(q, k, v):
    s = q @ k
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def check(result, expected, relative=4e-3):
    """Rounding errors of f16 storage, relative to the largest result."""
    result = np.asarray(result)
    assert result.dtype == np.float16 and result.shape == expected.shape
    assert np.abs(exact(result) - expected).max() <= relative * np.abs(expected).max()


# Scores reach 40, where f16 is exact to 2^-6 only: weights of exp are, too.
ATTENTION = 1e-2


def attention_graph(norm=False):
    graph = mi.new_kernel_graph()
    Q = graph.new_input(dims=(2, 256, 64), dtype=mi.float16)
    K = graph.new_input(dims=(2, 64, 4096), dtype=mi.float16)
    V = graph.new_input(dims=(2, 4096, 64), dtype=mi.float16)
    if norm:
        Q = graph.rms_norm(Q)
        K = graph.rms_norm(K)
    A = graph.matmul(Q, K)
    E = graph.exp(A)
    S = graph.reduction(E, 2)
    D = graph.div(E, S)
    O = graph.matmul(D, V)
    return graph, O


@pytest.fixture(scope="module")
def attention_inputs():
    return [randn(2, 256, 64), randn(2, 64, 4096), randn(2, 4096, 64)]


@pytest.fixture(scope="module")
def optimized_attention():
    graph, _ = attention_graph()  # without mark_output, as the document has it
    return graph.superoptimize(config="attention", **LIMIT)


def test_group_query_attention(optimized_attention, attention_inputs, given):
    outputs = optimized_attention(given(attention_inputs))
    assert isinstance(outputs, list) and len(outputs) == 1
    check(outputs[0], attention(*map(exact, attention_inputs)), ATTENTION)
    check(optimized_attention(inputs=given(attention_inputs))[0], exact(np.asarray(outputs[0])), 0)


def test_multi_latent_attention(attention_inputs, given):
    graph, O = attention_graph()
    graph.mark_output(O)
    check(
        mi.superoptimize(graph, **LIMIT)(given(attention_inputs))[0],
        attention(*map(exact, attention_inputs)),
        ATTENTION,
    )


def test_attention_with_qk_norm(attention_inputs, given):
    graph, O = attention_graph(norm=True)
    graph.mark_output(O)
    optimized_graph = mi.superoptimize(graph, **LIMIT)
    q, k, v = map(exact, attention_inputs)
    check(
        optimized_graph(given(attention_inputs))[0],
        attention(rms_norm(q), rms_norm(k), v),
        ATTENTION,
    )


@pytest.mark.parametrize("norm", ["weight", "normalized_shape", "nothing"])
def test_rms_norm_linear(norm, given):
    graph = mi.new_kernel_graph()
    X = graph.new_input(dims=(16, 4096), dtype=mi.float16)
    G = graph.new_input(dims=(1, 4096), dtype=mi.float16)
    W = graph.new_input(dims=(4096, 406), dtype=mi.float16)
    D = {
        "weight": lambda: graph.rms_norm(X, G),
        "normalized_shape": lambda: graph.rms_norm(X, normalized_shape=(4096,)),
        "nothing": lambda: graph.rms_norm(X),
    }[norm]()
    graph.mark_output(graph.matmul(D, W))
    optimized_graph = mi.superoptimize(graph, config="mlp", **LIMIT)
    x, g, w = randn(16, 4096), randn(1, 4096), randn(4096, 406)
    expected = rms_norm(exact(x)) * (exact(g) if norm == "weight" else 1) @ exact(w)
    check(optimized_graph(given([x, g, w]))[0], expected)


def test_gated_mlp(given):
    graph = mi.new_kernel_graph()
    X = graph.new_input(dims=(8, 4096), dtype=mi.float16)
    W1 = graph.new_input(dims=(4096, 4096), dtype=mi.float16)
    W2 = graph.new_input(dims=(4096, 4096), dtype=mi.float16)
    D1 = graph.matmul(X, W1)
    D2 = graph.matmul(X, W2)
    graph.mark_output(graph.mul(graph.silu(D1), D2))
    optimized_graph = mi.superoptimize(graph, **LIMIT)
    x, w1, w2 = randn(8, 4096), randn(4096, 4096), randn(4096, 4096)
    d1, d2 = (
        x.astype(np.float32) @ w1.astype(np.float32),
        x.astype(np.float32) @ w2.astype(np.float32),
    )
    with np.errstate(over="ignore"):  # exp(-d1) = inf is right: silu is then 0
        check(optimized_graph(given([x, w1, w2]))[0], exact(d1 / (1 + np.exp(-d1)) * d2))


def test_lora(given):
    graph = mi.new_kernel_graph()
    X = graph.new_input(dims=(16, 256), dtype=mi.float16)
    W = graph.new_input(dims=(256, 4096), dtype=mi.float16)
    A = graph.new_input(dims=(256, 16), dtype=mi.float16)
    B = graph.new_input(dims=(16, 4096), dtype=mi.float16)
    D = graph.matmul(X, A)
    E = graph.matmul(D, B)
    C = graph.matmul(X, W)
    graph.add(C, E)
    opt_graph = graph.superoptimize(config="lora", **LIMIT)
    x, w, a, b = randn(16, 256), randn(256, 4096), randn(256, 16), randn(16, 4096)
    check(opt_graph(given([x, w, a, b]))[0], exact(x) @ exact(w) + exact(x) @ exact(a) @ exact(b))


def test_the_filter_loop_over_candidates(optimized_attention, attention_inputs):
    for g in [optimized_attention]:
        assert g.valid_kernels()
        assert g.get_error_message() == "No error"
        g(inputs=attention_inputs)


def test_gqa_called_with_the_shapes_of_another_program(optimized_attention):
    inputs = [randn(64, 1, 128), randn(64, 128, 4), randn(64, 4, 128)]
    with pytest.raises(ValueError) as caught:
        optimized_attention(inputs)
    assert str(caught.value) == "input 0: expected shape (2, 256, 64), found (64, 1, 128)"


TRITON = """
graph = mi.new_kernel_graph()
X = graph.new_input(dims=(16, 4096), dtype=mi.float16)
W = graph.new_input(dims=(4096, 6144), dtype=mi.float16)
D = graph.rms_norm(X, normalized_shape=(4096,))
O = graph.matmul(D, W)
graph.mark_output(O)
text = mi.generate_triton_program(graph.cygraph, target_cc=10){end}
"""


def test_the_triton_example_as_printed_is_no_python():
    with pytest.raises(SyntaxError):
        compile(TRITON.format(end='{"code"])'), "document", "exec")


def test_the_triton_example_repaired():
    names = {"mi": mi}
    exec(TRITON.format(end='["code"]'), names)
    x, w = randn(16, 4096), randn(4096, 6144)
    (found,) = standin.load(names["text"]).run(standin.tensor(x), standin.tensor(w))
    check(standin.array(found), rms_norm(exact(x)) @ exact(w))


def test_back_ends_to_come():
    graph, _ = attention_graph()
    with pytest.raises(mi.UnsupportedError) as caught:
        graph.superoptimize(config="mlp", backend="cuda")
    assert str(caught.value) == "superoptimize: there is no cuda back end yet"


@pytest.mark.parametrize(
    "keywords, message",
    [
        (
            {"config": "attn"},
            "superoptimize: expected config None, attention, mlp or lora, found 'attn'",
        ),
        ({"backend": "nki"}, "superoptimize: expected backend cpu, cuda or triton, found 'nki'"),
    ],
)
def test_unknown_choices(keywords, message):
    graph, _ = attention_graph()
    with pytest.raises(ValueError) as caught:
        graph.superoptimize(**keywords)
    assert str(caught.value) == message


def test_published_keywords_are_accepted():
    graph = mi.new_kernel_graph()
    graph.exp(graph.new_input((4, 8)))
    graph.superoptimize(
        imaps=[(0, -1, -1)], omaps=[(0, -1, -1)], griddims=[(4, 1, 1)], blockdims=None, fmaps=[-1], franges=[1],
        verbose=False, config=None, backend="cpu", warmup_iters=1, profile_iters=1, use_graph_dataset=True,
        use_cached_graphs=True, save_codes=False, is_formal_verified=False, previous_checkpoint="checkpoint.json",
        max_num_threadblock_graph_op=9, max_num_kernel_graph_op=5, num_search_thread=1, use_symbolic_search=False,
        symbolic_checkpoint=None, search_time_limit_sec=2,
    )  # fmt: skip
