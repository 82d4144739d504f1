// RMS norm with gain and a linear layer whose weight is stored by columns, as in Qwen 2.5.
kernel @qwen_norm_linear(%x: f32[1,2048], %g: f32[1,2048], %w: f32[2048,2560] strides(1,2048)) -> f32[1,2560] {
  %n = div %x, sqrt (mean (square %x) axis=1)
  %y = matmul (mul %n, %g), %w
  return %y
}
