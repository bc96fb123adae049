// test: widen-products

func.func @product(%x: tensor<5x3xf16>, %w: tensor<3x4xf16>) -> tensor<5x4xf16> {
  %0 = gv.matmul %x, %w : (tensor<5x3xf16>, tensor<3x4xf16>) -> tensor<5x4xf16>
  func.return %0 : tensor<5x4xf16>
}

// ->
// func.func @product(%x: tensor<5x3xf16>, %w: tensor<3x4xf16>) -> tensor<5x4xf16> {
//   %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<5x3xf16>) -> tensor<5x3xf32>
//   %1 = gv.cast %w {dtype = #gv.dtype<f32>} : (tensor<3x4xf16>) -> tensor<3x4xf32>
//   %2 = gv.matmul %0, %1 : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
//   %3 = gv.cast %2 {dtype = #gv.dtype<f16>} : (tensor<5x4xf32>) -> tensor<5x4xf16>
//   func.return %3 : tensor<5x4xf16>
// }

// -----
func.func @few_rows(%x: tensor<2x3xbf16>, %w: tensor<3x4xbf16>) -> tensor<2x4xbf16> {
  %0 = gv.matmul %x, %w : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
  func.return %0 : tensor<2x4xbf16>
}

// ->
// func.func @few_rows(%x: tensor<2x3xbf16>, %w: tensor<3x4xbf16>) -> tensor<2x4xbf16> {
//   %0 = gv.matmul %x, %w : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
//   func.return %0 : tensor<2x4xbf16>
// }

// -----
func.func @few_rows_by_columns(%x: tensor<1x3xbf16>, %w: tensor<4x3xbf16>) -> tensor<1x4xbf16> {
  %0 = gv.matmul %x, %w {transpose_rhs = true} : (tensor<1x3xbf16>, tensor<4x3xbf16>) -> tensor<1x4xbf16>
  func.return %0 : tensor<1x4xbf16>
}

// ->
// func.func @few_rows_by_columns(%x: tensor<1x3xbf16>, %w: tensor<4x3xbf16>) -> tensor<1x4xbf16> {
//   %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<1x3xbf16>) -> tensor<1x3xf32>
//   %1 = gv.cast %w {dtype = #gv.dtype<f32>} : (tensor<4x3xbf16>) -> tensor<4x3xf32>
//   %2 = gv.matmul %0, %1 {transpose_rhs = true} : (tensor<1x3xf32>, tensor<4x3xf32>) -> tensor<1x4xf32>
//   %3 = gv.cast %2 {dtype = #gv.dtype<bf16>} : (tensor<1x4xf32>) -> tensor<1x4xbf16>
//   func.return %3 : tensor<1x4xbf16>
// }

// -----
func.func @window(%x: tensor<1x2x4x4xf16>, %w: tensor<3x2x3x3xf16>) -> tensor<1x3x2x2xf16> {
  %0 = gv.conv %x, %w {strides = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf16>, tensor<3x2x3x3xf16>) -> tensor<1x3x2x2xf16>
  func.return %0 : tensor<1x3x2x2xf16>
}

// ->
// func.func @window(%x: tensor<1x2x4x4xf16>, %w: tensor<3x2x3x3xf16>) -> tensor<1x3x2x2xf16> {
//   %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf32>
//   %1 = gv.cast %w {dtype = #gv.dtype<f32>} : (tensor<3x2x3x3xf16>) -> tensor<3x2x3x3xf32>
//   %2 = gv.conv %0, %1 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
//   %3 = gv.cast %2 {dtype = #gv.dtype<f16>} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf16>
//   func.return %3 : tensor<1x3x2x2xf16>
// }
