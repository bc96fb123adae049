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
