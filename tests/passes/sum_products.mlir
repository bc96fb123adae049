// test: sum-products

func.func @row(%x: tensor<1x40xf32>, %w: tensor<40x30xf32>) -> tensor<1x30xf32> {
  %0 = gv.matmul %x, %w : (tensor<1x40xf32>, tensor<40x30xf32>) -> tensor<1x30xf32>
  func.return %0 : tensor<1x30xf32>
}

// ->
// func.func @row(%x: tensor<1x40xf32>, %w: tensor<40x30xf32>) -> tensor<1x30xf32> {
//   %0 = gv.reshape %x {shape = array<i64: 40, 1>} : (tensor<1x40xf32>) -> tensor<40x1xf32>
//   %1 = gv.mul %0, %w : (tensor<40x1xf32>, tensor<40x30xf32>) -> tensor<40x30xf32>
//   %2 = gv.sum %1 {axes = array<i64: 0>} : (tensor<40x30xf32>) -> tensor<30xf32>
//   %3 = gv.reshape %2 {shape = array<i64: 1, 30>} : (tensor<30xf32>) -> tensor<1x30xf32>
//   func.return %3 : tensor<1x30xf32>
// }

// -----
// Rows of a matrix that is turned are what is added up.
func.func @turned(%x: tensor<2x1x40xf64>, %w: tensor<2x30x40xf64>) -> tensor<2x1x30xf64> {
  %0 = gv.matmul %x, %w {transpose_rhs = true} : (tensor<2x1x40xf64>, tensor<2x30x40xf64>) -> tensor<2x1x30xf64>
  func.return %0 : tensor<2x1x30xf64>
}

// ->
// func.func @turned(%x: tensor<2x1x40xf64>, %w: tensor<2x30x40xf64>) -> tensor<2x1x30xf64> {
//   %0 = gv.reshape %x {shape = array<i64: 2, 1, 40>} : (tensor<2x1x40xf64>) -> tensor<2x1x40xf64>
//   %1 = gv.mul %0, %w : (tensor<2x1x40xf64>, tensor<2x30x40xf64>) -> tensor<2x30x40xf64>
//   %2 = gv.sum %1 {axes = array<i64: 2>} : (tensor<2x30x40xf64>) -> tensor<2x30xf64>
//   %3 = gv.reshape %2 {shape = array<i64: 2, 1, 30>} : (tensor<2x30xf64>) -> tensor<2x1x30xf64>
//   func.return %3 : tensor<2x1x30xf64>
// }

// -----
func.func @column(%x: tensor<?x?xi32, #gv.dims<"m, k">>, %v: tensor<?x1xi32, #gv.dims<"k, 1">>) -> tensor<?x1xi32, #gv.dims<"m, 1">> {
  %0 = gv.matmul %x, %v : (tensor<?x?xi32, #gv.dims<"m, k">>, tensor<?x1xi32, #gv.dims<"k, 1">>) -> tensor<?x1xi32, #gv.dims<"m, 1">>
  func.return %0 : tensor<?x1xi32, #gv.dims<"m, 1">>
}

// ->
// func.func @column(%x: tensor<?x?xi32, #gv.dims<"m, k">>, %v: tensor<?x1xi32, #gv.dims<"k, 1">>) -> tensor<?x1xi32, #gv.dims<"m, 1">> {
//   %0 = gv.reshape %v {shape = #gv.dims<"1, k">} : (tensor<?x1xi32, #gv.dims<"k, 1">>) -> tensor<1x?xi32, #gv.dims<"1, k">>
//   %1 = gv.mul %0, %x : (tensor<1x?xi32, #gv.dims<"1, k">>, tensor<?x?xi32, #gv.dims<"m, k">>) -> tensor<?x?xi32, #gv.dims<"m, k">>
//   %2 = gv.sum %1 {axes = array<i64: 1>} : (tensor<?x?xi32, #gv.dims<"m, k">>) -> tensor<?xi32, #gv.dims<"m">>
//   %3 = gv.reshape %2 {shape = #gv.dims<"m, 1">} : (tensor<?xi32, #gv.dims<"m">>) -> tensor<?x1xi32, #gv.dims<"m, 1">>
//   func.return %3 : tensor<?x1xi32, #gv.dims<"m, 1">>
// }

// -----
// Halves are multiplied and added as f32, and rounded once.
func.func @halves(%x: tensor<40x30xbf16>, %v: tensor<40x1xbf16>) -> tensor<30x1xbf16> {
  %0 = gv.matmul %x, %v {transpose_lhs = true} : (tensor<40x30xbf16>, tensor<40x1xbf16>) -> tensor<30x1xbf16>
  func.return %0 : tensor<30x1xbf16>
}

// ->
// func.func @halves(%x: tensor<40x30xbf16>, %v: tensor<40x1xbf16>) -> tensor<30x1xbf16> {
//   %0 = gv.cast %v {dtype = #gv.dtype<f32>} : (tensor<40x1xbf16>) -> tensor<40x1xf32>
//   %1 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<40x30xbf16>) -> tensor<40x30xf32>
//   %2 = gv.reshape %0 {shape = array<i64: 40, 1>} : (tensor<40x1xf32>) -> tensor<40x1xf32>
//   %3 = gv.mul %2, %1 : (tensor<40x1xf32>, tensor<40x30xf32>) -> tensor<40x30xf32>
//   %4 = gv.sum %3 {axes = array<i64: 0>} : (tensor<40x30xf32>) -> tensor<30xf32>
//   %5 = gv.reshape %4 {shape = array<i64: 30, 1>} : (tensor<30xf32>) -> tensor<30x1xf32>
//   %6 = gv.cast %5 {dtype = #gv.dtype<bf16>} : (tensor<30x1xf32>) -> tensor<30x1xbf16>
//   func.return %6 : tensor<30x1xbf16>
// }

// -----
// A matrix that all of a batch take is read once for several rows; narrow integers wrap in their type.
// count: gv.matmul 3
func.func @others(%x: tensor<2x1x4xf32>, %w: tensor<4x3xf32>, %y: tensor<2x4xf32>, %i: tensor<1x4xi8>, %j: tensor<4x3xi8>) -> (tensor<2x1x3xf32>, tensor<2x3xf32>, tensor<1x3xi8>) {
  %0 = gv.matmul %x, %w : (tensor<2x1x4xf32>, tensor<4x3xf32>) -> tensor<2x1x3xf32>
  %1 = gv.matmul %y, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %2 = gv.matmul %i, %j : (tensor<1x4xi8>, tensor<4x3xi8>) -> tensor<1x3xi8>
  func.return %0, %1, %2 : tensor<2x1x3xf32>, tensor<2x3xf32>, tensor<1x3xi8>
}

// -----
// A GPU has kernels of its own.
// count: gv.matmul 1
builtin.module attributes {gv.target = "cuda:sm_80"} {
  func.func @device(%x: tensor<1x40xf32>, %w: tensor<40x30xf32>) -> tensor<1x30xf32> {
    %0 = gv.matmul %x, %w : (tensor<1x40xf32>, tensor<40x30xf32>) -> tensor<1x30xf32>
    func.return %0 : tensor<1x30xf32>
  }
}
