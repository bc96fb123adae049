// test: winograd

// The transform of the weights is operations that depend on weights alone.
// count: gv.conv 0
// count: gv.winograd_packed 1
// count: gv.matmul 1
builtin.module attributes {gv.target = "x86-64-v4"} {
  func.func @same(%x: tensor<1x8x8x32xf32>) -> tensor<1x8x8x48xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 48, 32, 3, 3>, weight = @w} : () -> tensor<48x32x3x3xf32>
    %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<48x32x3x3xf32>) -> tensor<1x8x8x48xf32>
    func.return %1 : tensor<1x8x8x48xf32>
  }
}

// -----
// Windows that move by 2 share less.
// count: gv.conv 1
func.func @stride(%x: tensor<1x16x16x32xf32>) -> tensor<1x8x8x32xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 32, 32, 3, 3>, weight = @w} : () -> tensor<32x32x3x3xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 2, 2>} : (tensor<1x16x16x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x8x8x32xf32>
  func.return %1 : tensor<1x8x8x32xf32>
}

// -----
// Of 7x7 results the tiles would compute 8x8, with four times the weights.
// count: gv.conv 1
func.func @small(%x: tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 32, 32, 3, 3>, weight = @w} : () -> tensor<32x32x3x3xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x7x7x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x7x7x32xf32>
  func.return %1 : tensor<1x7x7x32xf32>
}

// -----
// With few channels the transforms cost more than they save.
// count: gv.conv 1
func.func @thin(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x32xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 32, 16, 3, 3>, weight = @w} : () -> tensor<32x16x3x3xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>, tensor<32x16x3x3xf32>) -> tensor<1x8x8x32xf32>
  func.return %1 : tensor<1x8x8x32xf32>
}

// -----
// Weights that are given in a run are transformed in each run: many results must make up for it.
// count: gv.conv 1
// count: gv.winograd_packed 1
func.func @given(%x: tensor<16x8x8x32xf32>, %y: tensor<1x8x8x32xf32>, %w: tensor<48x32x3x3xf32>) -> (tensor<16x8x8x48xf32>, tensor<1x8x8x48xf32>) {
  %0 = gv.conv %x, %w {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<16x8x8x32xf32>, tensor<48x32x3x3xf32>) -> tensor<16x8x8x48xf32>
  %1 = gv.conv %y, %w {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<48x32x3x3xf32>) -> tensor<1x8x8x48xf32>
  func.return %0, %1 : tensor<16x8x8x48xf32>, tensor<1x8x8x48xf32>
}
