// Attention with the maximum subtracted before exp, as frameworks write softmax.
kernel @safe_softmax_attention(%q: f32[2,256,64], %k: f32[2,64,4096], %v: f32[2,4096,64]) -> f32[2,256,64] {
  %s = matmul %q, %k
  %m = max %s axis=2
  %e = exp (sub %s, %m)
  %l = sum %e axis=2
  %p = div %e, %l
  %o = matmul %p, %v
  return %o
}
