// test: rematerialise{distance=2}

func.func @late(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = gv.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.sin %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = gv.cos %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = gv.tanh %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = gv.add %4, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = gv.add %5, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %6 : tensor<4xf32>
}

// ->
// func.func @late(%x: tensor<4xf32>) -> tensor<4xf32> {
//   %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
//   %1 = gv.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
//   %2 = gv.sin %1 : (tensor<4xf32>) -> tensor<4xf32>
//   %3 = gv.cos %2 : (tensor<4xf32>) -> tensor<4xf32>
//   %4 = gv.tanh %3 : (tensor<4xf32>) -> tensor<4xf32>
//   %5 = gv.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
//   %6 = gv.add %4, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %7 = gv.add %6, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   func.return %7 : tensor<4xf32>
// }

// -----
// Its operand is not kept till then.
func.func @would_keep_more(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.sin %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = gv.cos %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = gv.tanh %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = gv.add %4, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %5 : tensor<4x4xf32>
}

// ->
// func.func @would_keep_more(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
//   %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %1 = gv.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
//   %2 = gv.sin %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
//   %3 = gv.cos %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
//   %4 = gv.tanh %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
//   %5 = gv.add %4, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   func.return %5 : tensor<4x4xf32>
// }

// -----
// Not element-wise.
func.func @costly(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.sin %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.cos %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = gv.tanh %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = gv.add %3, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// ->
// func.func @costly(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
//   %0 = gv.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   %1 = gv.sin %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
//   %2 = gv.cos %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
//   %3 = gv.tanh %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
//   %4 = gv.add %3, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//   func.return %4 : tensor<4x4xf32>
// }
