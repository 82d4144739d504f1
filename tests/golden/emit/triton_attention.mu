// run: mirage emit --target triton {}
kernel @attention(%q: f16[2,50,64], %k: f16[2,64,200], %v: f16[2,200,64]) -> f16[2,50,64] {
  %o = block(%q, %k, %v) axes(b: grid 2, n: loop 4) {
    %a = load %q [b, ., .]
    %c = load %k [b, ., n]
    %d = load %v [b, n, .]
    %e = exp (matmul %a, %c)
    %l = accum sum (sum %e axis=2)
    %t = accum sum (matmul %e, %d)
    store (div %t, %l) [b, ., .]
  }
  return %o
}
