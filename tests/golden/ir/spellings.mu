// run: mirage show {}
// What a person may write and how it is printed: nesting, numbers, attributes, defaults.
kernel @spellings(%x: f32[4,6], %w: f32[6,4] strides(1,6)) {
  %s = sum (square %x) axis -1
  %t = transpose (matmul %x, %w) perm=[1, 0]
  %c = clamp (mul %t, 0.1) lo=-1 hi inf
  %n = narrow (concat %c, %c axis=0) axis=0 start=2 length=3
  return %n, %s, %n
}
