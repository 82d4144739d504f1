"""Malformed programs: each class of mistake in each way to say a program, each with a typed error.

A row is (class, what is special about it, the program, parts of the message in their order). Text and JSON go through
the command line (exit code 64, one line on the error stream) and through Python (ValueError, or
UnsupportedError where the format is right and its meaning was lost).
"""

import copy
import json
import pathlib
import shutil
import subprocess

import mirage as mi
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
MIRAGE = shutil.which("mirage")

SHAPES = "shape mismatch"
DTYPE = "unknown dtype"
DANGLING = "cyclic or dangling"
HOSTILE = "truncated or hostile"
SPLITS = "indivisible split"
GRID = "uncovered grid"
OVERLAP = "overlapping output"
LOOPS = "loop that does not divide"
SIZE = "size overflow"
NAN = "nan scalar"
EMPTY = "no operators"
CLASSES = [SHAPES, DTYPE, DANGLING, HOSTILE, SPLITS, GRID, OVERLAP, LOOPS, SIZE, NAN, EMPTY]


def k(body, inputs="%x: f32[4,8]"):
    return f"kernel @f({inputs}) {{\n  {body}\n}}\n"


def b(body, axes="x: grid 2, i: loop 4", inputs="%x: f32[4,8]"):
    return k(f"%y = block(%x) axes({axes}) {{\n    {body}\n  }}", inputs)


