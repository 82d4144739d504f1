"""The time in which one plain kernel reads so many bytes: what a program of one kernel can hardly beat."""
import torch
import triton
import triton.language as tl

from timing import cold_us, rotated


@triton.jit
def add_up(data, sums, count, BLOCK: tl.constexpr):
    """Each program adds up one block of 32-bit integers, with wrap-around."""
    program = tl.program_id(0)
    offsets = program.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(data + offsets, mask=offsets < count, other=0)
    tl.store(sums + program, tl.sum(values, 0))


def read_us(size):
    """Of the best of a few block sizes, checked."""
    count = size // 4
    data = torch.randint(-2**31, 2**31 - 1, (count,), dtype=torch.int32, device="cuda")
    expected = data.to(torch.int64).sum().item() % 2**32
    sets = rotated((data,))
    best = float("inf")
    for block, warps in ((1024, 4), (2048, 8), (4096, 8), (8192, 8), (16384, 16)):
        programs = triton.cdiv(count, block)
        sums = torch.zeros(programs, dtype=torch.int32, device="cuda")

        def read(x):
            add_up[(programs,)](x, sums, count, BLOCK=block, num_warps=warps)

        read(data)
        found = sums.to(torch.int64).sum().item() % 2**32
        if found != expected:
            raise RuntimeError(f"the read kernel found {found}, expected {expected}")
        best = min(best, cold_us(read, sets))
    return best
