// run: mirage lower --target=cpu-portable {}
// A bare exp, summed over a loop: the gauge comes in as a running maximum.
kernel @softmax_loop(%q: f32[16,8], %k: f32[8,64], %v: f32[64,8]) -> f32[16,8] {
  %y = block(%q, %k, %v) axes(m: grid 2, n: loop 4) {
    %a = load %q [m, .]
    %b = load %k [., n]
    %c = load %v [n, .]
    %e = exp (matmul %a, %b)
    %s = accum sum (sum %e axis=1)
    %o = accum sum (matmul %e, %c)
    store (div %o, %s) [m, .]
  }
  return %y
}
