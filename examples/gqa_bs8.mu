// Grouped-query attention, batch 8: softmax without the maximum, as published.
kernel @gqa_bs8(%q: f32[16,256,64], %k: f32[16,64,4096], %v: f32[16,4096,64]) -> f32[16,256,64] {
  %s = matmul %q, %k
  %e = exp %s
  %l = sum %e axis=2
  %p = div %e, %l
  %o = matmul %p, %v
  return %o
}
