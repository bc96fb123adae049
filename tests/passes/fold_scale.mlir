// test: fold-scale

func.func @product(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  func.return %3 : tensor<2x4xf32>
}

// ->
// func.func @product(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %2 = gv.mul %0, %1 : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
//   %3 = gv.matmul %x, %2 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   func.return %3 : tensor<2x4xf32>
// }

// -----
func.func @product_with_offset(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
  %3 = gv.add %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %5 = gv.mul %3, %4 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  func.return %5 : tensor<2x4xf32>
}

// ->
// func.func @product_with_offset(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %3 = gv.mul %1, %2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
//   %4 = gv.mul %0, %2 : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
//   %5 = gv.matmul %x, %4 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %6 = gv.add %5, %3 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//   func.return %6 : tensor<2x4xf32>
// }

// -----
func.func @divided_convolution(%x: tensor<1x2x5xf32>) -> tensor<1x3x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 2, 2>, weight = @w} : () -> tensor<3x2x2xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<3x2x2xf32>) -> tensor<1x3x4xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %3 = gv.div %1, %2 : (tensor<1x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
  func.return %3 : tensor<1x3x4xf32>
}

// ->
// func.func @divided_convolution(%x: tensor<1x2x5xf32>) -> tensor<1x3x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 2, 2>, weight = @w} : () -> tensor<3x2x2xf32>
//   %1 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
//   %2 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %3 = gv.div %2, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
//   %4 = gv.mul %0, %3 : (tensor<3x2x2xf32>, tensor<f32>) -> tensor<3x2x2xf32>
//   %5 = gv.conv %x, %4 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<3x2x2xf32>) -> tensor<1x3x4xf32>
//   func.return %5 : tensor<1x3x4xf32>
// }

// -----
// Back over the scores, the transpose and the reshape.
func.func @attention(%x: tensor<2x3xf32>, %k: tensor<2x5x2xf32>) -> tensor<2x2x5xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
  %3 = gv.add %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %4 = gv.reshape %3 {shape = array<i64: 2, 2, 2>} : (tensor<2x4xf32>) -> tensor<2x2x2xf32>
  %5 = gv.transpose %4 {order = array<i64: 1, 0, 2>} : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %6 = gv.matmul %5, %k {transpose_rhs = true} : (tensor<2x2x2xf32>, tensor<2x5x2xf32>) -> tensor<2x2x5xf32>
  %7 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %8 = gv.mul %6, %7 : (tensor<2x2x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
  func.return %8 : tensor<2x2x5xf32>
}

// ->
// func.func @attention(%x: tensor<2x3xf32>, %k: tensor<2x5x2xf32>) -> tensor<2x2x5xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %3 = gv.mul %1, %2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
//   %4 = gv.mul %0, %2 : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
//   %5 = gv.matmul %x, %4 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %6 = gv.add %5, %3 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//   %7 = gv.reshape %6 {shape = array<i64: 2, 2, 2>} : (tensor<2x4xf32>) -> tensor<2x2x2xf32>
//   %8 = gv.transpose %7 {order = array<i64: 1, 0, 2>} : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
//   %9 = gv.matmul %8, %k {transpose_rhs = true} : (tensor<2x2x2xf32>, tensor<2x5x2xf32>) -> tensor<2x2x5xf32>
//   func.return %9 : tensor<2x2x5xf32>
// }

// -----
// The product is needed without the factor, too.
func.func @used_twice(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  func.return %3, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// ->
// func.func @used_twice(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//   func.return %3, %1 : tensor<2x4xf32>, tensor<2x4xf32>
// }

// -----
// One factor for each column is the matter of fold-batch-norm.
func.func @factor_of_column(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
  %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %3 : tensor<2x4xf32>
}

// ->
// func.func @factor_of_column(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
//   %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//   func.return %3 : tensor<2x4xf32>
// }

// -----
// Scaling x or k is no cheaper.
func.func @no_weight(%x: tensor<2x3xf32>, %k: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = gv.matmul %x, %k : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %2 = gv.mul %0, %1 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  func.return %2 : tensor<2x4xf32>
}

// ->
// func.func @no_weight(%x: tensor<2x3xf32>, %k: tensor<3x4xf32>) -> tensor<2x4xf32> {
//   %0 = gv.matmul %x, %k : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %1 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %2 = gv.mul %0, %1 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//   func.return %2 : tensor<2x4xf32>
// }

// -----
// The factor differs from call to call.
func.func @changing_factor(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.mul %1, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  func.return %2 : tensor<2x4xf32>
}

// ->
// func.func @changing_factor(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.mul %1, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//   func.return %2 : tensor<2x4xf32>
// }

// -----
func.func @not_over_other_operations(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.exp %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %4 = gv.mul %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  func.return %4 : tensor<2x4xf32>
}

// ->
// func.func @not_over_other_operations(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.exp %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
//   %3 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %4 = gv.mul %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//   func.return %4 : tensor<2x4xf32>
// }