# Text -------------------------------------------------------------------------------------------
MU = [
    (SHAPES, "matmul", k("%y = matmul %x, %x"), ["2:8", "matmul %y", "k=8", "k=4"]),
    (SHAPES, "rank", k("%y = matmul %x, %w", "%x: f32[4,8], %w: f32[8]"), ["matmul %y", "[4,8]", "[8]"]),
    (SHAPES, "batch", k("%y = matmul %x, %w", "%x: f32[2,4,8], %w: f32[3,8,4]"), ["matmul %y", "axis 0", "2", "3"]),
    (SHAPES, "broadcast", k("%y = add %x, %w", "%x: f32[4,8], %w: f32[3,8]"), ["add %y", "axis 0", "4 and 3"]),
    (SHAPES, "concat", k("%y = concat %x, %w axis=0", "%x: f32[4,8], %w: f32[4,7]"), ["concat %y", "axis 0", "[4,8]", "[4,7]"]),
    (SHAPES, "reshape", k("%y = reshape %x shape=[5,7]"), ["reshape %y", "32", "35"]),
    (SHAPES, "transpose", k("%y = transpose %x perm=[0,0]"), ["transpose %y", "2 axes", "[0, 0]"]),
    (SHAPES, "narrow", k("%y = narrow %x axis=1 start=6 length=3"), ["narrow %y", "[6, 6 + 3)", "axis 1", "8"]),
    (SHAPES, "axis", k("%y = sum %x axis=2"), ["sum %y", "axis 2", "rank 2"]),
    (SHAPES, "declared", "kernel @f(%x: f32[4,8]) -> f32[8,4] { %y = exp %x return %y }", ["result 0", "f32[8,4]", "f32[4,8]"]),
    (SHAPES, "types", k("%y = add %x, %w", "%x: f32[4,8], %w: f16[4,8]"), ["add %y", "f32 and f16"]),
    (SHAPES, "operands", k("%y = add %x"), ["add %y", "2 operands", "1"]),
    (SHAPES, "rows of a block", b("store (accum sum (matmul (load %x [., i]), (load %x [., i]))) [., x]"), ["matmul", "k=2", "k=4"]),
    (DTYPE, "input", k("%y = exp %x", "%x: f33[4]"), ["1:15", "unknown element type 'f33'"]),
    (DTYPE, "result", "kernel @f(%x: f32[4]) -> float[4] { %y = exp %x return %y }", ["unknown element type 'float'"]),
    (DTYPE, "capital", k("%y = exp %x", "%x: F32[4]"), ["unknown element type 'F32'"]),
    (DTYPE, "number", k("%y = exp %x", "%x: 32[4]"), ["expected an element type", "'32'"]),
    (DTYPE, "missing", k("%y = exp %x", "%x: [4]"), ["expected an element type", "'['"]),
    (DTYPE, "long", k("%y = exp %x", "%x: " + "f" * 100000 + "[4]"), ["unknown element type 'ffff"]),
    (DANGLING, "dangling", k("%y = exp %z"), ["2:12", "%z is not defined"]),
    (DANGLING, "itself", k("%y = exp %y"), ["2:12", "%y is used to define itself"]),
    (DANGLING, "cycle", k("%y = exp %z\n  %z = exp %y"), ["2:12", "%z is used before line 3 defines it"]),
    (DANGLING, "longer cycle", k("%a = exp %c\n  %b = exp %a\n  %c = exp %b"), ["%c is used before line 4"]),
    (DANGLING, "twice", k("%y = exp %x\n  %y = log %x"), ["%y is defined twice", "line 2"]),
    (DANGLING, "returned", k("%y = exp %x\n  return %z"), ["%z is not defined"]),
    (DANGLING, "outer value", k("%z = exp %x\n  %y = block(%x) { store (load %z [., .]) [., .] }"), ["%z is a value of the kernel"]),
    (DANGLING, "inner value", k("%y = block(%x) { %z = load %x [., .] store %z [., .] }\n  %w = exp %z"), ["%z is not defined"]),
    (DANGLING, "operand of a block", k("%y = block(%z) { }"), ["%z is not defined"]),
    (HOSTILE, "nothing", "", ["1:1", "expected kernel"]),
    (HOSTILE, "words", "hello", ["1:1", "expected kernel", "'hello'"]),
    (HOSTILE, "bytes", b"\x00\x01\x02", ["1:1", "byte 0x00"]),
    (HOSTILE, "no text", b"kernel @\xff\xfe(%x: f32[4]) {}", ["expected a name", "'@'"]),
    (HOSTILE, "truncated", k("%y = exp %x")[:-3], ["the end of the text"]),
    (HOSTILE, "nested", "kernel(%x: f32[2]) { %y = " + "exp (" * 200000, ["nested more than 64 deep"]),
    (HOSTILE, "parentheses", "kernel(%x: f32[2]) { %y = exp " + "(" * 200000, ["nested more than 64 deep"]),
    (HOSTILE, "operator", k("%y = expp %x"), ["unknown operator 'expp'"]),
    (HOSTILE, "attribute", k("%y = exp %x axis=1"), ["exp", "no attribute 'axis'"]),
    (HOSTILE, "long word", "kernel " + "a" * 1000000, ["expected '('", "'aaaa"]),
    (HOSTILE, "one operand of thousands", k("%y = concat " + ", ".join(["%x"] * 5000) + ", %z axis=0"), ["%z is not defined"]),
    (SPLITS, "more tiles than elements", b("store (accum sum (load %x [., x/i])) [., x]", "x: grid 3, i: loop 5"),
     ["load", "axis 1 of extent 3", "5 steps of block axis i"]),
    (SPLITS, "an empty last tile", b("store (load %x [x, .]) [x, .]", "x: grid 3", "%x: f32[4,8]"),
     ["load", "axis 0 of extent 4", "3 steps of block axis x"]),
    (SPLITS, "one element too few", b("store (load %x [x, .]) [x, .]", "x: grid 9", "%x: f32[8,8]"),
     ["load", "axis 0 of extent 8", "9 steps of block axis x"]),
    (SPLITS, "axis twice", b("store (load %x [x, x]) [x, .]"), ["load", "block axis x is bound twice"]),
    (SPLITS, "unknown axis", b("store (load %x [q, .]) [x, .]"), ["load", "no axis 'q'"]),
    (SPLITS, "other rank", b("store (load %x [x]) [x, .]"), ["load", "2 axes, found 1"]),
    (GRID, "one axis", b("store (load %x [x, .]) [., .]"), ["store", "grid axis x (2 blocks) is not bound"]),
    (GRID, "second axis", b("store (load %x [x, y]) [x, .]", "x: grid 2, y: grid 4"), ["store", "grid axis y (4 blocks)"]),
    (GRID, "unused axis", b("store (load %x [., .]) [., .]", "x: grid 5"), ["store", "grid axis x (5 blocks)"]),
    (GRID, "shape", b("store (load %x [x, .]) [x, .] shape=[5,8]", "x: grid 2"), ["store", "tile [2,8]", "axis 0", "[5,8]"]),
    (GRID, "other rank", b("store (load %x [x, .]) [x, .] shape=[4]", "x: grid 2"), ["store", "[4]", "[2,8]"]),
    (GRID, "nothing stored", b("%z = load %x [x, .]"), ["block", "stores nothing"]),
    (OVERLAP, "loop", b("store (accum sum (load %x [., i])) [i, x]"), ["store", "loop axis i"]),
    (OVERLAP, "twice", b("store (accum sum (load %x [., i])) [x, x]"), ["store", "axis x is bound twice"]),
    (OVERLAP, "strides", "kernel @f(%x: f32[4,8]) -> f32[4,8] strides(1, 1) { %y = exp %x return %y }",
     ["output 0", "strides [1, 1]", "[4,8] overlap"]),
    (OVERLAP, "rows", "kernel @f(%x: f32[4,8]) -> f32[4,8] strides(7, 1) { %y = exp %x return %y }", ["output 0", "strides [7, 1]"]),
    (OVERLAP, "broadcast", "kernel @f(%x: f32[4,8]) -> f32[4,8] strides(0, 1) { %y = exp %x return %y }", ["output 0", "strides [0, 1]"]),
    (OVERLAP, "in the loop", b("store (load %x [x, i]) [x, .]"), ["store", "changes with the loop"]),
    (LOOPS, "more steps than elements", b("store (accum sum (load %x [., i])) [x, .]", "x: grid 2, i: loop 9"),
     ["load", "axis 1 of extent 8", "9 steps of block axis i"]),
    (LOOPS, "empty last step", b("store (accum sum (load %x [., i])) [x, .]", "x: grid 2, i: loop 5"),
     ["load", "axis 1 of extent 8", "5 steps of block axis i"]),
    (LOOPS, "mean", b("store (accum mean (load %x [x, i])) [x, .]", "x: grid 2, i: loop 3"), ["accum", "mean", "loop axis i", "extent 8"]),
    (LOOPS, "none", b("store (load %x [x, .]) [x, .]", "x: grid 2, i: loop 0"), ["block axis i", "at least one step", "0"]),
    (LOOPS, "negative", b("store (load %x [x, .]) [x, .]", "x: grid -2"), ["block axis x", "at least one step", "-2"]),
    (LOOPS, "named twice", b("store (load %x [x, .]) [x, .]", "x: grid 2, x: loop 2"), ["axis x is defined twice"]),
    (LOOPS, "mixed", b("%l = load %x [x, i] store (add %l, (accum sum %l)) [x, .]"), ["add", "mixes a value of the loop"]),
    (SIZE, "input", k("%y = exp %x", "%x: f32[9223372036854775807,4]"), ["input %x", "[9223372036854775807,4]", "too large"]),
    (SIZE, "digits", k("%y = exp %x", "%x: f32[99999999999999999999]"), ["'99999999999999999999'", "64 bits"]),
    (SIZE, "zero", k("%y = exp %x", "%x: f32[0,1099511627776,1099511627776]"), ["input %x", "too large"]),
    (SIZE, "negative", k("%y = exp %x", "%x: f32[-4]"), ["input %x", "negative extent", "[-4]"]),
    (SIZE, "broadcast", k("%y = add %x, %w", "%x: f32[1073741824,1], %w: f32[1,1073741824]"), ["add %y", "too large"]),
    (SIZE, "matmul", k("%y = matmul %x, %w", "%x: f32[1073741824,1], %w: f32[1,1073741824]"), ["matmul %y", "too large"]),
    (SIZE, "concat", k("%y = concat %x, %x axis=0", "%x: f32[576460752303423488]"), ["concat %y", "too large"]),
    (SIZE, "reshape", k("%y = reshape %x shape=[4294967296,4294967296]"), ["reshape %y", "too large"]),
    (SIZE, "strides", k("%y = exp %x", "%x: f32[4,8] strides(9223372036854775807,1)"), ["input %x", "strides", "too large"]),
    (SIZE, "grid", b("store (load %x [x, .]) [x, .]", "x: grid 4294967296, y: grid 4294967296"), ["block", "too large"]),
    (SIZE, "rank", k("%y = exp %x", "%x: f32[1,1,1,1,1,1,1,1,1]"), ["more than 8"]),
    (SIZE, "axes", b("", ", ".join(f"a{i}: loop 1" for i in range(17))), ["more than 16 axes"]),
    (SIZE, "stored", b("store (load %x [., .]) [x, .]", "x: grid 281474976710656", "%x: f32[65536,1]"), ["store", "too large"]),
    (SIZE, "narrow", k("%y = narrow %x axis=0 start=9223372036854775807 length=9223372036854775807"), ["narrow %y", "axis 0", "4"]),
    (NAN, "const", k("%y = mul %x, nan"), ["NaN"]),
    (NAN, "negative", k("%y = mul %x, -nan"), ["NaN"]),
    (NAN, "named", k("%c = const nan\n  %y = mul %x, %c"), ["2:", "NaN"]),
    (NAN, "bounds", k("%y = clamp %x lo=nan hi=1"), ["NaN"]),
    (NAN, "crossed bounds", k("%y = clamp %x lo=2 hi=1"), ["clamp %y", "lo <= hi", "[2, 1]"]),
    (NAN, "too large", k("%y = mul %x, 1e400"), ["'1e400'", "64-bit float"]),
    (NAN, "no number", k("%y = mul %x, 0x"), ["expected a number", "'0x'"]),
    (EMPTY, "nothing", "kernel @f(%x: f32[4]) {}", ["graph @f", "no operators"]),
    (EMPTY, "an input", "kernel @f(%x: f32[4]) { return %x }", ["graph @f", "no operators"]),
    (EMPTY, "no inputs", "kernel @f() {}", ["graph @f", "no operators"]),
    (EMPTY, "block", k("%y = block(%x) {}"), ["block", "no operators"]),
    (EMPTY, "after a good one", k("%y = exp %x") + "kernel @g(%x: f32[4]) {}", ["graph @g", "no operators"]),
]  # fmt: skip


