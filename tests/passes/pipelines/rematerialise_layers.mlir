// test: rematerialise{distance=2 layers}

// Of what is kept behind the turn, %1 stays: %0 comes again from the argument, %3 and %2 are near.
func.func @layers(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = gv.matmul %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = gv.matmul %3, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = gv.matmul %4, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = gv.matmul %5, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = gv.matmul %6, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = gv.matmul %7, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %9 = gv.matmul %8, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = gv.matmul %9, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %10 : tensor<4x4xf32>
}

// ->
// func.func @layers(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
//   %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %1 = gv.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %2 = gv.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %3 = gv.matmul %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %4 = gv.matmul %3, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %5 = gv.matmul %4, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %6 = gv.matmul %5, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %7 = gv.matmul %6, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %8 = gv.matmul %7, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %9 = gv.matmul %8, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %10 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %11 = gv.matmul %9, %10 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   func.return %11 : tensor<4x4xf32>
// }

// -----
// Nothing is kept for long: it stays as it is.
func.func @two(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.add %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %2 : tensor<4x4xf32>
}

// ->
// func.func @two(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
//   %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %1 = gv.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %2 = gv.add %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   func.return %2 : tensor<4x4xf32>
// }
