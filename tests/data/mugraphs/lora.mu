// A linear layer with a low-rank correction as one product of concatenations; a read of x twice.
kernel @lora(%x: f16[4,16], %w: f16[16,32], %b: f16[4,32], %t: f16[4,4]) -> f16[4,32] {
  %y = block(%x, %t, %w, %v = %b) axes(x: grid 2, z: grid 2) threads(128) {
    %a = load %x [., .]
    %c = load %t [., .]
    %d = load %w [., x/z]
    %e = load %v [., x/z]
    %p = concat %a, %c axis=1
    %q = concat %d, %e axis=0
    %m = accum sum (matmul %p, %q)
    store %m [., x/z]
  }
  return %y
}