# JSON -------------------------------------------------------------------------------------------
GOOD = json.loads((ROOT / "tests/data/mugraphs/rmsnorm_linear.old.json").read_text())
OPS = "/0/2/bgraph/operators"  # inputs x and w, matmul, accumulators, root, division, output


def at(*changes):
    """The good file with other values at these places: (pointer, value), or (pointer,) to remove."""
    document = copy.deepcopy(GOOD)
    for pointer, *value in changes:
        *path, last = [int(word) if word.isdigit() else word for word in pointer.split("/")[1:]]
        node = document
        for word in path:
            node = node[word]
        if value:
            node[last] = value[0]
        else:
            del node[last]
    return document


def tensor(guid, *dim):
    return {"data_type": 940, "dim": [*dim, *[0] * (4 - len(dim))], "guid": guid, "num_dims": len(dim)}


def op(kind, inputs, outputs, **more):
    return {"op_type": kind, "input_tensors": inputs, "output_tensors": outputs, **more}


def x_op(kind, outputs, **more):
    """A file of one operator on x, which is [4,8]."""
    x = tensor(1, 4, 8)
    return [[op("kn_input_op", [], [x]), op(kind, [x], outputs, **more)]]


def raw(text):
    return text


JSON = [
    (SHAPES, "stored result", at(("/0/2/output_tensors/0/dim/1", 47)), ["operator 2", "f16[2,47]", "f16[2,48]"]),
    (SHAPES, "stored operand", at(("/0/2/input_tensors/0/dim/1", 65)), ["operator 2", "guid 10000000", "f16[2,65]", "f16[2,64]"]),
    (SHAPES, "rank", at(("/0/0/output_tensors/0/num_dims", 5)), ["operator 0", "\"num_dims\" is 5", "4 entries"]),
    (SHAPES, "strides", at(("/0/0/input_strides", [1])), ["operator 0", "2 strides, found 1"]),
    (SHAPES, "product", at((f"{OPS}/2/op_type", "tb_mul_op")), ["tb_mul_op", "axis 0", "2 and 16"]),
    (SHAPES, "axis", at((f"{OPS}/2/op_type", "tb_concat_7_op")), ["tb_concat_7_op", "axis 7", "rank 2"]),
    (SHAPES, "operands", at((f"{OPS}/2/op_type", "tb_exp_op")), ["tb_exp_op", "1 operand, found 2"]),
    (SHAPES, "results", at((f"{OPS}/2/output_tensors", [])), ["tb_matmul_op", "1 result, found 0"]),
    (SHAPES, "map", at((f"{OPS}/0/input_map/x", 2)), ["\"input_map\" x is 2", "-1 to 1"]),
    (SHAPES, "kernel matmul", x_op("kn_matmul_op", [tensor(2, 4, 4)]), ["operator 1", "2 operands, found 1"]),
    (SHAPES, "normalized shape", x_op("kn_rms_norm_op", [tensor(2, 4, 8)], normalized_shape=[4]), ["rms_norm", "[4]", "[4,8]"]),
    (DTYPE, "code", at(("/0/0/output_tensors/0/data_type", 123)), ["output_tensors 0", "unknown data_type 123"]),
    (DTYPE, "negative", at(("/0/0/output_tensors/0/data_type", -1)), ["unknown data_type -1"]),
    (DTYPE, "name", at(("/0/0/output_tensors/0/data_type", "f16")), ["\"data_type\"", "64-bit integer", "string"]),
    (DTYPE, "fraction", at(("/0/0/output_tensors/0/data_type", 940.5)), ["\"data_type\"", "64-bit integer", "number"]),
    (DTYPE, "null", at(("/0/0/output_tensors/0/data_type", None)), ["\"data_type\"", "64-bit integer", "null"]),
    (DTYPE, "missing", at(("/0/0/output_tensors/0/data_type",)), ["\"data_type\" is missing"]),
    (DTYPE, "in the block", at((f"{OPS}/0/dtensor/data_type", 7)), ["dtensor", "unknown data_type 7"]),
    (DANGLING, "guid", at(("/0/2/input_tensors/0/guid", 77)), ["operator 2", "guid 77", "earlier operator"]),
    (DANGLING, "output", at(("/0/3/input_tensors/0/guid", 5)), ["kn_output_op", "guid 5"]),
    (DANGLING, "its own result", x_op("kn_exp_op", [tensor(1, 4, 8)])[0][1:], ["guid 1", "earlier operator"]),
    (DANGLING, "cycle", [[op("kn_exp_op", [tensor(2, 4)], [tensor(1, 4)]), op("kn_exp_op", [tensor(1, 4)], [tensor(2, 4)])]],
     ["operator 0", "guid 2"]),
    (DANGLING, "order", [list(reversed(GOOD[0]))], ["operator 0 (kn_output_op)", "guid 10000002"]),
    (DANGLING, "twice", at(("/0/1/output_tensors/0/guid", 10000000)), ["operator 1", "guid 10000000 is made twice"]),
    (DANGLING, "made again", x_op("kn_exp_op", [tensor(1, 4, 8)]), ["operator 1", "guid 1 is made twice"]),
    (DANGLING, "in the block", at((f"{OPS}/2/input_tensors/0/guid", 20000002)), ["block operator 2", "guid 20000002"]),
    (DANGLING, "dtensor", at((f"{OPS}/0/dtensor/guid", 10000001)), ["dtensor guid 10000001", "input 0"]),
    (DANGLING, "result", at((f"{OPS}/6/dtensor/guid", 1)), ["dtensor guid 1", "output 0"]),
    (DANGLING, "operand that nobody loads", at((f"{OPS}", [])), ["2 input tensors", "0 tb_input"]),
    (HOSTILE, "nothing", "", ["not JSON", "byte 0 of 0"]),
    (HOSTILE, "truncated", json.dumps(GOOD)[:2000], ["not JSON", "byte 2000 of 2000"]),
    (HOSTILE, "one byte short", json.dumps(GOOD)[:-1], ["not JSON"]),
    (HOSTILE, "something behind it", json.dumps(GOOD) + "]", ["not JSON"]),
    (HOSTILE, "binary", b"\x00\xff\x00", ["not JSON", "byte 1 of 3"]),
    (HOSTILE, "no text", b'[[{"op_type": "kn_\xff\xfe_op"}]]', ["not JSON"]),
    (HOSTILE, "arrays", "[" * 1000000, ["nested more than 32 deep"]),
    (HOSTILE, "balanced arrays", "[" * 100000 + "]" * 100000, ["nested more than 32 deep"]),
    (HOSTILE, "objects", '{"a":' * 100000, ["nested more than 32 deep"]),
    (HOSTILE, "values", "[" + "0," * 4100000 + "0]", ["more than 4000000 values"]),
    (HOSTILE, "key twice", '[[{"op_type": "kn_exp_op", "op_type": "kn_log_op"}]]', ["\"op_type\" is given twice"]),
    (HOSTILE, "number", "3", ["list of graphs", "number"]),
    (HOSTILE, "object", {"a": 1}, ["list of graphs", "object"]),
    (HOSTILE, "no graphs", [], ["no graphs"]),
    (HOSTILE, "graph", [1], ["graph 0", "list of operators", "number"]),
    (HOSTILE, "operator", [[1]], ["graph 0, operator 0", "\"op_type\"", "number"]),
    (HOSTILE, "second graph", [*GOOD, 7], ["graph 1", "list of operators"]),
    (HOSTILE, "name", at(("/0/0/op_type", "kn_magic_op")), ["operator 0 (kn_magic_op)", "unknown operator"]),
    (HOSTILE, "line break", at(("/0/0/op_type", "kn_a\nmirage: fine_op")), ["unknown operator \"kn_a\\x0amirage"]),
    (HOSTILE, "long name", at(("/0/0/op_type", "kn_" + "é" * 50 + "_op")), ["unknown operator \"kn_\\xc3\\xa9"]),
    (HOSTILE, "escape", at(("/0/0/op_type", "\x1b[31m")), ["unknown operator \"\\x1b[31m\""]),
    (HOSTILE, "no type", [[{}]], ["\"op_type\" is missing"]),
    (HOSTILE, "type", [[{"op_type": 3}]], ["\"op_type\" should be a string", "number"]),
    (HOSTILE, "no inputs", [[{"op_type": "kn_exp_op"}]], ["\"input_tensors\" is missing"]),
    (HOSTILE, "inputs", [[{"op_type": "kn_exp_op", "input_tensors": {}}]], ["\"input_tensors\" should be a list", "object"]),
    (HOSTILE, "no body", at(("/0/2/bgraph",)), ["kn_customized_op", "\"bgraph\" is missing"]),
    (HOSTILE, "body", at(("/0/2/bgraph", [])), ["\"grid_dim\"", "array"]),
    (HOSTILE, "grid", at(("/0/2/bgraph/grid_dim", {"x": 1})), ["\"grid_dim\"", "\"y\" is missing"]),
    (HOSTILE, "devices", at(("/0/3/op_type", "kn_allreduce_op")), ["kn_allreduce_op", "over devices"]),
    (SPLITS, "grid", at(("/0/2/bgraph/grid_dim/x", 7)), ["block operator 1 (tb_input_op)", "axis 1 of extent 48", "grid_dim x 7"]),
    (SPLITS, "chunk", x_op("kn_chunk_1_op", [tensor(i, 4, 2) for i in range(2, 5)]), ["chunk", "axis 1 of extent 8", "3 equal parts"]),
    (SPLITS, "chunk into nothing", x_op("kn_chunk_1_op", []), ["chunk", "axis 1 of extent 8", "0 equal parts"]),
    (SPLITS, "chunk size", x_op("kn_chunk_1_op", [tensor(2, 4, 4), tensor(3, 4, 4)], chunk_size=3), ["\"chunk_size\" 3", "2 results", "4"]),
    (SPLITS, "chunk axis", x_op("kn_chunk_5_op", [tensor(2, 4, 4)]), ["axis 5", "rank 2"]),
    (SPLITS, "split", x_op("kn_split_1_op", [tensor(2, 4, 5), tensor(3, 4, 4)]), ["split", "[5, 4]", "axis 1 of extent 8"]),
    (SPLITS, "split axis", x_op("kn_split_5_op", [tensor(2, 4, 5)]), ["axis 5", "f16[4,5]"]),
    (SPLITS, "reduction", at((f"{OPS}/3/op_type", "tb_reduction_1_to_dimx_op")), ["axis 1 of extent 8", "reduction_dimx 64"]),
    (SPLITS, "by zero", at((f"{OPS}/3/op_type", "tb_reduction_1_to_dimx_op"), ("/0/2/bgraph/reduction_dimx", 0)), ["reduction_dimx 0"]),
    (GRID, "one axis", at((f"{OPS}/6/output_map/x", -1)), ["tb_output_op", "grid axis x (6 blocks) is not bound"]),
    (GRID, "second axis", at(("/0/2/bgraph/grid_dim/y", 2)), ["tb_output_op", "grid axis y (2 blocks) is not bound"]),
    (GRID, "third axis", at(("/0/2/bgraph/grid_dim/z", 3)), ["tb_output_op", "grid axis z (3 blocks) is not bound"]),
    (GRID, "no blocks", at(("/0/2/bgraph/grid_dim/x", 0)), ["\"grid_dim\" x is 0", "at least 1"]),
    (GRID, "negative", at(("/0/2/bgraph/grid_dim/y", -3)), ["\"grid_dim\" y is -3", "at least 1"]),
    (GRID, "no output", at(("/0/2/output_tensors", [])), ["tb_output_op", "0 output tensors"]),
    (OVERLAP, "another axis", at((f"{OPS}/6/output_map/x", 0)), ["f16[2,48]", "f16[12,8]"]),
    (OVERLAP, "no such axis", at((f"{OPS}/6/output_map/x", 2)), ["\"output_map\" x is 2", "-1 to 1"]),
    (OVERLAP, "strides", at(("/0/3/output_strides", [1, 1])), ["output 0", "strides [1, 1]", "overlap"]),
    (OVERLAP, "rank of strides", at(("/0/3/output_strides", [48])), ["output 0", "2 strides, found 1"]),
    (OVERLAP, "in the loop", at((f"{OPS}/6/input_tensors/0/guid", 20000002)), ["tb_output_op", "changes with the loop"]),
    (OVERLAP, "one output twice", at((f"{OPS}", [*GOOD[0][2]["bgraph"]["operators"], GOOD[0][2]["bgraph"]["operators"][6]])),
     ["block operator 7", "only 1 output tensor"]),
    (LOOPS, "indivisible", at(("/0/2/bgraph/forloop_range", 5)), ["axis 1 of extent 64", "forloop_range of 5"]),
    (LOOPS, "none", at(("/0/2/bgraph/forloop_range", 0)), ["\"forloop_range\" is 0", "at least 1"]),
    (LOOPS, "negative", at(("/0/2/bgraph/forloop_range", -4)), ["\"forloop_range\" is -4", "at least 1"]),
    (LOOPS, "fraction", at(("/0/2/bgraph/forloop_range", 4.5)), ["\"forloop_range\"", "64-bit integer"]),
    (LOOPS, "missing", at(("/0/2/bgraph/forloop_range",)), ["\"forloop_range\" is missing"]),
    (LOOPS, "axis", at((f"{OPS}/0/forloop_dim", -2)), ["\"forloop_dim\" is -2", "-1 to 1"]),
    (LOOPS, "outside", at((f"{OPS}/3/op_type", "tb_exp_op")), ["tb_div_op", "mixes a value of the loop"]),
    (SIZE, "extents", at(("/0/0/output_tensors/0/dim", [2**62, 4, 0, 0])), ["input %0", "[4611686018427387904,4] is too large"]),
    (SIZE, "beyond 64 bits", at(("/0/0/output_tensors/0/dim", [2, 2**64 - 1, 0, 0])), ["\"dim\"", "64-bit integers"]),
    (SIZE, "far beyond", at(("/0/0/output_tensors/0/dim", [2, 10**30, 0, 0])), ["\"dim\"", "64-bit integers"]),
    (SIZE, "negative", at(("/0/0/output_tensors/0/dim", [2, -64, 0, 0])), ["input %0", "negative extent", "[2,-64]"]),
    (SIZE, "rank", at(("/0/0/output_tensors/0/dim", [1] * 9)), ["\"dim\" has 9 entries", "at most 8"]),
    (SIZE, "strides", at(("/0/0/input_strides", [2**63 - 1, 1])), ["input %0", "strides", "too large"]),
    (SIZE, "grid", at(("/0/2/bgraph/grid_dim/x", 2**63 - 1)), ["product of its axes is too large"]),
    (SIZE, "threads", at(("/0/2/bgraph/block_dim/x", 100000)), ["\"block_dim\" x is 100000", "1 to 1024"]),
    (SIZE, "loop", at(("/0/2/bgraph/forloop_range", 2**62)), ["product of its axes is too large"]),
    (SIZE, "guid", at(("/0/0/output_tensors/0/guid", 2**70)), ["\"guid\"", "64-bit integer"]),
    (NAN, "scalar", raw('[[{"op_type": "kn_mul_scalar_op", "scalar": NaN}]]'), ["not JSON"]),
    (NAN, "infinite scalar", raw('[[{"op_type": "kn_mul_scalar_op", "scalar": Infinity}]]'), ["not JSON"]),
    (NAN, "too large", raw('[[{"op_type": "kn_mul_scalar_op", "scalar": 1e400}]]'), ["not JSON"]),
    (NAN, "null", x_op("kn_mul_scalar_op", [tensor(2, 4, 8)], scalar=None), ["\"scalar\" should be a number", "null"]),
    (NAN, "text", x_op("kn_mul_scalar_op", [tensor(2, 4, 8)], scalar="nan"), ["\"scalar\" should be a number", "string"]),
    (NAN, "lost", x_op("kn_mul_scalar_op", [tensor(2, 4, 8)]), ["lost its scalar", "\"scalar\""]),
    (NAN, "lost bounds", x_op("kn_clamp_op", [tensor(2, 4, 8)], min_val=0), ["lost its scalar", "\"max_val\""]),
    (NAN, "crossed bounds", x_op("kn_clamp_op", [tensor(2, 4, 8)], min_val=2, max_val=1), ["clamp", "lo <= hi", "[2, 1]"]),
    (EMPTY, "nothing", [[]], ["graph 0", "no operators"]),
    (EMPTY, "an input", [GOOD[0][:1]], ["graph 0", "no operators"]),
    (EMPTY, "input and output", [[op("kn_input_op", [], [tensor(1, 4)]), op("kn_output_op", [tensor(1, 4)], [])]], ["graph 0", "no operators"]),
    (EMPTY, "second", [GOOD[0], []], ["graph 1", "no operators"]),
    (EMPTY, "block", at((f"{OPS}", []), ("/0/2/input_tensors", []), ("/0/2/output_tensors", [])), ["kn_customized_op", "no operators"]),
]  # fmt: skip


