"""Programs that the Triton back end is tested with, with and without a GPU."""

import math
import re

import mirage as mi
import numpy as np

# Block graphs as people and the published search write them: ragged tiles, odd strides, moves.
BLOCKS = {
    "attention_ragged_queries": """
kernel(%q: f16[2,50,20], %k: f16[2,20,200], %v: f16[2,200,24]) -> f16[2,50,24] {
  %o = block(%q, %k, %v) axes(b: grid 2, m: grid 3, n: loop 4) {
    %a = load %q [b, m, .]
    %c = load %k [b, ., n]
    %d = load %v [b, n, .]
    %e = exp (matmul %a, %c)
    %l = accum sum (sum %e axis=2)
    %t = accum sum (matmul %e, %d)
    store (div %t, %l) [b, m, .] shape=[2,50,24]
  }
  return %o
}""",
    "norm_and_product_of_ragged_columns": """
kernel(%x: bf16[1,70] strides(200,2), %w: bf16[70,45] strides(1,80)) -> bf16[1,45] {
  %y = block(%x, %w) axes(n: grid 4, k: loop 3) {
    %a = load %x [., k]
    %b = load %w [k, n]
    %m = accum sum (matmul %a, %b)
    %q = accum sum (sum (square %a) axis=1)
    store (div %m, sqrt %q) [., n] shape=[1,45]
  }
  return %y
}""",
    "tails_that_add_to_the_front": """
kernel(%x: f32[7,10]) -> f32[3,10] {
  %y = block(%x) axes(i: loop 3) {
    %a = load %x [i, .]
    %s = accum sum %a
    store %s [., .]
  }
  return %y
}""",
    "largest_of_tails": """
kernel(%x: f32[7,10]) -> f32[3,10] {
  %y = block(%x) axes(i: loop 3) {
    %a = load %x [i, .]
    %s = accum max (neg %a)
    store %s [., .]
  }
  return %y
}""",
    "two_loops_and_a_mean": """
kernel(%x: f32[6,12]) -> f32[1,1] {
  %y = block(%x) axes(i: loop 3, j: loop 2) {
    %a = load %x [i, j]
    %s = accum mean (mean (mean (exp %a) axis=0) axis=1)
    store %s [., .]
  }
  return %y
}""",
    "running_maximum": """
kernel(%x: f32[3,24]) -> f32[3,1] {
  %y = block(%x) axes(i: loop 4) {
    %a = load %x [., i]
    %m, %d = running_max %a axis=1
    %l = accum_rescale (sum (exp (sub %a, %m)) axis=1), exp %d
    store %l [., .]
  }
  return %y
}""",
    "transposed_right_operand": """
kernel(%x: f16[33,18], %w: f16[21,18]) -> f16[33,21] {
  %y = block(%x, %w) axes() {
    %a = load %x [., .]
    %b = load %w [., .]
    store (matmul (silu %a), (transpose %b perm=[1,0])) [., .]
  }
  return %y
}""",
    "joined_columns": """
kernel(%x: f32[5,6], %y: f32[5,11]) -> f32[5,17] {
  %z = block(%x, %y) axes() {
    %a = load %x [., .]
    %b = load %y [., .]
    store (concat %a, (exp %b) axis=1) [., .]
  }
  return %z
}""",
    "a_cut_of_what_was_computed": """
kernel(%x: f32[5,14]) -> f32[5,4] {
  %z = block(%x) axes() {
    %a = load %x [., .]
    store (mul (narrow %a axis=1 start=9 length=4), (narrow (exp %a) axis=1 start=3 length=4)) [., .]
  }
  return %z
}""",
    "one_column_of_what_was_computed": """
kernel(%x: f32[5,14]) -> f32[5,1] {
  %z = block(%x) axes() {
    %a = load %x [., .]
    store (add (narrow (exp %a) axis=1 start=13 length=1), (narrow %a axis=1 start=2 length=1)) [., .]
  }
  return %z
}""",
    "groups_of_columns": """
kernel(%x: f32[3,24]) -> f32[3,8] {
  %z = block(%x) axes() {
    %a = load %x [., .]
    store (reshape (sum (reshape (exp %a) shape=[3,3,8]) axis=1) shape=[3,8]) [., .]
  }
  return %z
}""",
    "batches_of_batches": """
kernel(%x: f16[2,3,17,20], %y: f16[2,1,20,18]) -> f16[2,3,17,18] {
  %z = block(%x, %y) axes() {
    %a = load %x [., ., ., .]
    %b = load %y [., ., ., .]
    store (matmul %a, %b) [., ., ., .]
  }
  return %z
}""",
    "a_row_that_meets_rows": """
kernel(%x: f16[1,40], %w: f16[40,20], %r: f16[33,20]) -> f16[33,20] {
  %z = block(%x, %w, %r) axes() {
    %a = load %x [., .]
    %b = load %w [., .]
    %c = load %r [., .]
    store (add %c, (matmul %a, %b)) [., .]
  }
  return %z
}""",
    "sum_of_rows_times_a_matrix": """
kernel(%x: f16[9,40], %w: f16[40,20]) -> f16[1,20] {
  %z = block(%x, %w) axes() {
    %a = load %x [., .]
    %b = load %w [., .]
    store (matmul (sum %a axis=0), %b) [., .]
  }
  return %z
}""",
    "outer_product": """
kernel(%x: f16[9,1], %w: f16[1,20]) -> f16[9,20] {
  %z = block(%x, %w) axes() {
    %a = load %x [., .]
    %b = load %w [., .]
    store (matmul %a, %b) [., .]
  }
  return %z
}""",
    "double_precision": """
kernel(%x: f64[20,33], %w: f64[33,18]) -> f64[20,18] {
  %z = block(%x, %w) axes(k: loop 2) {
    %a = load %x [., k]
    %b = load %w [k, .]
    store (clamp (accum sum (matmul (exp %a), %b)) lo=-0.1 hi=3.3) [., .]
  }
  return %z
}""",
    "numbers_and_extents": """
kernel(%x: f32[10,7]) -> f32[10,1] {
  %z = block(%x) axes(m: grid 4) {
    %a = load %x [m, .]
    %n = extent %a axis=0
    store (div (mul (sum (square %a) axis=1), 0.1), (mul %n, (sum (exp %a) axis=1))) [m, .] shape=[10,1]
  }
  return %z
}""",
    "moves_at_kernel_level": """
kernel(%x: f32[6,20] strides(40,2), %y: f32[4,6]) -> f32[24,6] strides(1,30) {
  %t = transpose %x perm=[1,0]
  %j = concat %t, %y axis=0
  %r = reshape %j shape=[6,24]
  %u = transpose %r perm=[1,0]
  %n = exp %u
  return %n
}""",
    "long_reductions": """
kernel(%x: f32[3,9001], %y: f32[9001,5]) -> f32[3,1], f32[1,5], f32[3,5] {
  %a = mean %x axis=1
  %b = max %y axis=0
  %c = matmul %x, %y
  return %a, %b, %c
}""",
}

