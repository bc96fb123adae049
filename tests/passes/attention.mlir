// test: attention,dce

func.func @scaled_and_masked(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>, %m: tensor<1x1x1x5xf32>) -> tensor<1x2x3x6xf32> {
  %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x5xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %2 = gv.mul %0, %1 : (tensor<1x2x3x5xf32>, tensor<f32>) -> tensor<1x2x3x5xf32>
  %3 = gv.add %2, %m : (tensor<1x2x3x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x2x3x5xf32>
  %4 = gv.softmax %3 {axis = 3 : i64} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %5 = gv.matmul %4, %v : (tensor<1x2x3x5xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>
  func.return %5 : tensor<1x2x3x6xf32>
}

// ->
// func.func @scaled_and_masked(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>, %m: tensor<1x1x1x5xf32>) -> tensor<1x2x3x6xf32> {
//   %0 = gv.attention %q, %k, %v, %m {scale = 5.000000e-01 : f64} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x6xf32>, tensor<1x1x1x5xf32>) -> tensor<1x2x3x6xf32>
//   func.return %0 : tensor<1x2x3x6xf32>
// }

// -----
// Keys that are columns, factors of both sides, a mask of booleans, rows without anything to see.
func.func @guarded(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x6x5xf32>, %m: tensor<3x5xi1>) -> tensor<2x3x6xf32> {
  %0 = gv.constant {value = #gv.array<f32, "1", [0.5]>} : () -> tensor<1xf32>
  %1 = gv.mul %q, %0 : (tensor<2x3x4xf32>, tensor<1xf32>) -> tensor<2x3x4xf32>
  %2 = gv.mul %k, %0 : (tensor<2x4x5xf32>, tensor<1xf32>) -> tensor<2x4x5xf32>
  %3 = gv.matmul %1, %2 : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %5 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
  %6 = gv.select %m, %4, %5 : (tensor<3x5xi1>, tensor<f32>, tensor<f32>) -> tensor<3x5xf32>
  %7 = gv.add %3, %6 : (tensor<2x3x5xf32>, tensor<3x5xf32>) -> tensor<2x3x5xf32>
  %8 = gv.softmax %7 {axis = 2 : i64} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %9 = gv.max %6 {axes = array<i64: 1>, keepdims = true} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %10 = gv.equal %9, %5 : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xi1>
  %11 = gv.select %10, %4, %8 : (tensor<3x1xi1>, tensor<f32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %12 = gv.matmul %11, %v {transpose_rhs = true} : (tensor<2x3x5xf32>, tensor<2x6x5xf32>) -> tensor<2x3x6xf32>
  func.return %12 : tensor<2x3x6xf32>
}

// ->
// func.func @guarded(%q: tensor<2x3x4xf32>, %k: tensor<2x4x5xf32>, %v: tensor<2x6x5xf32>, %m: tensor<3x5xi1>) -> tensor<2x3x6xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
//   %2 = gv.select %m, %0, %1 : (tensor<3x5xi1>, tensor<f32>, tensor<f32>) -> tensor<3x5xf32>
//   %3 = gv.max %2 {axes = array<i64: 1>, keepdims = true} : (tensor<3x5xf32>) -> tensor<3x1xf32>
//   %4 = gv.equal %3, %1 : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xi1>
//   %5 = gv.transpose %k {order = array<i64: 0, 2, 1>} : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
//   %6 = gv.transpose %v {order = array<i64: 0, 2, 1>} : (tensor<2x6x5xf32>) -> tensor<2x5x6xf32>
//   %7 = gv.attention %q, %5, %6, %2 {scale = 2.500000e-01 : f64} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32>) -> tensor<2x3x6xf32>
//   %8 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %9 = gv.select %4, %8, %7 : (tensor<3x1xi1>, tensor<f32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
//   func.return %9 : tensor<2x3x6xf32>
// }

// -----
func.func @capped_then_hidden(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x6xf32>, %m: tensor<3x5xi1>) -> tensor<3x6xf32> {
  %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %2 = gv.div %0, %1 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  %3 = gv.tanh %2 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %4 = gv.mul %3, %1 : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  %5 = gv.constant {value = #gv.array<f32, "", [-3.3999999521443642e+38]>} : () -> tensor<f32>
  %6 = gv.select %m, %5, %4 : (tensor<3x5xi1>, tensor<f32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %7 = gv.softmax %6 {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %8 = gv.matmul %7, %v : (tensor<3x5xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  func.return %8 : tensor<3x6xf32>
}

// ->
// func.func @capped_then_hidden(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x6xf32>, %m: tensor<3x5xi1>) -> tensor<3x6xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", [-3.3999999521443642e+38]>} : () -> tensor<f32>
//   %2 = gv.select %m, %1, %0 : (tensor<3x5xi1>, tensor<f32>, tensor<f32>) -> tensor<3x5xf32>
//   %3 = gv.attention %q, %k, %v, %2 {hiding = true, softcap = 2.000000e+00 : f64} : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x6xf32>, tensor<3x5xf32>) -> tensor<3x6xf32>
//   func.return %3 : tensor<3x6xf32>
// }

// -----
// What hides by position what comes later needs no mask: the last query sees all keys.
func.func @causal(%p: tensor<?xf32, #gv.dims<"past">>, %q: tensor<?x4xf32, #gv.dims<"s, 4">>, %k: tensor<?x4xf32, #gv.dims<"past + s, 4">>, %v: tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">> {
  %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<?x4xf32, #gv.dims<"s, 4">>, tensor<?x4xf32, #gv.dims<"past + s, 4">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %1 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = #gv.dims<"s, 1">} : () -> tensor<?x1xi64, #gv.dims<"s, 1">>
  %2 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = #gv.dims<"past + s">} : () -> tensor<?xi64, #gv.dims<"past + s">>
  %3 = gv.extent {values = [#gv.dim<"past">]} : () -> tensor<1xi64>
  %4 = gv.add %1, %3 : (tensor<?x1xi64, #gv.dims<"s, 1">>, tensor<1xi64>) -> tensor<?x1xi64, #gv.dims<"s, 1">>
  %5 = gv.less_equal %2, %4 : (tensor<?xi64, #gv.dims<"past + s">>, tensor<?x1xi64, #gv.dims<"s, 1">>) -> tensor<?x?xi1, #gv.dims<"s, past + s">>
  %6 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %7 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
  %8 = gv.select %5, %6, %7 : (tensor<?x?xi1, #gv.dims<"s, past + s">>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %9 = gv.add %0, %8 : (tensor<?x?xf32, #gv.dims<"s, past + s">>, tensor<?x?xf32, #gv.dims<"s, past + s">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %10 = gv.softmax %9 {axis = 1 : i64} : (tensor<?x?xf32, #gv.dims<"s, past + s">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %11 = gv.matmul %10, %v : (tensor<?x?xf32, #gv.dims<"s, past + s">>, tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">>
  func.return %11 : tensor<?x6xf32, #gv.dims<"s, 6">>
}

// ->
// func.func @causal(%p: tensor<?xf32, #gv.dims<"past">>, %q: tensor<?x4xf32, #gv.dims<"s, 4">>, %k: tensor<?x4xf32, #gv.dims<"past + s, 4">>, %v: tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">> {
//   %0 = gv.attention %q, %k, %v {causal = true} : (tensor<?x4xf32, #gv.dims<"s, 4">>, tensor<?x4xf32, #gv.dims<"past + s, 4">>, tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">>
//   func.return %0 : tensor<?x6xf32, #gv.dims<"s, 6">>
// }

// -----
// The condition says what is hidden.
func.func @turned(%p: tensor<?xf32, #gv.dims<"past">>, %q: tensor<?x4xf32, #gv.dims<"s, 4">>, %k: tensor<?x4xf32, #gv.dims<"past + s, 4">>, %v: tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">> {
  %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<?x4xf32, #gv.dims<"s, 4">>, tensor<?x4xf32, #gv.dims<"past + s, 4">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %1 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = #gv.dims<"s, 1">} : () -> tensor<?x1xi64, #gv.dims<"s, 1">>
  %2 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = #gv.dims<"past + s">} : () -> tensor<?xi64, #gv.dims<"past + s">>
  %3 = gv.extent {values = [#gv.dim<"past">]} : () -> tensor<1xi64>
  %4 = gv.add %1, %3 : (tensor<?x1xi64, #gv.dims<"s, 1">>, tensor<1xi64>) -> tensor<?x1xi64, #gv.dims<"s, 1">>
  %5 = gv.less %4, %2 : (tensor<?x1xi64, #gv.dims<"s, 1">>, tensor<?xi64, #gv.dims<"past + s">>) -> tensor<?x?xi1, #gv.dims<"s, past + s">>
  %6 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %7 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
  %8 = gv.select %5, %7, %6 : (tensor<?x?xi1, #gv.dims<"s, past + s">>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %9 = gv.add %0, %8 : (tensor<?x?xf32, #gv.dims<"s, past + s">>, tensor<?x?xf32, #gv.dims<"s, past + s">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %10 = gv.softmax %9 {axis = 1 : i64} : (tensor<?x?xf32, #gv.dims<"s, past + s">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %11 = gv.matmul %10, %v : (tensor<?x?xf32, #gv.dims<"s, past + s">>, tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">>
  func.return %11 : tensor<?x6xf32, #gv.dims<"s, 6">>
}

// ->
// func.func @turned(%p: tensor<?xf32, #gv.dims<"past">>, %q: tensor<?x4xf32, #gv.dims<"s, 4">>, %k: tensor<?x4xf32, #gv.dims<"past + s, 4">>, %v: tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">> {
//   %0 = gv.attention %q, %k, %v {causal = true} : (tensor<?x4xf32, #gv.dims<"s, 4">>, tensor<?x4xf32, #gv.dims<"past + s, 4">>, tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">>
//   func.return %0 : tensor<?x6xf32, #gv.dims<"s, 6">>
// }

// -----
// The last query sees one key less: a bias like any other.
func.func @shifted(%p: tensor<?xf32, #gv.dims<"past">>, %q: tensor<?x4xf32, #gv.dims<"s, 4">>, %k: tensor<?x4xf32, #gv.dims<"past + s, 4">>, %v: tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">> {
  %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<?x4xf32, #gv.dims<"s, 4">>, tensor<?x4xf32, #gv.dims<"past + s, 4">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %1 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = #gv.dims<"s, 1">} : () -> tensor<?x1xi64, #gv.dims<"s, 1">>
  %2 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = #gv.dims<"past + s">} : () -> tensor<?xi64, #gv.dims<"past + s">>
  %3 = gv.extent {values = [#gv.dim<"past - 1">]} : () -> tensor<1xi64>
  %4 = gv.add %1, %3 : (tensor<?x1xi64, #gv.dims<"s, 1">>, tensor<1xi64>) -> tensor<?x1xi64, #gv.dims<"s, 1">>
  %5 = gv.less_equal %2, %4 : (tensor<?xi64, #gv.dims<"past + s">>, tensor<?x1xi64, #gv.dims<"s, 1">>) -> tensor<?x?xi1, #gv.dims<"s, past + s">>
  %6 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %7 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
  %8 = gv.select %5, %6, %7 : (tensor<?x?xi1, #gv.dims<"s, past + s">>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %9 = gv.add %0, %8 : (tensor<?x?xf32, #gv.dims<"s, past + s">>, tensor<?x?xf32, #gv.dims<"s, past + s">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %10 = gv.softmax %9 {axis = 1 : i64} : (tensor<?x?xf32, #gv.dims<"s, past + s">>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
  %11 = gv.matmul %10, %v : (tensor<?x?xf32, #gv.dims<"s, past + s">>, tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">>
  func.return %11 : tensor<?x6xf32, #gv.dims<"s, 6">>
}

// ->
// func.func @shifted(%p: tensor<?xf32, #gv.dims<"past">>, %q: tensor<?x4xf32, #gv.dims<"s, 4">>, %k: tensor<?x4xf32, #gv.dims<"past + s, 4">>, %v: tensor<?x6xf32, #gv.dims<"past + s, 6">>) -> tensor<?x6xf32, #gv.dims<"s, 6">> {
//   %0 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = #gv.dims<"s, 1">} : () -> tensor<?x1xi64, #gv.dims<"s, 1">>
//   %1 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = #gv.dims<"past + s">} : () -> tensor<?xi64, #gv.dims<"past + s">>
//   %2 = gv.extent {values = [#gv.dim<"past - 1">]} : () -> tensor<1xi64>
//   %3 = gv.add %0, %2 : (tensor<?x1xi64, #gv.dims<"s, 1">>, tensor<1xi64>) -> tensor<?x1xi64, #gv.dims<"s, 1">>
//   %4 = gv.less_equal %1, %3 : (tensor<?xi64, #gv.dims<"past + s">>, tensor<?x1xi64, #gv.dims<"s, 1">>) -> tensor<?x?xi1, #gv.dims<"s, past + s">>
//   %5 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %6 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
//   %7 = gv.select %4, %5, %6 : (tensor<?x?xi1, #gv.dims<"s, past + s">>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #gv.dims<"s, past + s">>
//   %8 = gv.attention %q, %k, %v, %7 : (tensor<?x4xf32, #gv.dims<"s, 4">>, tensor<?x4xf32, #gv.dims<"past + s, 4">>, tensor<?x6xf32, #gv.dims<"past + s, 6">>, tensor<?x?xf32, #gv.dims<"s, past + s">>) -> tensor<?x6xf32, #gv.dims<"s, 6">>
//   func.return %8 : tensor<?x6xf32, #gv.dims<"s, 6">>
// }

// -----
// The weights have another user, and 1e4 is too little to hide.
func.func @stay(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x6xf32>, %m: tensor<3x5xi1>) -> (tensor<3x6xf32>, tensor<3x5xf32>, tensor<3x6xf32>) {
  %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %1 = gv.softmax %0 {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = gv.matmul %1, %v : (tensor<3x5xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  %3 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [-10000.0]>} : () -> tensor<f32>
  %5 = gv.select %m, %3, %4 : (tensor<3x5xi1>, tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  %6 = gv.softmax %5 {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %7 = gv.matmul %6, %v : (tensor<3x5xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  func.return %2, %1, %7 : tensor<3x6xf32>, tensor<3x5xf32>, tensor<3x6xf32>
}

// ->
// func.func @stay(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x6xf32>, %m: tensor<3x5xi1>) -> (tensor<3x6xf32>, tensor<3x5xf32>, tensor<3x6xf32>) {
//   %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
//   %1 = gv.softmax %0 {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
//   %2 = gv.matmul %1, %v : (tensor<3x5xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
//   %3 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
//   %4 = gv.constant {value = #gv.array<f32, "", [-10000.0]>} : () -> tensor<f32>
//   %5 = gv.select %m, %3, %4 : (tensor<3x5xi1>, tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
//   %6 = gv.softmax %5 {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
//   %7 = gv.matmul %6, %v : (tensor<3x5xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
//   func.return %2, %1, %7 : tensor<3x6xf32>, tensor<3x5xf32>, tensor<3x6xf32>
// }

// -----
// count: gv.attention 1
builtin.module attributes {gv.target = "cuda:sm_90a"} {
  func.func @on_a_gpu(%q: tensor<3x4xf16>, %k: tensor<5x4xf16>, %v: tensor<5x6xf16>) -> tensor<3x6xf16> {
    %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<3x4xf16>, tensor<5x4xf16>) -> tensor<3x5xf16>
    %1 = gv.softmax %0 {axis = 1 : i64} : (tensor<3x5xf16>) -> tensor<3x5xf16>
    %2 = gv.matmul %1, %v : (tensor<3x5xf16>, tensor<5x6xf16>) -> tensor<3x6xf16>
    func.return %2 : tensor<3x6xf16>
  }
}

// -----
// Weights in f32 between scores and values of 16 bits, and a mask of known truths.
// differs: weights are rounded to the type of the values
builtin.module attributes {gv.target = "cuda:sm_90a"} {
  func.func @unrounded(%q: tensor<2x4xf16>, %k: tensor<3x4xf16>, %v: tensor<3x6xf16>) -> tensor<2x6xf16> {
    %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<2x4xf16>, tensor<3x4xf16>) -> tensor<2x3xf16>
    %1 = gv.constant {value = #gv.array<bool, "2,3", [false, false, true, false, false, false]>} : () -> tensor<2x3xi1>
    %2 = gv.constant {value = #gv.array<f16, "", ["-inf"]>} : () -> tensor<f16>
    %3 = gv.select %1, %2, %0 : (tensor<2x3xi1>, tensor<f16>, tensor<2x3xf16>) -> tensor<2x3xf16>
    %4 = gv.cast %3 {dtype = #gv.dtype<f32>} : (tensor<2x3xf16>) -> tensor<2x3xf32>
    %5 = gv.softmax %4 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %6 = gv.cast %v {dtype = #gv.dtype<f32>} : (tensor<3x6xf16>) -> tensor<3x6xf32>
    %7 = gv.matmul %5, %6 : (tensor<2x3xf32>, tensor<3x6xf32>) -> tensor<2x6xf32>
    %8 = gv.cast %7 {dtype = #gv.dtype<f16>} : (tensor<2x6xf32>) -> tensor<2x6xf16>
    func.return %8 : tensor<2x6xf16>
  }
}

// ->
// builtin.module attributes {gv.target = "cuda:sm_90a"} {
//   func.func @unrounded(%q: tensor<2x4xf16>, %k: tensor<3x4xf16>, %v: tensor<3x6xf16>) -> tensor<2x6xf16> {
//     %0 = gv.attention %q, %k, %v {causal = true} : (tensor<2x4xf16>, tensor<3x4xf16>, tensor<3x6xf16>) -> tensor<2x6xf16>
//     %1 = gv.cast %0 {dtype = #gv.dtype<f32>} : (tensor<2x6xf16>) -> tensor<2x6xf32>
//     %2 = gv.cast %1 {dtype = #gv.dtype<f16>} : (tensor<2x6xf32>) -> tensor<2x6xf16>
//     func.return %2 : tensor<2x6xf16>
//   }
// }

// -----
// Of 16 bits only on GPUs.
// count: gv.attention 0
func.func @halves(%q: tensor<3x4xf16>, %k: tensor<5x4xf16>, %v: tensor<5x6xf16>) -> tensor<3x6xf16> {
  %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<3x4xf16>, tensor<5x4xf16>) -> tensor<3x5xf16>
  %1 = gv.softmax %0 {axis = 1 : i64} : (tensor<3x5xf16>) -> tensor<3x5xf16>
  %2 = gv.matmul %1, %v : (tensor<3x5xf16>, tensor<5x6xf16>) -> tensor<3x6xf16>
  func.return %2 : tensor<3x6xf16>
}

// -----
// A part of a stored mask of truths, where what is not seen is replaced.
func.func @part_of_a_mask(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32> {
  %0 = gv.matmul %q, %k {transpose_rhs = true} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x5xf32>
  %1 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = array<i64: 8, 1>} : () -> tensor<8x1xi64>
  %2 = gv.iota {axis = 1 : i64, dtype = #gv.dtype<i64>, shape = array<i64: 1, 8>} : () -> tensor<1x8xi64>
  %3 = gv.greater_equal %1, %2 : (tensor<8x1xi64>, tensor<1x8xi64>) -> tensor<8x8xi1>
  %4 = gv.reshape %3 {shape = array<i64: 1, 1, 8, 8>} : (tensor<8x8xi1>) -> tensor<1x1x8x8xi1>
  %5 = gv.slice %4 {starts = array<i64: 0, 0, 2, 0>, steps = array<i64: 1, 1, 1, 1>, stops = array<i64: 1, 1, 5, 5>} : (tensor<1x1x8x8xi1>) -> tensor<1x1x3x5xi1>
  %6 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
  %7 = gv.select %5, %0, %6 : (tensor<1x1x3x5xi1>, tensor<1x2x3x5xf32>, tensor<f32>) -> tensor<1x2x3x5xf32>
  %8 = gv.softmax %7 {axis = 3 : i64} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %9 = gv.matmul %8, %v : (tensor<1x2x3x5xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>
  func.return %9 : tensor<1x2x3x6xf32>
}

// ->
// func.func @part_of_a_mask(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32> {
//   %0 = gv.attention %q, %k, %v {causal = true} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>
//   func.return %0 : tensor<1x2x3x6xf32>
// }