# Python -----------------------------------------------------------------------------------------
def tile(grid=(2, 1, 1), loop=1, shape=(4, 8)):
    graph = mi.new_kernel_graph()
    return mi.new_threadblock_graph(grid, (128, 1, 1), loop, 64), graph.new_input(shape)


def store(output_map, grid=(2, 1, 1), input_map=(0, -1, -1), loop=1, forloop_dim=-1):
    block, x = tile(grid, loop)
    block.new_output(block.new_input(x, input_map, forloop_dim), output_map)


def run(*arrays, out=None):
    graph = mi.Graph()
    graph.exp(graph.input((4, 8)))
    return graph(*arrays, out=out)


ONES = np.ones((4, 8), np.float32)
PYTHON = [
    (SHAPES, "matmul", lambda g, x: g.matmul(x, x), ["matmul %1", "k=8", "k=4"]),
    (SHAPES, "scalar matmul", lambda g, x: x @ 2, ["matmul", "[4,8] and []"]),
    (SHAPES, "broadcast", lambda g, x: x + g.input((3, 8)), ["add", "axis 0", "4 and 3"]),
    (SHAPES, "types", lambda g, x: x + g.input((4, 8), "f16"), ["add", "f32 and f16"]),
    (SHAPES, "operands", lambda g, x: g.silu(x, x), ["silu", "1 operand, found 2"]),
    (SHAPES, "layer_norm", lambda g, x: g.layer_norm(x, g.input((7,))), ["layer_norm", "weight [7]", "[4,8]"]),
    (SHAPES, "rms_norm", lambda g, x: g.rms_norm(x, normalized_shape=(4,)), ["rms_norm", "[4]", "[4,8]"]),
    (SHAPES, "softmax", lambda g, x: g.softmax(x, 2), ["softmax", "axis 2", "rank 2"]),
    (SHAPES, "operand of a block", lambda g, x: mi.new_kernel_graph().customized([], tile()[0]), ["no operators"]),
    (SHAPES, "array", lambda g, x: run(np.ones((4, 9), np.float32)), ["input 0", "(4, 8)", "(4, 9)"]),
    (SHAPES, "result array", lambda g, x: run(ONES, out=np.ones((4, 9), np.float32)), ["output 0", "(4, 8)", "(4, 9)"]),
    (SHAPES, "number of arrays", lambda g, x: run(ONES, ONES), ["1 input", "2"]),
    (DTYPE, "name", lambda g, x: g.input((2,), "f17"), ["unknown dtype f17"]),
    (DTYPE, "complex", lambda g, x: g.input((2,), np.complex64), ["unknown dtype", "complex64"]),
    (DTYPE, "object", lambda g, x: g.input((2,), object()), ["dtype"]),
    (DTYPE, "nothing", lambda g, x: g.input((2,), None), ["dtype"]),
    (DTYPE, "list", lambda g, x: g.input((2,), ["f32"]), ["dtype"]),
    (DTYPE, "published", lambda g, x: mi.new_kernel_graph().new_input((2,), dtype="float17"), ["unknown dtype float17"]),
    (DTYPE, "array", lambda g, x: run(ONES.astype(np.float64)), ["input", "f32", "f64"]),
    (DTYPE, "complex array", lambda g, x: run(ONES.astype(np.complex64)), ["input", "f32"]),
    (DTYPE, "array of objects", lambda g, x: run(np.full((4, 8), None)), ["input"]),
    (DANGLING, "tensor of another graph", lambda g, x: g.add(x, mi.Graph().input((4, 8))), ["add", "operand 1", "another graph"]),
    (DANGLING, "output of another graph", lambda g, x: g.mark_output(mi.Graph().input((2,))), ["mark_output", "another graph"]),
    (DANGLING, "kernel tensor in a block", lambda g, x: tile()[0].exp(x), ["exp", "operand 0", "another graph"]),
    (DANGLING, "no tensor", lambda g, x: g.exp(None), ["exp", "operand 0", "NoneType"]),
    (DANGLING, "no output", lambda g, x: g.output("y"), ["mark_output", "tensor of this graph"]),
    (DANGLING, "result of a store", lambda g, x: (lambda b, t: b.exp(b.new_output(b.new_input(t, (0, -1, -1), -1), (0, -1, -1))))(*tile()),
     ["exp", "result of a store"]),
    (HOSTILE, "surrogate in text", lambda g, x: mi.parse("kernel @f(%x: f32[4]) { \ud800 }"), ["UTF-8"]),
    (HOSTILE, "surrogate in a name", lambda g, x: mi.Graph("\ud800"), ["UTF-8"]),
    (HOSTILE, "surrogate in the name of an input", lambda g, x: g.input((2,), name="\ud800"), ["name", "UTF-8"]),
    (HOSTILE, "surrogate in a dtype", lambda g, x: g.input((2,), "\ud800"), ["dtype", "UTF-8"]),
    (HOSTILE, "null byte", lambda g, x: mi.load("a\0b.mu"), ["null byte", "a"]),
    (HOSTILE, "path of other bytes", lambda g, x: mi.load("\udcff.txt"), ["\\xff.txt", ".mu or .json"]),
    (HOSTILE, "surrogate in a path", lambda g, x: mi.load("\ud800.mu"), ["mu"]),
    (HOSTILE, "epoch", lambda g, x: mi.load("a.json", epoch="middle"), ["epoch", "old or new", "middle"]),
    (HOSTILE, "argument", lambda g, x: g.sum(x, keepdims=True, axis=1), ["sum", "keepdims"]),
    (HOSTILE, "axis", lambda g, x: g.sum(x, "last"), ["sum: axis", "'last'"]),
    (HOSTILE, "no target", lambda g, x: (g.exp(x), mi.optimize(g, "z80")), ["unknown target z80"]),
    (SPLITS, "chunk", lambda g, x: g.chunk(x, 3, 1), ["chunk", "axis 1 of extent 8", "3 equal parts"]),
    (SPLITS, "chunk by zero", lambda g, x: g.chunk(x, 0, 1), ["chunk", "axis 1 of extent 8", "0 equal parts"]),
    (SPLITS, "chunk by minus one", lambda g, x: g.chunk(x, -1, 1), ["chunk", "-1 equal parts"]),
    (SPLITS, "chunk axis", lambda g, x: g.chunk(x, 2, 2), ["chunk", "axis 2", "rank 2"]),
    (SPLITS, "split", lambda g, x: g.split(x, (3, 4), 1), ["split", "[3, 4]", "axis 1 of extent 8"]),
    (SPLITS, "negative part", lambda g, x: g.split(x, (9, -1), 1), ["split", "[9, -1]", "axis 1 of extent 8"]),
    (SPLITS, "grid", lambda g, x: store((0, -1, -1), (3, 1, 1)), ["new_input", "axis 0 of extent 4", "3 steps of block axis x"]),
    (SPLITS, "sum_todimx", lambda g, x: (lambda b, t: b.forloop_accum(b.new_input(t, (0, -1, -1), -1), "sum_todimx"))(*tile()),
     ["forloop_accum", "extent 8", "reduction_dimx 64"]),
    (GRID, "not stored", lambda g, x: store((-1, -1, -1)), ["store", "grid axis x (2 blocks) is not bound"]),
    (GRID, "second axis", lambda g, x: store((0, -1, -1), (2, 4, 1), (0, 1, -1)), ["store", "grid axis y (4 blocks)"]),
    (GRID, "map", lambda g, x: store((0, -1)), ["new_output", "3 entries", "(0, -1)"]),
    (GRID, "no blocks", lambda g, x: tile((0, 1, 1)), ["axis x", "at least one step, found 0"]),
    (GRID, "nothing stored", lambda g, x: (lambda b: (b.load(b.input(x), [[0], []]), g.block(b, x)))(tile()[0]), ["stores nothing"]),
    (OVERLAP, "axis out of range", lambda g, x: store((2, -1, -1)), ["new_output", "axis x", "axis 2", "rank 2"]),
    (OVERLAP, "strides", lambda g, x: (g.mark_output(g.exp(x), strides=(1, 1)), g.hash), ["output 0", "strides [1, 1]", "overlap"]),
    (OVERLAP, "broadcast", lambda g, x: (g.mark_output(g.exp(x), strides=(0, 1)), g.hash), ["output 0", "strides [0, 1]", "overlap"]),
    (OVERLAP, "in the loop", lambda g, x: store((0, -1, -1), loop=4, forloop_dim=1), ["store", "changes with the loop"]),
    (OVERLAP, "output is the input", lambda g, x: (lambda a: run(a, out=a))(ONES.copy()), ["output 0 shares memory with input 0"]),
    (OVERLAP, "output is part of the input", lambda g, x: (lambda a: run(a[:4], out=a[2:6]))(np.ones((8, 8), np.float32)), ["output 0 shares memory with input 0"]),
    (OVERLAP, "read-only output", lambda g, x: run(ONES, out=np.broadcast_to(np.float32(0), (4, 8))), ["output"]),
    (LOOPS, "indivisible", lambda g, x: store((0, -1, -1), loop=5, forloop_dim=1), ["new_input", "axis 1 of extent 8", "5 steps of block axis i"]),
    (LOOPS, "none", lambda g, x: tile(loop=0), ["axis i", "at least one step, found 0"]),
    (LOOPS, "negative", lambda g, x: tile(loop=-1), ["axis i", "at least one step, found -1"]),
    (LOOPS, "axis", lambda g, x: store((0, -1, -1), loop=4, forloop_dim=-2), ["new_input", "axis i", "axis -2"]),
    (LOOPS, "result in the loop", lambda g, x: (lambda b, t: b.new_output(b.new_input(t, (0, -1, -1), -1), (0, -1, -1), 1))(*tile(loop=4)),
     ["new_output", "steps of the loop"]),
    (LOOPS, "twice", lambda g, x: (lambda b, t: b.forloop_accum(b.forloop_accum(b.new_input(t, (0, -1, -1), 1))))(*tile(loop=4)),
     ["accum", "only after the loop"]),
    (SIZE, "extents", lambda g, x: g.input((2**40, 2**40)), ["input", "too large"]),
    (SIZE, "beyond 64 bits", lambda g, x: g.input((2**70,)), ["input", "64 bits"]),
    (SIZE, "negative", lambda g, x: g.input((2, -2)), ["input", "negative extent", "[2,-2]"]),
    (SIZE, "rank", lambda g, x: g.input((1,) * 9), ["input", "rank 9"]),
    (SIZE, "strides", lambda g, x: g.input((4, 8), strides=(2**62, 1)), ["input", "strides", "too large"]),
    (SIZE, "strides beyond 64 bits", lambda g, x: g.input((4, 8), strides=(2**70, 1)), ["64 bits"]),
    (SIZE, "result", lambda g, x: g.input((2**30, 1)) + g.input((1, 2**30)), ["add", "too large"]),
    (SIZE, "grid", lambda g, x: tile((2**40, 2**40, 1)), ["block", "too large"]),
    (SIZE, "grid beyond 64 bits", lambda g, x: tile((2**70, 1, 1)), ["64 bits"]),
    (SIZE, "threads beyond 64 bits", lambda g, x: mi.new_threadblock_graph((1, 1, 1), (2**40, 2**40, 1), 1, 64), ["64 bits"]),
    (SIZE, "axis beyond 64 bits", lambda g, x: g.sum(x, 2**70), ["sum: axis"]),
    (SIZE, "narrow", lambda g, x: g.narrow(x, 1, 2**62, 2**62), ["narrow", "axis 1 of extent 8"]),
    (NAN, "number", lambda g, x: x * float("nan"), ["const", "NaN"]),
    (NAN, "numpy number", lambda g, x: x * np.float32("nan"), ["const", "NaN"]),
    (NAN, "bound", lambda g, x: g.clamp(x, float("nan"), 0), ["clamp", "NaN"]),
    (NAN, "crossed bounds", lambda g, x: g.clamp(x, 1, 0), ["clamp", "lo <= hi", "[1, 0]"]),
    (NAN, "eps", lambda g, x: g.layer_norm(x, eps=float("nan")), ["layer_norm", "eps >= 0", "nan"]),
    (NAN, "negative eps", lambda g, x: g.rms_norm(x, eps=-1.0), ["rms_norm", "eps >= 0", "-1"]),
    (NAN, "complex", lambda g, x: x * 1j, ["mul", "operand 1", "complex"]),
    (NAN, "large integer", lambda g, x: x * 10**400, ["mul", "operand 1"]),
    (NAN, "time limit", lambda g, x: (g.exp(x), mi.optimize(g, time_limit=float("nan"))), ["time", "nan"]),
    (EMPTY, "hash", lambda g, x: g.hash, ["graph", "no operators"]),
    (EMPTY, "outputs", lambda g, x: g.outputs, ["graph", "no operators"]),
    (EMPTY, "call", lambda g, x: g(ONES), ["graph", "no operators"]),
    (EMPTY, "optimize", lambda g, x: mi.optimize(g), ["graph", "no operators"]),
    (EMPTY, "superoptimize", lambda g, x: mi.new_kernel_graph().superoptimize(), ["graph", "no operators"]),
    (EMPTY, "verify", lambda g, x: mi.verify(g, g), ["graph", "no operators"]),
    (EMPTY, "evaluate", lambda g, x: mi.evaluate(g, ONES), ["graph", "no operators"]),
    (EMPTY, "to_json", lambda g, x: g.mugraph_json(), ["graph", "no operators"]),
    (EMPTY, "block", lambda g, x: g.block(tile()[0]), ["block", "no operators"]),
    (EMPTY, "text", lambda g, x: mi.parse("kernel @f(%x: f32[4]) {}"), ["graph @f", "no operators"]),
]  # fmt: skip


