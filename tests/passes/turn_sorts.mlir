// test: turn-sorts

func.func @many(%x: tensor<4x500x3xf32>) -> (tensor<4x50x3xf32>, tensor<4x50x3xi64>) {
  %0, %1 = gv.top_k %x {axis = 1 : i64, k = 50 : i64} : (tensor<4x500x3xf32>) -> (tensor<4x50x3xf32>, tensor<4x50x3xi64>)
  func.return %0, %1 : tensor<4x50x3xf32>, tensor<4x50x3xi64>
}

// ->
// func.func @many(%x: tensor<4x500x3xf32>) -> (tensor<4x50x3xf32>, tensor<4x50x3xi64>) {
//   %0 = gv.transpose %x {order = array<i64: 0, 2, 1>} : (tensor<4x500x3xf32>) -> tensor<4x3x500xf32>
//   %1, %2 = gv.top_k %0 {axis = 2 : i64, k = 50 : i64} : (tensor<4x3x500xf32>) -> (tensor<4x3x50xf32>, tensor<4x3x50xi64>)
//   %3 = gv.transpose %1 {order = array<i64: 0, 2, 1>} : (tensor<4x3x50xf32>) -> tensor<4x50x3xf32>
//   %4 = gv.transpose %2 {order = array<i64: 0, 2, 1>} : (tensor<4x3x50xi64>) -> tensor<4x50x3xi64>
//   func.return %3, %4 : tensor<4x50x3xf32>, tensor<4x50x3xi64>
// }

// -----
// The few best of many columns are found in registers.
func.func @few(%x: tensor<500x64xf32>) -> tensor<10x64xf32> {
  %0, %1 = gv.top_k %x {axis = 0 : i64, k = 10 : i64} : (tensor<500x64xf32>) -> (tensor<10x64xf32>, tensor<10x64xi64>)
  func.return %0 : tensor<10x64xf32>
}

// ->
// func.func @few(%x: tensor<500x64xf32>) -> tensor<10x64xf32> {
//   %0, %1 = gv.top_k %x {axis = 0 : i64, k = 10 : i64} : (tensor<500x64xf32>) -> (tensor<10x64xf32>, tensor<10x64xi64>)
//   func.return %0 : tensor<10x64xf32>
// }

// -----
// There is one column.
func.func @alone(%x: tensor<5000x1xf32>) -> tensor<50x1xf32> {
  %0, %1 = gv.top_k %x {axis = 0 : i64, k = 50 : i64} : (tensor<5000x1xf32>) -> (tensor<50x1xf32>, tensor<50x1xi64>)
  func.return %0 : tensor<50x1xf32>
}

// ->
// func.func @alone(%x: tensor<5000x1xf32>) -> tensor<50x1xf32> {
//   %0, %1 = gv.top_k %x {axis = 0 : i64, k = 50 : i64} : (tensor<5000x1xf32>) -> (tensor<50x1xf32>, tensor<50x1xi64>)
//   func.return %0 : tensor<50x1xf32>
// }

// -----
// What is little is not worth the moves.
func.func @little(%x: tensor<20x3xf32>) -> tensor<18x3xf32> {
  %0, %1 = gv.top_k %x {axis = 0 : i64, k = 18 : i64} : (tensor<20x3xf32>) -> (tensor<18x3xf32>, tensor<18x3xi64>)
  func.return %0 : tensor<18x3xf32>
}

// ->
// func.func @little(%x: tensor<20x3xf32>) -> tensor<18x3xf32> {
//   %0, %1 = gv.top_k %x {axis = 0 : i64, k = 18 : i64} : (tensor<20x3xf32>) -> (tensor<18x3xf32>, tensor<18x3xi64>)
//   func.return %0 : tensor<18x3xf32>
// }

// -----
// Of an open size there may be much.
func.func @open(%x: tensor<?x3xf32, #gv.dims<"n, 3">>) -> tensor<?x3xf32, #gv.dims<"n, 3">> {
  %0, %1 = gv.top_k %x {axis = 0 : i64, k = #gv.dim<"n">, largest = false} : (tensor<?x3xf32, #gv.dims<"n, 3">>) -> (tensor<?x3xf32, #gv.dims<"n, 3">>, tensor<?x3xi64, #gv.dims<"n, 3">>)
  func.return %0 : tensor<?x3xf32, #gv.dims<"n, 3">>
}

// ->
// func.func @open(%x: tensor<?x3xf32, #gv.dims<"n, 3">>) -> tensor<?x3xf32, #gv.dims<"n, 3">> {
//   %0 = gv.transpose %x {order = array<i64: 1, 0>} : (tensor<?x3xf32, #gv.dims<"n, 3">>) -> tensor<3x?xf32, #gv.dims<"3, n">>
//   %1, %2 = gv.top_k %0 {axis = 1 : i64, k = #gv.dim<"n">, largest = false} : (tensor<3x?xf32, #gv.dims<"3, n">>) -> (tensor<3x?xf32, #gv.dims<"3, n">>, tensor<3x?xi64, #gv.dims<"3, n">>)
//   %3 = gv.transpose %1 {order = array<i64: 1, 0>} : (tensor<3x?xf32, #gv.dims<"3, n">>) -> tensor<?x3xf32, #gv.dims<"n, 3">>
//   %4 = gv.transpose %2 {order = array<i64: 1, 0>} : (tensor<3x?xi64, #gv.dims<"3, n">>) -> tensor<?x3xi64, #gv.dims<"n, 3">>
//   func.return %3 : tensor<?x3xf32, #gv.dims<"n, 3">>
// }
