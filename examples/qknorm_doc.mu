// Attention whose queries and keys are normalised over their last axes, which for keys is the
// sequence: as the documentation of the published system writes it.
kernel @qknorm_doc(%q: f32[2,256,64], %k: f32[2,64,4096], %v: f32[2,4096,64]) -> f32[2,256,64] {
  %qn = div %q, sqrt (mean (square %q) axis=2)
  %kn = div %k, sqrt (mean (square %k) axis=2)
  %s = matmul %qn, %kn
  %e = exp %s
  %l = sum %e axis=2
  %p = div %e, %l
  %o = matmul %p, %v
  return %o
}
