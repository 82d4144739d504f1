// The normalised residual of nGPT, batch 1: rms(x + alpha * (rms(h) + x)).
kernel @ntrans_bs1(%h: f32[8,4096], %x: f32[8,4096], %alpha: f32[8,4096]) -> f32[8,4096] {
  %n = div %h, sqrt (mean (square %h) axis=1)
  %c = add %x, (mul %alpha, (add %n, %x))
  %y = div %c, sqrt (mean (square %c) axis=1)
  return %y
}
