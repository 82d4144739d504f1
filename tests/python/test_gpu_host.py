"""Hosts that use the GPU themselves, as PyTorch does, with a driver that stands in for the GPU's.

Like the real driver it does not work in children of a process that has used it.
"""

import fake_gpu

HOST = """
import ctypes
import mirage as mi
import numpy as np

assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
graph = mi.Graph()
graph.output(graph.input((64,), "f32", name="x") * 2)
"""


def test_such_a_host_measures(tmp_path):
    program = """
best = mi.optimize(graph, "sm_90", 20)
assert best.report.is_checked and best.report.best_us >= 0
x = np.arange(64, dtype=np.float32)
assert np.array_equal(best(x), 2 * x)
assert ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int())) == 0
"""
    fake_gpu.run(tmp_path, HOST + program)


def test_the_worker_is_used_again(tmp_path):
    program = """
for _ in range(2):
    mi.optimize(graph, "sm_90", 20, use_records=False)
import pathlib
children = pathlib.Path("/proc/self/task").glob("*/children")
print(sum(len(file.read_text().split()) for file in children))
"""
    assert fake_gpu.run(tmp_path, HOST + program) == ["1"]
