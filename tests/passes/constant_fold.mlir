// test: constant-fold{limit=8},dce

func.func @add() -> tensor<2xf32> {
  %0 = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %2 = gv.add %0, %1 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}

// ->
// func.func @add() -> tensor<2xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "2", [4.0, 5.0]>} : () -> tensor<2xf32>
//   func.return %0 : tensor<2xf32>
// }

// -----
func.func @chain() -> tensor<2xf32> {
  %0 = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
  %1 = gv.mul %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.neg %1 : (tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}

// ->
// func.func @chain() -> tensor<2xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "2", [-1.0, -4.0]>} : () -> tensor<2xf32>
//   func.return %0 : tensor<2xf32>
// }

// -----
// An argument is not a constant.
func.func @argument(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

// ->
// func.func @argument(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
//   func.return %1 : tensor<2xf32>
// }

// -----
// Nine elements are over the limit.
func.func @large() -> tensor<9xf32> {
  %0 = gv.constant {value = #gv.array<f32, "9", splat 1.0>} : () -> tensor<9xf32>
  %1 = gv.add %0, %0 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  func.return %1 : tensor<9xf32>
}

// ->
// func.func @large() -> tensor<9xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "9", splat 1.0>} : () -> tensor<9xf32>
//   %1 = gv.add %0, %0 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
//   func.return %1 : tensor<9xf32>
// }

// -----
// So they are where only the operand has them.
func.func @large_operand() -> tensor<f32> {
  %0 = gv.constant {value = #gv.array<f32, "9", splat 1.0>} : () -> tensor<9xf32>
  %1 = gv.sum %0 {axes = array<i64: 0>} : (tensor<9xf32>) -> tensor<f32>
  func.return %1 : tensor<f32>
}

// ->
// func.func @large_operand() -> tensor<f32> {
//   %0 = gv.constant {value = #gv.array<f32, "9", splat 1.0>} : () -> tensor<9xf32>
//   %1 = gv.sum %0 {axes = array<i64: 0>} : (tensor<9xf32>) -> tensor<f32>
//   func.return %1 : tensor<f32>
// }

// -----
// What needs no operands folds only as a part of something else.
func.func @iota() -> (tensor<4xi64>, tensor<4xi64>) {
  %0 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = array<i64: 4>} : () -> tensor<4xi64>
  %1 = gv.neg %0 : (tensor<4xi64>) -> tensor<4xi64>
  func.return %0, %1 : tensor<4xi64>, tensor<4xi64>
}

// ->
// func.func @iota() -> (tensor<4xi64>, tensor<4xi64>) {
//   %0 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = array<i64: 4>} : () -> tensor<4xi64>
//   %1 = gv.constant {value = #gv.array<i64, "4", [0, -1, -2, -3]>} : () -> tensor<4xi64>
//   func.return %0, %1 : tensor<4xi64>, tensor<4xi64>
// }

// -----
// A symbol has no value yet.
func.func @symbol(%x: tensor<?xf32, #gv.dims<"N">>) -> tensor<1xi64> {
  %0 = gv.extent {values = #gv.dims<"N">} : () -> tensor<1xi64>
  %1 = gv.neg %0 : (tensor<1xi64>) -> tensor<1xi64>
  func.return %1 : tensor<1xi64>
}

// ->
// func.func @symbol(%x: tensor<?xf32, #gv.dims<"N">>) -> tensor<1xi64> {
//   %0 = gv.extent {values = #gv.dims<"N">} : () -> tensor<1xi64>
//   %1 = gv.neg %0 : (tensor<1xi64>) -> tensor<1xi64>
//   func.return %1 : tensor<1xi64>
// }

// -----
func.func @weight() -> tensor<2xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @w} : () -> tensor<2xf32>
  %1 = gv.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

// ->
// func.func @weight() -> tensor<2xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @w} : () -> tensor<2xf32>
//   %1 = gv.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %1 : tensor<2xf32>
// }
