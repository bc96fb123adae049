// test: decompose{keep=mean}

// An element-wise operation has a formula: it stays.
func.func @relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @argsort(%x: tensor<2x3xf32>) -> tensor<2x3xi64> {
  %0 = gv.argsort %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  func.return %0 : tensor<2x3xi64>
}

// ->
// func.func @argsort(%x: tensor<2x3xf32>) -> tensor<2x3xi64> {
//   %0, %1 = gv.top_k %x {axis = 1 : i64, k = 3 : i64, largest = false} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
//   func.return %1 : tensor<2x3xi64>
// }

// -----
// What has a kernel template of its own stays.
func.func @argmax(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %0 = gv.argmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  func.return %0 : tensor<2xi64>
}

// ->
// func.func @argmax(%x: tensor<2x3xf32>) -> tensor<2xi64> {
//   %0 = gv.argmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
//   func.return %0 : tensor<2xi64>
// }

// -----
// So does what would be a step for each row, of narrow floats too.
func.func @factors(%x: tensor<300x300xf32>, %y: tensor<2x9x9xf16>) -> (tensor<f32>, tensor<f32>, tensor<2x9x9xf16>) {
  %0 = gv.determinant %x : (tensor<300x300xf32>) -> tensor<f32>
  %1, %2 = gv.log_determinant %x : (tensor<300x300xf32>) -> (tensor<f32>, tensor<f32>)
  %3 = gv.cholesky %y : (tensor<2x9x9xf16>) -> tensor<2x9x9xf16>
  func.return %0, %2, %3 : tensor<f32>, tensor<f32>, tensor<2x9x9xf16>
}

// ->
// func.func @factors(%x: tensor<300x300xf32>, %y: tensor<2x9x9xf16>) -> (tensor<f32>, tensor<f32>, tensor<2x9x9xf16>) {
//   %0 = gv.determinant %x : (tensor<300x300xf32>) -> tensor<f32>
//   %1, %2 = gv.log_determinant %x : (tensor<300x300xf32>) -> (tensor<f32>, tensor<f32>)
//   %3 = gv.cast %y {dtype = #gv.dtype<f32>} : (tensor<2x9x9xf16>) -> tensor<2x9x9xf32>
//   %4 = gv.cholesky %3 : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
//   %5 = gv.cast %4 {dtype = #gv.dtype<f16>} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf16>
//   func.return %0, %2, %5 : tensor<f32>, tensor<f32>, tensor<2x9x9xf16>
// }

// -----
func.func @keep(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// ->
// func.func @keep(%x: tensor<2x3xf32>) -> tensor<2xf32> {
//   %0 = gv.mean %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
//   func.return %0 : tensor<2xf32>
// }

// -----
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// ->
// func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
//   %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
//   %2 = gv.exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.sum %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
//   %4 = gv.div %2, %3 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
//   func.return %4 : tensor<2x3xf32>
// }

// -----
// The phases of a strided transpose are convolutions of their own where their taps differ, and each
// has filters enough: 1, 2, 2 and 4 taps instead of 4 for each.
// count: gv.conv 4
// differs: zeros around the image are multiplied too, which is NaN for a NaN
func.func @phases_apart(%x: tensor<1x3x4x5xf32>, %w: tensor<3x16x3x3xf32>) -> tensor<1x16x8x10xf32> {
  %0 = gv.conv_transpose %x, %w {dilations = array<i64: 1, 1>, output_pads = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>, tensor<3x16x3x3xf32>) -> tensor<1x16x8x10xf32>
  func.return %0 : tensor<1x16x8x10xf32>
}

// -----
// One convolution for all phases: of as many taps each, of few filters, of three taps each way.
// count: gv.conv 3
// differs: zeros around the image are multiplied too, which is NaN for a NaN
func.func @phases_together(%x: tensor<1x3x4x5xf32>, %w: tensor<3x16x4x4xf32>, %f: tensor<3x3x3x3xf32>, %t: tensor<3x16x5x5xf32>) -> (tensor<1x16x8x10xf32>, tensor<1x3x8x10xf32>, tensor<1x16x8x10xf32>) {
  %0 = gv.conv_transpose %x, %w {dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>, tensor<3x16x4x4xf32>) -> tensor<1x16x8x10xf32>
  %1 = gv.conv_transpose %x, %f {dilations = array<i64: 1, 1>, output_pads = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>, tensor<3x3x3x3xf32>) -> tensor<1x3x8x10xf32>
  %2 = gv.conv_transpose %x, %t {dilations = array<i64: 1, 1>, output_pads = array<i64: 1, 1>, pads = [array<i64: 2, 2>, array<i64: 2, 2>], strides = array<i64: 2, 2>} : (tensor<1x3x4x5xf32>, tensor<3x16x5x5xf32>) -> tensor<1x16x8x10xf32>
  func.return %0, %1, %2 : tensor<1x16x8x10xf32>, tensor<1x3x8x10xf32>, tensor<1x16x8x10xf32>
}
