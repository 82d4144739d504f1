"""mirage.optimize: what it returns, and that waiting for it can be given up."""

import json
import signal
import threading

import mirage as mi
import numpy as np
import pytest


def program(rows=4):
    graph = mi.Graph("norm_linear")
    x = graph.input((rows, 64), "f32", name="x")
    w = graph.input((64, 32), "f32", name="w")
    graph.output(graph.rms_norm(x) @ w)
    return graph


@pytest.fixture(scope="module")
def best():
    return mi.optimize(program(), time_limit=20, threads=1, use_records=False)


def test_the_result_is_called_like_the_program(best):
    rng = np.random.default_rng(5)
    x, w = (rng.standard_normal(v.shape).astype(np.float32) for v in program().inputs)
    expected = mi.evaluate(program(), x, w)[0]
    y = best(x, w)
    assert y.shape == (4, 32) and np.allclose(y, expected, rtol=1e-4, atol=1e-5)
    out = np.empty_like(y)
    assert best(x, w, out=out) is out and np.array_equal(out, y)
    with pytest.raises(ValueError) as caught:
        best(x, w.T)
    assert str(caught.value) == "input 1 (%w): expected shape (64, 32), found (32, 64)"


def test_the_result_knows_what_was_done(best):
    report = best.report
    assert best.verdict and report.verdict.answer == "equivalent"
    names = ["values", "structures", "schedules", "verified", "built", "checked", "timed"]
    assert list(report.funnel) == names and all(report.funnel[name] >= 1 for name in names)
    assert (
        report.speed_up == pytest.approx(report.baseline_us / report.best_us) and report.best_us > 0
    )
    assert all(count > 0 and reason for _, reason, count, _ in report.rejected)
    assert "winner" in str(report) and "schema" in json.loads(report.json())
    assert set(report.stage_seconds) and report.total_seconds > 0 and report.plan


def test_the_winner_is_a_graph_that_can_be_saved(best, tmp_path):
    assert mi.verify(program(), best.graph)
    best.save(tmp_path / "best.mu")
    assert mi.load(tmp_path / "best.mu")[0].hash == best.graph.hash
    assert "norm_linear" in best.source or "kernel" in best.source


def test_runs_from_several_threads_take_turns():
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(mi.optimize(program(), time_limit=2, threads=1))
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2 and all(result.verdict for result in results)


def test_without_time_the_program_itself_is_returned_and_called_unchecked():
    graph = program(7)
    best = mi.optimize(graph, time_limit=0, threads=1, use_records=False)
    assert not best.report.is_checked and np.isnan(best.report.speed_up)
    assert {stage for stage, _ in best.report.skipped} >= {"compile", "check"}
    assert best.graph.hash == graph.hash and "NOT CHECKED" in str(best.report)
    x, w = np.ones((7, 64), np.float32), np.ones((64, 32), np.float32)
    assert np.allclose(best(x, w), 64, rtol=1e-4)


def test_progress_is_told():
    news = []
    mi.optimize(program(), time_limit=5, threads=1, progress=news.append)
    assert news and {"stage", "done", "total", "best_us", "baseline_us", "seconds_left"} <= set(
        news[0]
    )


def test_a_listener_that_raises_ends_the_run():
    def listen(news):
        raise RuntimeError(news["stage"])

    with pytest.raises(RuntimeError):
        mi.optimize(program(5), time_limit=60, threads=1, progress=listen)


def test_ctrl_c_ends_the_run():
    with pytest.raises(KeyboardInterrupt):
        mi.optimize(
            program(6),
            time_limit=60,
            threads=1,
            progress=lambda news: signal.raise_signal(signal.SIGINT),
        )


@pytest.mark.parametrize(
    "keywords, kind, part",
    [
        ({"target": "sm_90"}, mi.UnsupportedError, "sm"),
        ({"target": "vax"}, ValueError, "vax"),
        ({"time_limit": -1}, ValueError, "time limit"),
        ({"time_limit": float("nan")}, ValueError, "time limit"),
        ({"threads": -1}, ValueError, "threads"),
        ({"top": -1}, ValueError, "top"),
        ({"max_states": -1}, ValueError, "max_states"),
    ],
)
def test_bad_options(keywords, kind, part):
    with pytest.raises(kind, match=part):
        mi.optimize(program(), **{"time_limit": 5, **keywords})


def test_a_graph_without_operators_is_refused():
    with pytest.raises(ValueError, match="graph: has no operators"):
        mi.optimize(mi.Graph())


def test_superoptimize_returns_a_graph_with_its_report():
    graph = mi.new_kernel_graph()
    x, w = graph.new_input((4, 64), dtype=mi.float32), graph.new_input((64, 32), dtype=mi.float32)
    graph.mark_output(graph.matmul(graph.rms_norm(x), w))
    best = graph.superoptimize(search_time_limit_sec=5, num_search_thread=1)
    assert best.optimized.verdict and best.valid_kernels() and graph.optimized is None
    best.exp(best.outputs[0])  # now another program
    assert best.optimized is None
