// test: cancel-transposes

func.func @around_relu(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.relu %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = gv.transpose %1 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  func.return %2 : tensor<2x3x4x5xf32>
}

// ->
// func.func @around_relu(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
//   %0 = gv.relu %x : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
//   func.return %0 : tensor<2x3x4x5xf32>
// }

// -----
// The row of weights becomes a column.
func.func @around_chain(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
  %2 = gv.add %0, %1 : (tensor<2x4x5x3xf32>, tensor<3xf32>) -> tensor<2x4x5x3xf32>
  %3 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %4 = gv.mul %2, %3 : (tensor<2x4x5x3xf32>, tensor<f32>) -> tensor<2x4x5x3xf32>
  %5 = gv.transpose %4 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  func.return %5 : tensor<2x3x4x5xf32>
}

// ->
// func.func @around_chain(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
//   %1 = gv.reshape %0 {shape = array<i64: 3, 1, 1>} : (tensor<3xf32>) -> tensor<3x1x1xf32>
//   %2 = gv.add %x, %1 : (tensor<2x3x4x5xf32>, tensor<3x1x1xf32>) -> tensor<2x3x4x5xf32>
//   %3 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %4 = gv.mul %2, %3 : (tensor<2x3x4x5xf32>, tensor<f32>) -> tensor<2x3x4x5xf32>
//   func.return %4 : tensor<2x3x4x5xf32>
// }

// -----
// One transpose is left.
func.func @merge(%x: tensor<2x3x4x5xf32>) -> tensor<2x5x3x4xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.relu %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = gv.transpose %1 {order = array<i64: 0, 2, 3, 1>} : (tensor<2x4x5x3xf32>) -> tensor<2x5x3x4xf32>
  func.return %2 : tensor<2x5x3x4xf32>
}

// ->
// func.func @merge(%x: tensor<2x3x4x5xf32>) -> tensor<2x5x3x4xf32> {
//   %0 = gv.relu %x : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
//   %1 = gv.transpose %0 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x3x4x5xf32>) -> tensor<2x5x3x4xf32>
//   func.return %1 : tensor<2x5x3x4xf32>
// }

// -----
func.func @over_softmax_and_mean(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.softmax %0 {axis = 3 : i64} : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = gv.mean %1 {axes = array<i64: 1>} : (tensor<2x4x5x3xf32>) -> tensor<2x5x3xf32>
  %3 = gv.transpose %2 {order = array<i64: 0, 2, 1>} : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
  func.return %3 : tensor<2x3x5xf32>
}

// ->
// func.func @over_softmax_and_mean(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32> {
//   %0 = gv.softmax %x {axis = 1 : i64} : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
//   %1 = gv.mean %0 {axes = array<i64: 2>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32>
//   func.return %1 : tensor<2x3x5xf32>
// }

// -----
func.func @over_reshape(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.reshape %0 {shape = array<i64: 2, 20, 3>} : (tensor<2x4x5x3xf32>) -> tensor<2x20x3xf32>
  %2 = gv.transpose %1 {order = array<i64: 0, 2, 1>} : (tensor<2x20x3xf32>) -> tensor<2x3x20xf32>
  func.return %2 : tensor<2x3x20xf32>
}

// ->
// func.func @over_reshape(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32> {
//   %0 = gv.reshape %x {shape = array<i64: 2, 3, 20>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
//   func.return %0 : tensor<2x3x20xf32>
// }

// -----
func.func @over_unit_axes(%x: tensor<4x5xf32>) -> tensor<1x4x5x1xf32> {
  %0 = gv.transpose %x {order = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = gv.reshape %0 {shape = array<i64: 1, 5, 4, 1>} : (tensor<5x4xf32>) -> tensor<1x5x4x1xf32>
  %2 = gv.transpose %1 {order = array<i64: 0, 2, 1, 3>} : (tensor<1x5x4x1xf32>) -> tensor<1x4x5x1xf32>
  func.return %2 : tensor<1x4x5x1xf32>
}

// ->
// func.func @over_unit_axes(%x: tensor<4x5xf32>) -> tensor<1x4x5x1xf32> {
//   %0 = gv.reshape %x {shape = array<i64: 4, 1, 1, 5>} : (tensor<4x5xf32>) -> tensor<4x1x1x5xf32>
//   %1 = gv.reshape %0 {shape = array<i64: 1, 4, 5, 1>} : (tensor<4x1x1x5xf32>) -> tensor<1x4x5x1xf32>
//   func.return %1 : tensor<1x4x5x1xf32>
// }

// -----
// The value between is needed in its own order.
func.func @used_between(%x: tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x4x5x3xf32>) {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.relu %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = gv.transpose %1 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  func.return %2, %1 : tensor<2x3x4x5xf32>, tensor<2x4x5x3xf32>
}

// ->
// func.func @used_between(%x: tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x4x5x3xf32>) {
//   %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
//   %1 = gv.relu %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
//   %2 = gv.transpose %1 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
//   func.return %2, %1 : tensor<2x3x4x5xf32>, tensor<2x4x5x3xf32>
// }

// -----
// Bringing y into the other order costs as much as is saved.
func.func @other_operand(%x: tensor<2x3x4x5xf32>, %y: tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.add %0, %y : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = gv.transpose %1 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  func.return %2 : tensor<2x3x4x5xf32>
}

// ->
// func.func @other_operand(%x: tensor<2x3x4x5xf32>, %y: tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32> {
//   %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
//   %1 = gv.add %0, %y : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
//   %2 = gv.transpose %1 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
//   func.return %2 : tensor<2x3x4x5xf32>
// }

// -----
func.func @not_over_matmul(%x: tensor<2x3x4x5xf32>) -> tensor<2x7x4x5xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 7>, weight = @w} : () -> tensor<3x7xf32>
  %2 = gv.matmul %0, %1 : (tensor<2x4x5x3xf32>, tensor<3x7xf32>) -> tensor<2x4x5x7xf32>
  %3 = gv.transpose %2 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x7xf32>) -> tensor<2x7x4x5xf32>
  func.return %3 : tensor<2x7x4x5xf32>
}

// ->
// func.func @not_over_matmul(%x: tensor<2x3x4x5xf32>) -> tensor<2x7x4x5xf32> {
//   %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 7>, weight = @w} : () -> tensor<3x7xf32>
//   %2 = gv.matmul %0, %1 : (tensor<2x4x5x3xf32>, tensor<3x7xf32>) -> tensor<2x4x5x7xf32>
//   %3 = gv.transpose %2 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x7xf32>) -> tensor<2x7x4x5xf32>
//   func.return %3 : tensor<2x7x4x5xf32>
// }

// -----
func.func @alone(%x: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.relu %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  func.return %1 : tensor<2x4x5x3xf32>
}

// ->
// func.func @alone(%x: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
//   %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
//   %1 = gv.relu %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
//   func.return %1 : tensor<2x4x5x3xf32>
// }

// -----
func.func @three(%x: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = gv.relu %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = gv.transpose %1 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  %3 = gv.exp %2 : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %4 = gv.transpose %3 {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  func.return %4 : tensor<2x4x5x3xf32>
}

// ->
// func.func @three(%x: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
//   %0 = gv.relu %x : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
//   %1 = gv.exp %0 : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
//   %2 = gv.transpose %1 {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
//   func.return %2 : tensor<2x4x5x3xf32>
// }
