// RMS norm and a linear layer, batch 1.
kernel @rmsnorm_bs1(%x: f32[2,4096], %w: f32[4096,6144]) -> f32[2,6144] {
  %n = div %x, sqrt (mean (square %x) axis=1)
  %y = matmul %n, %w
  return %y
}
