#pragma once
// Small programs whose mutants and rewrites are judged: the operators of the measured programs at
// sizes where the real-size check is cheap, with fused candidates.

#include <string>
#include <vector>

namespace mirage::testing {

struct MutantProgram {
  const char* name;
  const char* reference;
  const char* candidate;  // equivalent; also mutated. null: the reference itself
};

inline std::vector<MutantProgram> mutant_programs() {
  return {
      {"rms_linear", R"(
kernel @p(%x: f32[8,32], %g: f32[1,32], %w: f32[32,24]) {
  %n = div %x, sqrt (add (mean (square %x) axis=1), 1e-5)
  %y = matmul (mul %n, %g), %w
  return %y
})",
       R"(
kernel @c(%x: f32[8,32], %g: f32[1,32], %w: f32[32,24]) {
  %y = block(%x, %g, %w) axes(m: grid 2, n: grid 3, k: loop 4) {
    %a = load %x [m, k]
    %h = load %g [., k]
    %b = load %w [k, n]
    %s = accum sum (matmul (mul %a, %h), %b)
    %q = accum sum (sum (square %a) axis=1)
    %e = extent %x axis=1
    %r = sqrt (add (div %q, %e), 1e-5)
    store (div %s, %r) [m, n]
  }
  return %y
})"},
      {"attention", R"(
kernel @p(%q: f32[2,8,16], %k: f32[2,16,32], %v: f32[2,32,16]) {
  %s = mul (matmul %q, %k), 0.25
  %e = exp %s
  %o = matmul (div %e, (sum %e axis=2)), %v
  return %o
})",
       R"(
kernel @c(%q: f32[2,8,16], %k: f32[2,16,32], %v: f32[2,32,16]) {
  %o = block(%q, %k, %v) axes(b: grid 2, m: grid 2, j: loop 4) {
    %a = load %q [b, m, .]
    %t = load %k [b, ., j]
    %u = load %v [b, j, .]
    %s = mul (matmul %a, %t), 0.25
    %m1, %d = running_gauge %s axis=2
    %e = exp (sub %s, %m1)
    %r = exp %d
    %l = accum_rescale (sum %e axis=2), %r
    %p = accum_rescale (matmul %e, %u), %r
    store (div %p, %l) [b, m, .]
  }
  return %o
})"},
      {"gated_mlp", R"(
kernel @p(%x: f32[8,32], %w: f32[32,24], %u: f32[32,24]) {
  %y = mul (silu (matmul %x, %w)), (matmul %x, %u)
  return %y
})",
       R"(
kernel @c(%x: f32[8,32], %w: f32[32,24], %u: f32[32,24]) {
  %y = block(%x, %w, %u) axes(m: grid 2, n: grid 2, k: loop 4) {
    %a = load %x [m, k]
    %b = load %w [k, n]
    %c = load %u [k, n]
    %s = accum sum (matmul %a, %b)
    %t = accum sum (matmul %a, %c)
    store (mul (silu %s), %t) [m, n]
  }
  return %y
})"},
      {"layer_norm", R"(
kernel @p(%x: f32[8,32], %g: f32[1,32], %b: f32[1,32]) {
  %c = sub %x, (mean %x axis=1)
  %n = div %c, sqrt (add (mean (square %c) axis=1), 1e-5)
  %y = add (mul %n, %g), %b
  return %y
})",
       nullptr},
      {"qk_norm", R"(
kernel @p(%q: f32[8,16], %k: f32[16,32], %v: f32[32,16]) {
  %a = div %q, sqrt (mean (square %q) axis=1)
  %b = div %k, sqrt (mean (square %k) axis=0)
  %e = exp (matmul %a, %b)
  %o = matmul (div %e, (sum %e axis=1)), %v
  return %o
})",
       nullptr},
      {"split_keys", R"(
kernel @p(%q: f32[8,16], %k: f32[16,32], %v: f32[32,16]) {
  %e = exp (matmul %q, %k)
  %o = matmul (div %e, (sum %e axis=1)), %v
  return %o
})",
       R"(
kernel @c(%q: f32[8,16], %k: f32[16,32], %v: f32[32,16]) {
  %n, %l = block(%q, %k, %v) axes(p: grid 4) {
    %a = load %q [., .]
    %b = load %k [., p]
    %c = load %v [p, .]
    %e = exp (matmul %a, %b)
    store (matmul %e, %c) [., p]
    store (sum %e axis=1) [., p]
  }
  %t = sum (reshape %n shape=[8,4,16]) axis=1
  %o = div (reshape %t shape=[8,16]), (sum %l axis=1)
  return %o
})"},
      {"lora", R"(
kernel @p(%x: f32[8,32], %w: f32[32,24], %a: f32[32,4], %b: f32[4,24]) {
  %y = add (matmul %x, %w), (matmul (matmul %x, %a), %b)
  return %y
})",
       R"(
kernel @c(%x: f32[8,32], %w: f32[32,24], %a: f32[32,4], %b: f32[4,24]) {
  %t = matmul %x, %a
  %l = concat %x, %t axis=1
  %r = concat %w, %b axis=0
  %y = matmul %l, %r
  return %y
})"},
      {"rotary", R"(
kernel @p(%x: f32[8,16], %c: f32[8,16], %s: f32[8,16], %k: f32[16,24]) {
  %a = narrow %x axis=1 start=0 length=8
  %b = narrow %x axis=1 start=8 length=8
  %r = concat (neg %b), %a axis=1
  %y = matmul (add (mul %x, %c), (mul %r, %s)), %k
  return %y
})",
       nullptr},
      {"mlp3", R"(
kernel @p(%x: f32[8,16], %w: f32[16,24], %u: f32[24,16]) {
  %h = gelu (matmul %x, %w)
  %y = add %x, (matmul %h, %u)
  return %y
})",
       nullptr},
      {"relu_tanh", R"(
kernel @p(%x: f32[8,16], %w: f32[16,16]) {
  %h = relu (matmul %x, %w)
  %y = mul (tanh %h), (clamp %x lo=-1 hi=1)
  return %y
})",
       nullptr},
  };
}

}  // namespace mirage::testing
