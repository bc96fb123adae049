// test: use-library{sgemm=cblas_sgemm dgemm=cblas_dgemm}
// A transpose of the last two axes is part of the call; another is not.
func.func @called(%x: tensor<2x4x6xf32>, %w: tensor<2x8x6xf32>, %v: tensor<6x2x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
  %0 = gv.transpose %w {order = array<i64: 0, 2, 1>} : (tensor<2x8x6xf32>) -> tensor<2x6x8xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x4x6xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  %2 = gv.transpose %v {order = array<i64: 1, 0, 2>} : (tensor<6x2x8xf32>) -> tensor<2x6x8xf32>
  %3 = gv.matmul %x, %2 : (tensor<2x4x6xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  func.return %1, %3 : tensor<2x4x8xf32>, tensor<2x4x8xf32>
}

// ->
// func.func @called(%x: tensor<2x4x6xf32>, %w: tensor<2x8x6xf32>, %v: tensor<6x2x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
//   %0 = gv.transpose %w {order = array<i64: 0, 2, 1>} : (tensor<2x8x6xf32>) -> tensor<2x6x8xf32>
//   %1 = gv.matmul_library %x, %w {function = "cblas_sgemm", transpose_rhs = true} : (tensor<2x4x6xf32>, tensor<2x8x6xf32>) -> tensor<2x4x8xf32>
//   %2 = gv.transpose %v {order = array<i64: 1, 0, 2>} : (tensor<6x2x8xf32>) -> tensor<2x6x8xf32>
//   %3 = gv.matmul_library %x, %2 {function = "cblas_sgemm"} : (tensor<2x4x6xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
//   func.return %1, %3 : tensor<2x4x8xf32>, tensor<2x4x8xf32>
// }

// -----
// A transposed transpose is as it was, f64 has a function of its own, integers have none.
func.func @kinds(%x: tensor<6x4xf64>, %n: tensor<4x6xi32>, %m: tensor<6x8xi32>) -> (tensor<4x4xf64>, tensor<4x8xi32>) {
  %0 = gv.transpose %x {order = array<i64: 1, 0>} : (tensor<6x4xf64>) -> tensor<4x6xf64>
  %1 = gv.matmul %0, %0 {transpose_rhs = true} : (tensor<4x6xf64>, tensor<4x6xf64>) -> tensor<4x4xf64>
  %2 = gv.matmul %n, %m : (tensor<4x6xi32>, tensor<6x8xi32>) -> tensor<4x8xi32>
  func.return %1, %2 : tensor<4x4xf64>, tensor<4x8xi32>
}

// ->
// func.func @kinds(%x: tensor<6x4xf64>, %n: tensor<4x6xi32>, %m: tensor<6x8xi32>) -> (tensor<4x4xf64>, tensor<4x8xi32>) {
//   %0 = gv.transpose %x {order = array<i64: 1, 0>} : (tensor<6x4xf64>) -> tensor<4x6xf64>
//   %1 = gv.matmul_library %x, %x {function = "cblas_dgemm", transpose_lhs = true} : (tensor<6x4xf64>, tensor<6x4xf64>) -> tensor<4x4xf64>
//   %2 = gv.matmul %n, %m : (tensor<4x6xi32>, tensor<6x8xi32>) -> tensor<4x8xi32>
//   func.return %1, %2 : tensor<4x4xf64>, tensor<4x8xi32>
// }

// -----
// A size that may be more than 32 bits hold.
func.func @unbounded(%x: tensor<?x6xf32, #gv.dims<"N, 6">>, %w: tensor<6x2xf32>) -> tensor<?x2xf32, #gv.dims<"N, 2">> {
  %0 = gv.matmul %x, %w : (tensor<?x6xf32, #gv.dims<"N, 6">>, tensor<6x2xf32>) -> tensor<?x2xf32, #gv.dims<"N, 2">>
  func.return %0 : tensor<?x2xf32, #gv.dims<"N, 2">>
}

// ->
// func.func @unbounded(%x: tensor<?x6xf32, #gv.dims<"N, 6">>, %w: tensor<6x2xf32>) -> tensor<?x2xf32, #gv.dims<"N, 2">> {
//   %0 = gv.matmul %x, %w : (tensor<?x6xf32, #gv.dims<"N, 6">>, tensor<6x2xf32>) -> tensor<?x2xf32, #gv.dims<"N, 2">>
//   func.return %0 : tensor<?x2xf32, #gv.dims<"N, 2">>
// }
