// Attention in one kernel with a running maximum: only the new epoch has these accumulators.
kernel @online_attention(%q: f16[2,16,8], %k: f16[2,8,64], %v: f16[2,64,8]) -> f16[2,16,8] {
  %y = block(%q, %k, %v) axes(x: grid 2, y: grid 4, i: loop 4) threads(128) {
    %a = load %q [x, y, .]
    %b = load %k [x, ., i]
    %c = load %v [x, i, .]
    %s = matmul %a, %b
    %m, %d = running_max %s axis=2
    %e = exp (sub %s, %m)
    %f = exp %d
    %l = accum_rescale (sum %e axis=2), %f
    %o = accum_rescale (matmul %e, %c), %f
    store (div %o, %l) [x, y, .]
  }
  return %y
}
