// Attention in two kernels: partial sums over four splits of the keys, then the quotient.
kernel @attention(%q: f16[2,16,8], %k: f16[2,8,64], %v: f16[2,64,8]) -> f16[2,16,8] {
  %o, %l = block(%q, %k, %v) axes(x: grid 2, y: grid 4, i: loop 2) threads(128) {
    %a = load %q [x, ., .]
    %b = load %k [x, ., y/i]
    %c = load %v [x, y/i, .]
    %e = exp (matmul %a, %b)
    %t = accum sum (matmul %e, %c)
    %s = accum sum (sum %e axis=2)
    store %t [x, ., y]
    store %s [x, ., y]
  }
  %y = block(%o, %l) axes(x: grid 2, y: grid 16) threads(128) {
    %a = load %o [x, y, .]
    %b = load %l [x, y, .]
    %g = reshape %a shape=[1,1,4,8]
    %s = accum sum (reshape (sum %g axis=2) shape=[1,1,8])
    %t = accum sum (sum %b axis=2)
    store (div %s, %t) [x, y, .]
  }
  return %y
}
