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

// -----
// Integers of 8 bits are multiplied as floats that have every integer up to the largest sum.
func.func @bytes(%x: tensor<2x8xui8>, %z: tensor<ui8>, %w: tensor<8x3xi8>) -> tensor<2x3xi32> {
  %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<2x8xui8>) -> tensor<2x8xi32>
  %1 = gv.cast %z {dtype = #gv.dtype<i32>} : (tensor<ui8>) -> tensor<i32>
  %2 = gv.sub %0, %1 : (tensor<2x8xi32>, tensor<i32>) -> tensor<2x8xi32>
  %3 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x3xi8>) -> tensor<8x3xi32>
  %4 = gv.matmul %2, %3 : (tensor<2x8xi32>, tensor<8x3xi32>) -> tensor<2x3xi32>
  func.return %4 : tensor<2x3xi32>
}

// ->
// func.func @bytes(%x: tensor<2x8xui8>, %z: tensor<ui8>, %w: tensor<8x3xi8>) -> tensor<2x3xi32> {
//   %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<2x8xui8>) -> tensor<2x8xi32>
//   %1 = gv.cast %z {dtype = #gv.dtype<i32>} : (tensor<ui8>) -> tensor<i32>
//   %2 = gv.sub %0, %1 : (tensor<2x8xi32>, tensor<i32>) -> tensor<2x8xi32>
//   %3 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x3xi8>) -> tensor<8x3xi32>
//   %4 = gv.cast %2 {dtype = #gv.dtype<f32>} : (tensor<2x8xi32>) -> tensor<2x8xf32>
//   %5 = gv.cast %3 {dtype = #gv.dtype<f32>} : (tensor<8x3xi32>) -> tensor<8x3xf32>
//   %6 = gv.matmul %4, %5 : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
//   %7 = gv.cast %6 {dtype = #gv.dtype<i32>} : (tensor<2x3xf32>) -> tensor<2x3xi32>
//   func.return %7 : tensor<2x3xi32>
// }

// -----
// So many that f32 has gaps are multiplied as f64.
func.func @many_bytes(%x: tensor<1x32x8x8xui8>, %w: tensor<4x32x3x3xui8>) -> tensor<1x4x6x6xi32> {
  %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<1x32x8x8xui8>) -> tensor<1x32x8x8xi32>
  %1 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<4x32x3x3xui8>) -> tensor<4x32x3x3xi32>
  %2 = gv.conv %0, %1 {pads = [[0, 0], [0, 0]], strides = [1, 1], dilations = [1, 1]} : (tensor<1x32x8x8xi32>, tensor<4x32x3x3xi32>) -> tensor<1x4x6x6xi32>
  func.return %2 : tensor<1x4x6x6xi32>
}

// ->
// func.func @many_bytes(%x: tensor<1x32x8x8xui8>, %w: tensor<4x32x3x3xui8>) -> tensor<1x4x6x6xi32> {
//   %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<1x32x8x8xui8>) -> tensor<1x32x8x8xi32>
//   %1 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<4x32x3x3xui8>) -> tensor<4x32x3x3xi32>
//   %2 = gv.cast %0 {dtype = #gv.dtype<f64>} : (tensor<1x32x8x8xi32>) -> tensor<1x32x8x8xf64>
//   %3 = gv.cast %1 {dtype = #gv.dtype<f64>} : (tensor<4x32x3x3xi32>) -> tensor<4x32x3x3xf64>
//   %4 = gv.conv %2, %3 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<1x32x8x8xf64>, tensor<4x32x3x3xf64>) -> tensor<1x4x6x6xf64>
//   %5 = gv.cast %4 {dtype = #gv.dtype<i32>} : (tensor<1x4x6x6xf64>) -> tensor<1x4x6x6xi32>
//   func.return %5 : tensor<1x4x6x6xi32>
// }

