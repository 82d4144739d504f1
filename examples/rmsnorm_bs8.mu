// RMS norm and a linear layer, batch 8.
kernel @rmsnorm_bs8(%x: f32[16,4096], %w: f32[4096,6144]) -> f32[16,6144] {
  %n = div %x, sqrt (mean (square %x) axis=1)
  %y = matmul %n, %w
  return %y
}
