// A product of three matrices through a narrow middle.
kernel @matmul_chain(%a: f32[16,4096], %b: f32[4096,64], %c: f32[64,4096]) -> f32[16,4096] {
  %y = matmul (matmul %a, %b), %c
  return %y
}