# The command line beside files --------------------------------------------------------------------
FINE = k("%y = exp %x")
CLI = [
    (SHAPES, "array", ["run", "p.mu", "--input", "x=wide.npy"], ["input x", "[4,8]", "[4,9]"]),
    (SHAPES, "programs", ["verify", "p.mu", "q.mu"], ["[4,8]", "[4,9]"]),
    (DTYPE, "array", ["run", "p.mu", "--input", "x=complex.npy"], ["complex.npy", "element type", "c8"]),
    (DTYPE, "epoch", ["show", "p.mu", "--epoch", "mid"], ["--epoch", "old or new", "mid"]),
    (DANGLING, "input", ["run", "p.mu", "--input", "q=x.npy"], ["--input q", "one of x"]),
    (DANGLING, "graph", ["show", "p.mu#7"], ["p.mu", "1 graph", "#7"]),
    (HOSTILE, "array", ["run", "p.mu", "--input", "x=short.npy"], ["short.npy", "truncated"]),
    (HOSTILE, "target", ["optimize", "p.mu", "--target", "z80\nmirage: fine"], ["unknown target z80\\x0amirage"]),
    (HOSTILE, "extension", ["show", "p.txt"], [".mu or .json"]),
    (SPLITS, "threads", ["optimize", "p.mu", "--threads", "1.5"], ["--threads", "1.5"]),
    (GRID, "no threads", ["run", "p.mu", "--random", "1", "--threads", "0"], ["--threads", "0"]),
    (OVERLAP, "one input twice", ["run", "p.mu", "--input", "x=x.npy", "--input", "0=x.npy"], ["--input 0", "twice"]),
    (LOOPS, "no candidates", ["optimize", "p.mu", "--top", "0"], ["--top", "0"]),
    (SIZE, "number", ["optimize", "p.mu", "--max-states", "99999999999999999999"], ["--max-states", "99999999999999999999"]),
    (SIZE, "seed", ["run", "p.mu", "--random", "-1"], ["--random", "-1"]),
    (NAN, "time limit", ["optimize", "p.mu", "--time-limit", "nan"], ["--time-limit", "nan"]),
    (NAN, "endless", ["optimize", "p.mu", "--time-limit", "inf"], ["--time-limit", "inf"]),
    (NAN, "negative", ["optimize", "p.mu", "--time-limit", "-1"], ["--time-limit", "-1"]),
    (EMPTY, "no file", ["show"], ["FILE"]),
    (EMPTY, "empty file", ["show", "empty.mu"], ["empty.mu", "expected kernel"]),
]  # fmt: skip
# What a file goes through: every subcommand that reads one.
COMMANDS = [
    ["show"], ["optimize"], ["lower"], ["emit"], ["search"], ["explain"], ["bench"], ["run", "--random", "1"],
    ["convert", "--to"], ["verify", "--with"],
]  # fmt: skip
FILES = [(*row[:2], "mu", *row[2:]) for row in MU] + [(*row[:2], "json", *row[2:]) for row in JSON]


