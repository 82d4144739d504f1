// Attention whose queries and values are normalised over the last dimension, batch 1: the program
// of the published qknorm_gqa files.
kernel @qknorm_qv_bs1(%q: f32[2,256,64], %k: f32[2,64,4096], %v: f32[2,4096,64]) -> f32[2,256,64] {
  %qn = div %q, sqrt (mean (square %q) axis=2)
  %vn = div %v, sqrt (mean (square %v) axis=2)
  %s = matmul %qn, %k
  %e = exp %s
  %l = sum %e axis=2
  %p = div %e, %l
  %o = matmul %p, %vn
  return %o
}
