// A gated layer whose last product is a kernel of its own; bf16 and one output of each kind.
kernel @gated_mlp(%x: bf16[8,64], %a: bf16[64,32], %b: bf16[64,32]) -> bf16[8,32], bf16[8,32] strides(1,8) {
  %u, %g = block(%x, %a, %b) axes(x: grid 2, y: grid 1, i: loop 4) threads(256) {
    %t = load %x [., i]
    %p = load %a [i, x]
    %q = load %b [i, x]
    %m = accum sum (matmul %t, %p)
    %n = accum sum (matmul %t, %q)
    store (silu %m) [., x]
    store %n [., x]
  }
  %y = mul %u, %g
  return %y, %u
}