def ids(rows):
    return ["-".join(word for word in row[:3] if isinstance(word, str)).replace(" ", "_")[:70] for row in rows]


def has_in_order(parts, message):
    place = 0
    for part in parts:
        found = message.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def write(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def refused(words, folder, parts):
    """Exit code 64, nothing printed, one line that has the parts."""
    done = subprocess.run([MIRAGE, *words], capture_output=True, cwd=folder, timeout=120, stdin=subprocess.DEVNULL)
    error = done.stderr.decode()
    assert done.stdout == b""
    assert error.startswith("mirage: ") and error.count("\n") == 1 and error.endswith("\n")
    assert has_in_order(parts, error), error
    return done.returncode


@pytest.mark.skipif(MIRAGE is None, reason="no program mirage in PATH")
@pytest.mark.parametrize("number", range(len(FILES)), ids=ids(FILES))
def test_files_by_command(tmp_path, number):
    _, _, extension, content, parts = FILES[number]
    name = f"bad.{extension}"
    write(tmp_path / name, content)
    command, *words = COMMANDS[number % len(COMMANDS)]
    if words == ["--to"]:
        words = ["out.mu"]
    elif words == ["--with"]:
        words = [name]
    code = refused([command, name, *words], tmp_path, [f"{name}", *parts])
    lost = "lost its scalar" in parts or "over devices" in parts
    assert code == (69 if lost else 64)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("row", FILES, ids=ids(FILES))
def test_files_in_python(tmp_path, row):
    _, _, extension, content, parts = row
    path = write(tmp_path / f"bad.{extension}", content)
    lost = "lost its scalar" in parts or "over devices" in parts
    kind = mi.UnsupportedError if lost else mi.InputError
    with pytest.raises(kind) as caught:
        mi.load(path, "old")
    assert has_in_order([f"bad.{extension}", *parts], str(caught.value)), str(caught.value)
    assert lost or isinstance(caught.value, ValueError)
    if extension == "json":
        graph = mi.new_kernel_graph()
        with pytest.raises(kind):
            graph.from_json(path, epoch="old")
        assert graph.inputs == []
    elif isinstance(content, str):
        with pytest.raises(mi.InputError) as again:
            mi.parse(content)
        assert has_in_order(parts, str(again.value))


@pytest.mark.parametrize("row", PYTHON, ids=ids(PYTHON))
def test_calls(row):
    _, _, call, parts = row
    graph = mi.Graph()
    x = graph.input((4, 8))
    with pytest.raises((ValueError, mi.UnsupportedError)) as caught:
        call(graph, x)
    assert isinstance(caught.value, mi.Error), repr(caught.value)
    assert has_in_order(parts, str(caught.value)), str(caught.value)


@pytest.mark.skipif(MIRAGE is None, reason="no program mirage in PATH")
@pytest.mark.parametrize("row", CLI, ids=ids(CLI))
def test_command_lines(tmp_path, row):
    _, _, words, parts = row
    write(tmp_path / "p.mu", FINE)
    write(tmp_path / "q.mu", FINE.replace("8]", "9]"))
    write(tmp_path / "p.txt", FINE)
    write(tmp_path / "empty.mu", "")
    np.save(tmp_path / "x.npy", ONES)
    np.save(tmp_path / "wide.npy", np.ones((4, 9), np.float32))
    np.save(tmp_path / "complex.npy", ONES.astype(np.complex64))
    write(tmp_path / "short.npy", (tmp_path / "x.npy").read_bytes()[:-1])
    assert refused(words, tmp_path, parts) == 64


def test_every_class_has_rows_everywhere():
    for rows in (MU, JSON, PYTHON, CLI):
        assert {row[0] for row in rows} == set(CLASSES)
        names = [row[:2] for row in rows]
        assert len(set(names)) == len(names)