// -----
// Not where a sum may wrap, where nothing says how large numbers are, or of an open depth.
// count: gv.matmul 3
// count: gv.cast 4
func.func @not_bytes(%x: tensor<2x66000xui8>, %w: tensor<66000x2xui8>, %i: tensor<2x4xi32>, %j: tensor<4x2xi32>, %a: tensor<2x?xi8, #gv.dims<"2, k">>, %b: tensor<?x2xi8, #gv.dims<"k, 2">>) -> (tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>) {
  %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<2x66000xui8>) -> tensor<2x66000xi32>
  %1 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<66000x2xui8>) -> tensor<66000x2xi32>
  %2 = gv.matmul %0, %1 : (tensor<2x66000xi32>, tensor<66000x2xi32>) -> tensor<2x2xi32>
  %3 = gv.matmul %i, %j : (tensor<2x4xi32>, tensor<4x2xi32>) -> tensor<2x2xi32>
  %4 = gv.cast %a {dtype = #gv.dtype<i32>} : (tensor<2x?xi8, #gv.dims<"2, k">>) -> tensor<2x?xi32, #gv.dims<"2, k">>
  %5 = gv.cast %b {dtype = #gv.dtype<i32>} : (tensor<?x2xi8, #gv.dims<"k, 2">>) -> tensor<?x2xi32, #gv.dims<"k, 2">>
  %6 = gv.matmul %4, %5 : (tensor<2x?xi32, #gv.dims<"2, k">>, tensor<?x2xi32, #gv.dims<"k, 2">>) -> tensor<2x2xi32>
  func.return %2, %3, %6 : tensor<2x2xi32>, tensor<2x2xi32>, tensor<2x2xi32>
}

// -----
// A zero point that is known moves the range; not what is packed in groups of four in each run.
builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
  func.func @points(%x: tensor<5x8xui8>, %u: tensor<8x4xui8>, %w: tensor<8x4xi8>) -> (tensor<5x4xi32>, tensor<5x4xi32>) {
    %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<5x8xui8>) -> tensor<5x8xi32>
    %z = gv.constant {value = #gv.array<i32, "", [7]>} : () -> tensor<i32>
    %1 = gv.sub %0, %z : (tensor<5x8xi32>, tensor<i32>) -> tensor<5x8xi32>
    %2 = gv.cast %u {dtype = #gv.dtype<i32>} : (tensor<8x4xui8>) -> tensor<8x4xi32>
    %3 = gv.matmul %1, %2 : (tensor<5x8xi32>, tensor<8x4xi32>) -> tensor<5x4xi32>
    %4 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x4xi8>) -> tensor<8x4xi32>
    %5 = gv.matmul %0, %4 : (tensor<5x8xi32>, tensor<8x4xi32>) -> tensor<5x4xi32>
    func.return %3, %5 : tensor<5x4xi32>, tensor<5x4xi32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
//   func.func @points(%x: tensor<5x8xui8>, %u: tensor<8x4xui8>, %w: tensor<8x4xi8>) -> (tensor<5x4xi32>, tensor<5x4xi32>) {
//     %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<5x8xui8>) -> tensor<5x8xi32>
//     %z = gv.constant {value = #gv.array<i32, "", [7]>} : () -> tensor<i32>
//     %1 = gv.sub %0, %z : (tensor<5x8xi32>, tensor<i32>) -> tensor<5x8xi32>
//     %2 = gv.cast %u {dtype = #gv.dtype<i32>} : (tensor<8x4xui8>) -> tensor<8x4xi32>
//     %3 = gv.cast %1 {dtype = #gv.dtype<f32>} : (tensor<5x8xi32>) -> tensor<5x8xf32>
//     %4 = gv.cast %2 {dtype = #gv.dtype<f32>} : (tensor<8x4xi32>) -> tensor<8x4xf32>
//     %5 = gv.matmul %3, %4 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
//     %6 = gv.cast %5 {dtype = #gv.dtype<i32>} : (tensor<5x4xf32>) -> tensor<5x4xi32>
//     %7 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x4xi8>) -> tensor<8x4xi32>
//     %8 = gv.matmul %0, %7 : (tensor<5x8xi32>, tensor<8x4xi32>) -> tensor<5x4xi32>
//     func.return %6, %8 : tensor<5x4xi32>, tensor<5x4xi32>
//   }
// }
