// The normalised residual of nGPT, batch 8: rms(x + alpha * (rms(h) + x)).
kernel @ntrans_bs8(%h: f32[64,4096], %x: f32[64,4096], %alpha: f32[64,4096]) -> f32[64,4096] {
  %n = div %h, sqrt (mean (square %h) axis=1)
  %c = add %x, (mul %alpha, (add %n, %x))
  %y = div %c, sqrt (mean (square %c) axis=1)
  return %y
}
