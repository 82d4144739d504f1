"""Cold times on a GPU, as tune/gpu_time.cc takes them: change both.

A graph of calls on so many sets of inputs that none is still in the L2 cache when its turn comes again; whole turns, at least
16 calls. Replays for 10 ms bring the clocks up; then replays are queued one behind the other, each between two events. The
time of a call is the median.
"""
import math
import statistics

import torch

OF_CACHE = 3.5  # bytes of all inputs together, in L2 caches
MOST_SETS = 1200
FEWEST_CALLS = 16


def rotated(inputs):
    """Copies of the inputs, enough to leave the cache."""
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    size = sum(t.numel() * t.element_size() for t in inputs)
    sets = max(2, min(MOST_SETS, math.ceil(OF_CACHE * cache / size)))
    return [inputs] + [tuple(t.clone() for t in inputs) for _ in range(sets - 1)]


def cold_us(call, sets):
    """Median microseconds of call(*inputs), which has been called before."""
    calls = len(sets) * math.ceil(FEWEST_CALLS / len(sets))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            result = call(*sets[i % len(sets)])
    del result

    def replays(count):
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
        for begin, end in events:
            begin.record()
            graph.replay()
            end.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in events]

    replays(1)
    once_ms = max(replays(1)[0], 1e-3)
    replays(1 + min(50, int(10 / once_ms)))
    times = replays(int(max(9, min(60, 30 / once_ms))))
    graph.reset()
    return statistics.median(times) * 1e3 / calls
