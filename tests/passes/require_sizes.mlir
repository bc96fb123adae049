// test: require-sizes
// How many are wanted is at most what there is: the run is asked.
func.func @main(%x: tensor<3x?xf32, #gv.dims<"3, N">>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
  %0, %1 = gv.top_k %x {axis = 1 : i64, k = 2 : i64} : (tensor<3x?xf32, #gv.dims<"3, N">>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  func.return %0, %1 : tensor<3x2xf32>, tensor<3x2xi64>
}

// ->
// builtin.module attributes {gv.required = [["2", "N", "gv.top_k: k 2, expected 0 to N, the extent of axis 1"], ["N", "4294967295", "gv.top_k: N of f32 along axis 1, expected fewer than 4294967296"]]} {
//   func.func @main(%x: tensor<3x?xf32, #gv.dims<"3, N">>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
//     %0, %1 = gv.top_k %x {axis = 1 : i64, k = 2 : i64} : (tensor<3x?xf32, #gv.dims<"3, N">>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
//     func.return %0, %1 : tensor<3x2xf32>, tensor<3x2xi64>
//   }
// }

// -----
// Fixed sizes were looked at when they were inferred.
func.func @main(%x: tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
  %0, %1 = gv.top_k %x {axis = 1 : i64, k = 2 : i64} : (tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  func.return %0, %1 : tensor<3x2xf32>, tensor<3x2xi64>
}

// ->
// func.func @main(%x: tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
//   %0, %1 = gv.top_k %x {axis = 1 : i64, k = 2 : i64} : (tensor<3x7xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
//   func.return %0, %1 : tensor<3x2xf32>, tensor<3x2xi64>
// }
