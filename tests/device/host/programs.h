#pragma once
// Programs whose kernels for sm_90 have a known form: a fused block each, small enough to run on
// the CPU.

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "lower/target.h"

namespace mirage::host_kit {

/// The target with what decides about clusters, stages and rows of a cluster.
inline lower::Target gpu(int units, int64_t shared_bytes = 232448) {
  lower::Target target = *lower::target_named("sm_90");
  target.units = units;
  target.scratch_bytes = shared_bytes;
  return target;
}

/// A linear layer over normalised rows: products and sums of squares of the same tiles.
inline std::string linear(std::string_view type, int rows, int columns, int grid, int depth,
                          int steps) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{4}], %w: {0}[{4},{2}]) -> {0}[{1},{2}] {{
  %y = block(%x, %w) axes(n: grid {3}, k: loop {5}) {{
    %a = load %x [., k]
    %s = accum sum (matmul %a, (load %w [k, n]))
    %q = accum sum (sum (square %a) axis=1)
    store (div %s, (sqrt %q)) [., n]
  }}
  return %y
}})",
                     type, rows, columns, grid, depth, steps);
}

/// A linear layer whose left operand is computed: numbers of rows, of columns, and one for all.
inline std::string weighted(std::string_view type, int rows, int columns, int depth, int steps) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{3}], %b: {0}[{1},1], %g: {0}[1,{3}], %c: {0}[1,1], %w: {0}[{3},{2}])
    -> {0}[{1},{2}] {{
  %y = block(%x, %b, %g, %c, %w) axes(k: loop {4}) {{
    %a = tanh (add (mul (load %x [., k]), (exp (load %g [., k]))), (load %b [., .]))
    store (accum sum (matmul (tanh (add %a, (load %c [., .]))), (load %w [k, .]))) [., .]
  }}
  return %y
}})",
                     type, rows, columns, depth, steps);
}

/// Attention to keys of unit length.
inline std::string unit_attention(std::string_view type, int rows, int keys, int width, int steps) {
  return fmt::format(R"(
kernel(%q: {0}[2,{1},{3}], %k: {0}[2,{2},{3}], %v: {0}[2,{2},{3}]) -> {0}[2,{1},{3}] {{
  %y = block(%q, %k, %v) axes(b: grid 2, r: loop {4}) {{
    %a = load %k [b, r, .]
    %n = transpose (sqrt (sum (square %a) axis=2)) perm=[0,2,1]
    %s = matmul (load %q [b, ., .]), (transpose %a perm=[0,2,1])
    %e = exp (div %s, %n)
    %l = accum sum (sum %e axis=2)
    %o = accum sum (matmul %e, (load %v [b, r, .]))
    store (div %o, %l) [b, ., .]
  }}
  return %y
}})",
                     type, rows, keys, width, steps);
}

/// All elementwise operators of one operand, or of two, added up along the rows.
inline std::string elementwise(std::string_view type, int rows, int columns, bool is_binary) {
  const char* const unary[] = {"exp",  "log",  "sqrt", "rsqrt", "square", "sigmoid",
                               "silu", "gelu", "relu", "tanh",  "neg"};
  const char* const binary[] = {"add", "sub", "mul", "div", "pow", "maximum", "minimum"};
  std::string steps, sum = "%p";
  const auto add = [&](const char* name, const char* operands) {
    steps += fmt::format("    %t_{0} = {0} {1}\n", name, operands);
    sum = fmt::format("(add {}, %t_{})", sum, name);
  };
  if (is_binary)
    for (const char* name : binary) add(name, "%p, %r");
  else
    for (const char* name : unary) add(name, "%p");
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}], %z: {0}[{1},{2}]) -> {0}[{1},{2}] {{
  %y = block(%x, %z) axes(m: grid {1}) {{
    %p = add (square (load %x [m, .])), 0.5
    %r = add (square (load %z [m, .])), 0.5
{3}    store (add (clamp {4} lo=-100 hi=100), %r) [m, .]
  }}
  return %y
}})",
                     type, rows, columns, steps, sum);
}

