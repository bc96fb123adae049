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
func.func @argmax(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %0 = gv.argmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  func.return %0 : tensor<2xi64>
}

// ->
// func.func @argmax(%x: tensor<2x3xf32>) -> tensor<2xi64> {
//   %0 = gv.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
//   %1 = gv.equal %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
//   %2 = gv.isnan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
//   %3 = gv.logical_or %1, %2 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
//   %4 = gv.iota {axis = 1 : i64, dtype = #gv.dtype<i64>, shape = array<i64: 1, 3>} : () -> tensor<1x3xi64>
//   %5 = gv.constant {value = #gv.array<i64, "", [9223372036854775807]>} : () -> tensor<i64>
//   %6 = gv.select %3, %4, %5 : (tensor<2x3xi1>, tensor<1x3xi64>, tensor<i64>) -> tensor<2x3xi64>
//   %7 = gv.min %6 {axes = array<i64: 1>} : (tensor<2x3xi64>) -> tensor<2xi64>
//   func.return %7 : tensor<2xi64>
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