# What Triton has no words for, and part of the message.
REFUSED = [
    (
        "kernel(%x: f32[8,4096], %w: f32[4096,8]) -> f32[8,8] { %y = block(%x, %w) axes() {"
        " %a = load %x [.,.] %b = load %w [.,.] store (matmul %a, %b) [.,.] } return %y }",
        "of 524288 bytes, of which a program has 232448",
    ),
    (
        "kernel(%x: f32[2,1200,1500]) -> f32[2,1,1] { %y = block(%x) axes() { %a = load %x [.,.,.]"
        " store (max (max (exp %a) axis=1) axis=2) [.,.,.] shape=[2,1,1] } return %y }",
        "of 8388608 elements, of which Triton has 1048576",
    ),
    (
        "kernel(%x: f32[6,5]) -> f32[3,10] { %y = block(%x) axes() { %a = load %x [.,.]"
        " store (reshape (exp %a) shape=[3,10]) [.,.] } return %y }",
        "are padded differently",
    ),
    (
        "kernel(%x: f32[6] strides(-1)) -> f32[6] { %y = exp %x return %y }",
        "PyTorch has no negative strides",
    ),
    ("kernel(%x: i32[6]) -> i32[6] { %y = neg %x return %y }", "no arithmetic on i32"),
]


def parse_one(text):
    (graph,) = mi.parse(text)
    return graph


def _smaller(extent):
    """A small extent that no tile divides, the same for equal ones."""
    return extent if extent <= 8 else {16: 13, 64: 40, 256: 50}.get(extent, 60 + extent % 97)


def small_examples(folder):
    return sorted(path.stem for path in folder.glob("*.mu"))


def small_example(folder, name):
    """An example at small extents."""
    text = re.sub(r"//.*", "", (folder / f"{name}.mu").read_text())
    shapes = re.compile(r"(f32|f16|bf16)\[([\d,]+)\]( strides\(1,\d+\))?")

    def small(match):
        extents = [_smaller(int(extent)) for extent in match[2].split(",")]
        strides = f" strides(1,{extents[0]})" if match[3] else ""
        return f"{match[1]}[{','.join(map(str, extents))}]{strides}"

    return parse_one(shapes.sub(small, text))


def elementwise():
    """Names of the operators on elements."""
    return [
        row["name"]
        for row in mi.op_table()
        if "thread" in row["levels"]
        and row["arity"] in (1, 2)
        and row["attributes"] in ([], ["lo", "hi"])
    ]


def elementwise_graph(op, dtype):
    """The operator on 5 x 7 elements of positive numbers."""
    arity = next(row["arity"] for row in mi.op_table() if row["name"] == op)
    graph = mi.Graph()
    x = [graph.square(graph.input((5, 7), dtype)) + 0.25 for _ in range(arity)]
    if op in ("neg", "relu", "silu", "sigmoid", "gelu", "tanh", "clamp", "exp"):
        x = [x[0] - 1]
    graph.output(getattr(graph, op)(*x, *([0.1, 0.7] if op == "clamp" else [])))
    return graph


def inputs_of(specs, seed, scale=1.0):
    """An array of random numbers for each (shape, strides, NumPy type)."""
    rng = np.random.default_rng(seed)
    return [(scale * rng.standard_normal(shape)).astype(dtype) for shape, _, dtype in specs]


def strided(array, strides):
    """The same elements at these strides."""
    reach = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides))
    memory = np.zeros(max(reach, 1), array.dtype)
    view = np.lib.stride_tricks.as_strided(
        memory, array.shape, [s * array.itemsize for s in strides]
    )
    view[...] = array
    return view


def assert_close(found, wanted, tolerance, where):
    """Relative to the largest element of the reference; NaN and infinities must agree."""
    found, wanted = found.astype(np.float64), np.asarray(wanted, np.float64)
    assert found.shape == wanted.shape
    is_finite = np.isfinite(wanted)
    np.testing.assert_array_equal(found[~is_finite], wanted[~is_finite], err_msg=where)
    if not is_finite.any():
        return
    size = max(float(np.abs(wanted[is_finite]).max()), math.ulp(1))
    error = float(np.abs(found - wanted)[is_finite].max()) / size
    assert error <= tolerance, f"{where}: error {error:.3g} of {tolerance:.3g}"