/// What is merged first when a loop has ended.
enum class First { Rows, Products };

/// Attention of `rows` queries, over `steps` steps of the keys.
inline std::string attention(std::string_view type, int rows, int keys, int width, int steps,
                             First first = First::Rows) {
  const std::string sums = "%l = accum sum (sum %e axis=2)";
  const std::string products = "%o = accum sum (matmul %e, (load %v [b, r, .]))";
  return fmt::format(R"(
kernel(%q: {0}[2,{1},{3}], %k: {0}[2,{2},{3}], %v: {0}[2,{2},{3}]) -> {0}[2,{1},{3}] {{
  %y = block(%q, %k, %v) axes(b: grid 2, r: loop {4}) {{
    %kt = transpose (load %k [b, r, .]) perm=[0,2,1]
    %e = exp (matmul (load %q [b, ., .]), %kt)
    {5}
    {6}
    store (div %o, %l) [b, ., .]
  }}
  return %y
}})",
                     type, rows, keys, width, steps, first == First::Rows ? sums : products,
                     first == First::Rows ? products : sums);
}

/// Softmax of rows.
inline std::string softmax(std::string_view type, int rows, int columns) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}]) -> {0}[{1},{2}] {{
  %y = block(%x) axes(m: grid {1}) {{
    %e = exp (load %x [m, .])
    store (div %e, (sum %e axis=1)) [m, .]
  }}
  return %y
}})",
                     type, rows, columns);
}

/// Rows less their means, over their deviations and numbers of rows, times numbers of columns; two
/// reductions that are ready at once.
inline std::string norm(std::string_view type, int rows, int columns) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}], %s: {0}[{1},1], %g: {0}[{2}]) -> {0}[{1},{2}] {{
  %y = block(%x, %s, %g) axes(m: grid 2) {{
    %a = load %x [m, .]
    %q = mean (square %a) axis=1
    %n = div (sub %a, (mean %a axis=1)), (add (sqrt %q), (exp (load %s [m, .])))
    store (mul %n, (load %g [.])) [m, .] shape=[{1},{2}]
  }}
  return %y
}})",
                     type, rows, columns);
}

/// One number of each row.
inline std::string scores(std::string_view type, int rows, int columns) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}]) -> {0}[{1},1] {{
  %y = block(%x) axes(m: grid {1}) {{
    store (sqrt (sum (square (load %x [m, .])) axis=1)) [m, .]
  }}
  return %y
}})",
                     type, rows, columns);
}

/// Reductions down the columns, then along the rows.
inline std::string columns(std::string_view type, int rows, int columns) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}]) -> {0}[{1},{2}] {{
  %y = block(%x) axes(m: grid 1) {{
    %a = load %x [., .]
    %d = sub %a, (sum (square %a) axis=0)
    store (div %d, (sum (square %d) axis=1)) [., .]
  }}
  return %y
}})",
                     type, rows, columns);
}

/// Sums over a loop of sums along the rows.
inline std::string sums(std::string_view type, int rows, int columns, int steps) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}]) -> {0}[{1},1] {{
  %y = block(%x) axes(m: grid 1, k: loop {3}) {{
    store (accum sum (sum (load %x [., k]) axis=1)) [., .]
  }}
  return %y
}})",
                     type, rows, columns, steps);
}

/// A matrix and its maxima as one, which is read again.
inline std::string pasted(std::string_view type, int rows, int columns) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}]) -> {0}[{1},1] {{
  %y = block(%x) axes(m: grid 1) {{
    %a = load %x [., .]
    %p = concat %a, (max %a axis=1) axis=1
    store (sum %p axis=1) [., .]
  }}
  return %y
}})",
                     type, rows, columns);
}

}  // namespace mirage::host_kit
