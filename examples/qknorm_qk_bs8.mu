// Attention whose queries and keys are normalised over the head dimension, batch 8.
kernel @qknorm_qk_bs8(%q: f32[16,256,64], %k: f32[16,64,4096], %v: f32[16,4096,64]) -> f32[16,256,64] {
  %qn = div %q, sqrt (mean (square %q) axis=2)
  %kn = div %k, sqrt (mean (square %k) axis=1)
  %s = matmul %qn, %kn
  %e = exp %s
  %l = sum %e axis=2
  %p = div %e, %l
  %o = matmul %p, %v
  return %o
}
