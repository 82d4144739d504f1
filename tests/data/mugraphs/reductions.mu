// The remaining reductions: only the new epoch has these accumulators.
kernel @reductions(%x: f16[4,32]) -> f16[1,32], f16[4,1], f16[4,1], f16[4,8], f16[4,16] {
  %s = sum %x axis=0
  %a, %b, %c, %d = block(%x) axes(x: grid 2, i: loop 2) threads(128) {
    %t = load %x [x, i]
    %m = accum mean (mean %t axis=1)
    %r = sum %t axis=1
    %u = mul (exp %r), %r
    %v = accum sum %u
    %g = sum (reshape %t shape=[2,2,8]) axis=1
    %h = reshape %g shape=[2,8]
    %w = accum sum (square %h)
    %z = accum max %t
    store %m [x, .]
    store %v [x, .]
    store %w [x, .]
    store %z [x, .]
  }
  return %s, %a, %b, %c, %d
}
