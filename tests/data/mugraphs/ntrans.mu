// Norms at both levels, no loop: everything passes through accumulators of one step.
kernel @ntrans(%h: f32[8,32], %x: f32[8,32], %alpha: f32[8,32]) -> f32[8,32] {
  %c = block(%h, %x, %alpha) axes(x: grid 8) threads(128) {
    %a = load %h [x, .]
    %b = load %x [x, .]
    %w = load %alpha [x, .]
    %n = div %a, sqrt (mean (square %a) axis=1)
    %s = accum sum (add %b, (mul %w, (add %n, %b)))
    store %s [x, .]
  }
  %y = div %c, sqrt (mean (square %c) axis=1)
  return %y
}
