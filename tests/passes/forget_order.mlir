// test: cse,forget-order

// What is computed again stays apart, where it is needed.
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = gv.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.again %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = gv.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = gv.mul %3, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = gv.mul %5, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %6 : tensor<4xf32>
}

// ->
// func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
//   %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
//   %1 = gv.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
//   %2 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
//   %3 = gv.mul %2, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %4 = gv.mul %3, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   func.return %4 : tensor<4xf32>
// }
