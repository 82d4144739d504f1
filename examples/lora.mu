// A linear layer with a low-rank correction.
kernel @lora(%x: f32[16,256], %w: f32[256,4096], %a: f32[256,16], %b: f32[16,4096]) -> f32[16,4096] {
  %y = add (matmul %x, %w), (matmul (matmul %x, %a), %b)
  return %y
}
