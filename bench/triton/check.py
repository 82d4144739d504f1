#!/usr/bin/env python3
"""Runs the programs of bench/triton/prepare.py with Triton on this machine's GPU and holds them
against float64: stored results for small ones, PyTorch for the examples at full size, whose times
are printed too. Needs PyTorch and Triton, nothing else. The last line counts.

    python bench/triton/check.py FOLDER [WORD]      only cases whose name contains WORD
"""

import importlib.util
import json
import pathlib
import re
import sys

import numpy as np
import torch

ROUNDINGS = 32  # of the type, relative to the largest element


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def placed(values, spec):
    """Values as a tensor of the GPU in the strides of a spec."""
    shape, strides, dtype = spec
    tensor = torch.empty_strided(shape, strides, dtype=dtype, device="cuda")
    return tensor.copy_(values.to("cuda").to(dtype))


FUNCTIONS = {
    "exp": torch.exp,
    "sqrt": torch.sqrt,
    "square": torch.square,
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "neg": torch.neg,
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "matmul": torch.matmul,
}


def evaluate(program, inputs):
    """A printed graph of kernel level in float64."""
    head, *lines = program.strip().splitlines()
    names = re.findall(r"%([\w.]+):", head)
    values = {name: tensor.double() for name, tensor in zip(names, inputs, strict=True)}
    for line in lines:
        words = line.split("//")[0].replace(",", " ").split()
        if not words or words[0] == "}":
            continue
        if words[0] == "return":
            return [values[word[1:]] for word in words[1:]]
        result, _, op, *rest = words
        axis = next((int(word[5:]) for word in rest if word.startswith("axis=")), None)
        operands = [
            values[word[1:]] if word[0] == "%" else float.fromhex(word) if "x" in word else float(word)
            for word in rest
            if not word.startswith("axis=")
        ]
        operands = [torch.as_tensor(x, dtype=torch.float64, device="cuda") for x in operands]
        if op in ("sum", "mean"):
            value = getattr(torch, op)(operands[0], dim=axis, keepdim=True)
        elif op == "max":
            value = operands[0].amax(axis, keepdim=True)
        else:
            value = FUNCTIONS[op](*operands)
        values[result[1:]] = value
    raise ValueError("a program without return")


def error_of(found, wanted):
    """In roundings of the type, relative to the largest finite element."""
    found, wanted, eps = found.double(), wanted.to("cuda").double(), torch.finfo(found.dtype).eps
    finite = torch.isfinite(wanted)
    same = (found == wanted) | (found.isnan() & wanted.isnan())
    if not bool(same[~finite].all()):
        return float("inf")
    if not bool(finite.any()):
        return 0.0
    size = wanted[finite].abs().max().clamp_min(1e-300)
    error = (found - wanted)[finite].abs().max() / size / eps
    return float(error.nan_to_num(nan=float("inf")))


def microseconds(call):
    """Median of 5 averages over 20 calls of a CUDA graph."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    times = []
    for _ in range(5):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(20):
            graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 20 * 1000)
    return sorted(times)[2]


def run(folder, case):
    """The error, and the time of programs of full size."""
    module = load(folder / f"{case['name']}.py")
    if "program" in case:
        torch.manual_seed(1)
        values = [torch.randn(shape, device="cuda") for shape, _, _ in module.INPUTS]
        # Sums of thousands of products would leave what f16 can hold.
        if "matmul" in case["program"]:
            values = [value / 8 for value in values]
    else:
        arrays = np.load(folder / f"{case['name']}.npz")
        values = [torch.from_numpy(arrays[f"in{i}"]) for i in range(len(module.INPUTS))]
    inputs = [placed(value, spec) for value, spec in zip(values, module.INPUTS, strict=True)]
    outputs = module.run(*inputs)
    if "program" in case:
        wanted = evaluate(case["program"], inputs)
    else:
        wanted = [torch.from_numpy(arrays[f"out{i}"]) for i in range(len(outputs))]
    error = max(error_of(a, b) for a, b in zip(outputs, wanted, strict=True))
    time = microseconds(lambda: module.execute_mugraph(*inputs, *outputs)) if "program" in case else None
    return error, time


def main(folder, word=""):
    folder = pathlib.Path(folder)
    passed = failed = 0
    for case in json.loads((folder / "cases.json").read_text()):
        if word not in case["name"]:
            continue
        try:
            error, time = run(folder, case)
            is_right = error <= ROUNDINGS
            text = f"{error:.3g} roundings" + (f", {time:.1f} us" if time else "")
        except Exception as problem:  # whatever Triton's compiler throws is a failed case
            is_right, text = False, f"{type(problem).__name__}: {str(problem)[:300]}"
        passed, failed = passed + is_right, failed + (not is_right)
        print(f"{'ok    ' if is_right else 'FAILED'} {case['name']}: {text}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
