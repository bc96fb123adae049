// test: choose-layout,dce

func.func @conv(%x: tensor<2x3x4x6xf32>) -> tensor<2x5x4x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  func.return %1 : tensor<2x5x4x6xf32>
}

// ->
// func.func @conv(%x: tensor<2x3x4x6xf32>) -> tensor<2x5x4x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.transpose %2 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x5xf32>) -> tensor<2x5x4x6xf32>
//   func.return %3 : tensor<2x5x4x6xf32>
// }

// -----
// One transpose before, one behind; the bias becomes a vector.
func.func @chain_with_bias(%x: tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 1, 1>, weight = @b} : () -> tensor<5x1x1xf32>
  %3 = gv.add %1, %2 : (tensor<2x5x4x6xf32>, tensor<5x1x1xf32>) -> tensor<2x5x4x6xf32>
  %4 = gv.relu %3 : (tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  %5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 5, 3, 3>, weight = @v} : () -> tensor<3x5x3x3xf32>
  %6 = gv.conv %4, %5 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x5x4x6xf32>, tensor<3x5x3x3xf32>) -> tensor<2x3x4x6xf32>
  func.return %6 : tensor<2x3x4x6xf32>
}

// ->
// func.func @chain_with_bias(%x: tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 1, 1>, weight = @b} : () -> tensor<5x1x1xf32>
//   %4 = gv.reshape %3 {shape = array<i64: 5>} : (tensor<5x1x1xf32>) -> tensor<5xf32>
//   %5 = gv.add %2, %4 : (tensor<2x4x6x5xf32>, tensor<5xf32>) -> tensor<2x4x6x5xf32>
//   %6 = gv.relu %5 : (tensor<2x4x6x5xf32>) -> tensor<2x4x6x5xf32>
//   %7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 5, 3, 3>, weight = @v} : () -> tensor<3x5x3x3xf32>
//   %8 = gv.conv %6, %7 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x5xf32>, tensor<3x5x3x3xf32>) -> tensor<2x4x6x3xf32>
//   %9 = gv.transpose %8 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x3xf32>) -> tensor<2x3x4x6xf32>
//   func.return %9 : tensor<2x3x4x6xf32>
// }

// -----
func.func @one_axis(%x: tensor<2x3x8xf32>) -> tensor<2x4x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 3>, weight = @w} : () -> tensor<4x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 1, 1>], strides = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x8xf32>
  %2 = gv.max_pool %1 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 2>, window = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4x4xf32>
  func.return %2 : tensor<2x4x4xf32>
}

// ->
// func.func @one_axis(%x: tensor<2x3x8xf32>) -> tensor<2x4x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 3>, weight = @w} : () -> tensor<4x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 1>} : (tensor<2x3x8xf32>) -> tensor<2x8x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1>, pads = [array<i64: 1, 1>], strides = array<i64: 1>} : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> tensor<2x8x4xf32>
//   %3 = gv.max_pool %2 {channels_last = true, dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 2>, window = array<i64: 2>} : (tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
//   %4 = gv.transpose %3 {order = array<i64: 0, 2, 1>} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
//   func.return %4 : tensor<2x4x4xf32>
// }

// -----
func.func @three_axes(%x: tensor<1x2x2x4x4xf32>) -> tensor<1x4x1x2x2xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 2, 3, 3, 3>, weight = @w} : () -> tensor<4x2x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1, 1>} : (tensor<1x2x2x4x4xf32>, tensor<4x2x3x3x3xf32>) -> tensor<1x4x2x4x4xf32>
  %2 = gv.max_pool %1 {dilations = array<i64: 1, 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2, 2>, window = array<i64: 2, 2, 2>} : (tensor<1x4x2x4x4xf32>) -> tensor<1x4x1x2x2xf32>
  func.return %2 : tensor<1x4x1x2x2xf32>
}

// ->
// func.func @three_axes(%x: tensor<1x2x2x4x4xf32>) -> tensor<1x4x1x2x2xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 2, 3, 3, 3>, weight = @w} : () -> tensor<4x2x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 4, 1>} : (tensor<1x2x2x4x4xf32>) -> tensor<1x2x4x4x2xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1, 1>} : (tensor<1x2x4x4x2xf32>, tensor<4x2x3x3x3xf32>) -> tensor<1x2x4x4x4xf32>
//   %3 = gv.max_pool %2 {channels_last = true, dilations = array<i64: 1, 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2, 2>, window = array<i64: 2, 2, 2>} : (tensor<1x2x4x4x4xf32>) -> tensor<1x1x2x2x4xf32>
//   %4 = gv.transpose %3 {order = array<i64: 0, 4, 1, 2, 3>} : (tensor<1x1x2x2x4xf32>) -> tensor<1x4x1x2x2xf32>
//   func.return %4 : tensor<1x4x1x2x2xf32>
// }

// -----
// The argument is brought into the order once.
func.func @residual(%x: tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 3, 3, 3>, weight = @w} : () -> tensor<3x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<3x3x3x3xf32>) -> tensor<2x3x4x6xf32>
  %2 = gv.add %1, %x : (tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 3, 3, 3>, weight = @v} : () -> tensor<3x3x3x3xf32>
  %4 = gv.conv %2, %3 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<3x3x3x3xf32>) -> tensor<2x3x4x6xf32>
  func.return %4 : tensor<2x3x4x6xf32>
}

// ->
// func.func @residual(%x: tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 3, 3, 3>, weight = @w} : () -> tensor<3x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<3x3x3x3xf32>) -> tensor<2x4x6x3xf32>
//   %3 = gv.add %2, %1 : (tensor<2x4x6x3xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x6x3xf32>
//   %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 3, 3, 3>, weight = @v} : () -> tensor<3x3x3x3xf32>
//   %5 = gv.conv %3, %4 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<3x3x3x3xf32>) -> tensor<2x4x6x3xf32>
//   %6 = gv.transpose %5 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x3xf32>) -> tensor<2x3x4x6xf32>
//   func.return %6 : tensor<2x3x4x6xf32>
// }

// -----
func.func @concat(%x: tensor<2x3x4x6xf32>) -> tensor<2x6x2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 3, 3>, weight = @w} : () -> tensor<4x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x6xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 3, 3, 3>, weight = @v} : () -> tensor<2x3x3x3xf32>
  %3 = gv.conv %x, %2 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<2x3x3x3xf32>) -> tensor<2x2x4x6xf32>
  %4 = gv.relu %3 : (tensor<2x2x4x6xf32>) -> tensor<2x2x4x6xf32>
  %5 = gv.concat %1, %4 {axis = 1 : i64} : (tensor<2x4x4x6xf32>, tensor<2x2x4x6xf32>) -> tensor<2x6x4x6xf32>
  %6 = gv.max_pool %5 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x6x4x6xf32>) -> tensor<2x6x2x3xf32>
  func.return %6 : tensor<2x6x2x3xf32>
}

// ->
// func.func @concat(%x: tensor<2x3x4x6xf32>) -> tensor<2x6x2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 3, 3>, weight = @w} : () -> tensor<4x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x4xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 3, 3, 3>, weight = @v} : () -> tensor<2x3x3x3xf32>
//   %4 = gv.conv %1, %3 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<2x3x3x3xf32>) -> tensor<2x4x6x2xf32>
//   %5 = gv.relu %4 : (tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
//   %6 = gv.concat %2, %5 {axis = 3 : i64} : (tensor<2x4x6x4xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
//   %7 = gv.max_pool %6 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x6x6xf32>) -> tensor<2x2x3x6xf32>
//   %8 = gv.transpose %7 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x2x3x6xf32>) -> tensor<2x6x2x3xf32>
//   func.return %8 : tensor<2x6x2x3xf32>
// }

// -----
// Where only axes of extent 1 move, nothing is moved.
func.func @global_pool_and_flatten(%x: tensor<2x3x4x6xf32>) -> tensor<2x7xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.mean %1 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<2x5x4x6xf32>) -> tensor<2x5x1x1xf32>
  %3 = gv.reshape %2 {shape = array<i64: 2, 5>} : (tensor<2x5x1x1xf32>) -> tensor<2x5xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 7>, weight = @v} : () -> tensor<5x7xf32>
  %5 = gv.matmul %3, %4 : (tensor<2x5xf32>, tensor<5x7xf32>) -> tensor<2x7xf32>
  func.return %5 : tensor<2x7xf32>
}

// ->
// func.func @global_pool_and_flatten(%x: tensor<2x3x4x6xf32>) -> tensor<2x7xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.mean %2 {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x4x6x5xf32>) -> tensor<2x1x1x5xf32>
//   %4 = gv.reshape %3 {shape = array<i64: 2, 5, 1, 1>} : (tensor<2x1x1x5xf32>) -> tensor<2x5x1x1xf32>
//   %5 = gv.reshape %4 {shape = array<i64: 2, 5>} : (tensor<2x5x1x1xf32>) -> tensor<2x5xf32>
//   %6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 7>, weight = @v} : () -> tensor<5x7xf32>
//   %7 = gv.matmul %5, %6 : (tensor<2x5xf32>, tensor<5x7xf32>) -> tensor<2x7xf32>
//   func.return %7 : tensor<2x7xf32>
// }

// -----
func.func @squeeze_and_excite(%x: tensor<2x3x4x6xf32>) -> tensor<2x5x2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.mean %1 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<2x5x4x6xf32>) -> tensor<2x5x1x1xf32>
  %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 5, 1, 1>, weight = @v} : () -> tensor<5x5x1x1xf32>
  %4 = gv.conv %2, %3 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<2x5x1x1xf32>, tensor<5x5x1x1xf32>) -> tensor<2x5x1x1xf32>
  %5 = gv.sigmoid %4 : (tensor<2x5x1x1xf32>) -> tensor<2x5x1x1xf32>
  %6 = gv.mul %1, %5 : (tensor<2x5x4x6xf32>, tensor<2x5x1x1xf32>) -> tensor<2x5x4x6xf32>
  %7 = gv.max_pool %6 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x5x4x6xf32>) -> tensor<2x5x2x3xf32>
  func.return %7 : tensor<2x5x2x3xf32>
}

// ->
// func.func @squeeze_and_excite(%x: tensor<2x3x4x6xf32>) -> tensor<2x5x2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.mean %2 {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x4x6x5xf32>) -> tensor<2x1x1x5xf32>
//   %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 5, 1, 1>, weight = @v} : () -> tensor<5x5x1x1xf32>
//   %5 = gv.conv %3, %4 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<2x1x1x5xf32>, tensor<5x5x1x1xf32>) -> tensor<2x1x1x5xf32>
//   %6 = gv.sigmoid %5 : (tensor<2x1x1x5xf32>) -> tensor<2x1x1x5xf32>
//   %7 = gv.mul %2, %6 : (tensor<2x4x6x5xf32>, tensor<2x1x1x5xf32>) -> tensor<2x4x6x5xf32>
//   %8 = gv.max_pool %7 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x6x5xf32>) -> tensor<2x2x3x5xf32>
//   %9 = gv.transpose %8 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x2x3x5xf32>) -> tensor<2x5x2x3xf32>
//   func.return %9 : tensor<2x5x2x3xf32>
// }

// -----
// The transpose asks for what the convolution computes anyway.
func.func @patches_to_rows(%x: tensor<2x3x4x6xf32>) -> tensor<2x24x5xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.reshape %1 {shape = array<i64: 2, 5, 24>} : (tensor<2x5x4x6xf32>) -> tensor<2x5x24xf32>
  %3 = gv.transpose %2 {order = array<i64: 0, 2, 1>} : (tensor<2x5x24xf32>) -> tensor<2x24x5xf32>
  func.return %3 : tensor<2x24x5xf32>
}

// ->
// func.func @patches_to_rows(%x: tensor<2x3x4x6xf32>) -> tensor<2x24x5xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.reshape %2 {shape = array<i64: 2, 24, 5>} : (tensor<2x4x6x5xf32>) -> tensor<2x24x5xf32>
//   func.return %3 : tensor<2x24x5xf32>
// }

// -----
// The elements must go back into order.
func.func @flatten_all(%x: tensor<2x3x4x6xf32>) -> tensor<2x120xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.reshape %1 {shape = array<i64: 2, 120>} : (tensor<2x5x4x6xf32>) -> tensor<2x120xf32>
  func.return %2 : tensor<2x120xf32>
}

// ->
// func.func @flatten_all(%x: tensor<2x3x4x6xf32>) -> tensor<2x120xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.transpose %2 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x5xf32>) -> tensor<2x5x4x6xf32>
//   %4 = gv.reshape %3 {shape = array<i64: 2, 120>} : (tensor<2x5x4x6xf32>) -> tensor<2x120xf32>
//   func.return %4 : tensor<2x120xf32>
// }

// -----
// The shuffle itself is one transpose.
func.func @pixel_shuffle(%x: tensor<2x3x4x6xf32>) -> tensor<2x3x8x12xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 3, 3, 3>, weight = @w} : () -> tensor<8x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<8x3x3x3xf32>) -> tensor<2x8x4x6xf32>
  %2 = gv.reshape %1 {shape = array<i64: 2, 2, 2, 2, 4, 6>} : (tensor<2x8x4x6xf32>) -> tensor<2x2x2x2x4x6xf32>
  %3 = gv.transpose %2 {order = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<2x2x2x2x4x6xf32>) -> tensor<2x2x4x2x6x2xf32>
  %4 = gv.reshape %3 {shape = array<i64: 2, 2, 8, 12>} : (tensor<2x2x4x2x6x2xf32>) -> tensor<2x2x8x12xf32>
  %5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 2, 3, 3>, weight = @v} : () -> tensor<3x2x3x3xf32>
  %6 = gv.conv %4, %5 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x2x8x12xf32>, tensor<3x2x3x3xf32>) -> tensor<2x3x8x12xf32>
  func.return %6 : tensor<2x3x8x12xf32>
}

// ->
// func.func @pixel_shuffle(%x: tensor<2x3x4x6xf32>) -> tensor<2x3x8x12xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 3, 3, 3>, weight = @w} : () -> tensor<8x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<8x3x3x3xf32>) -> tensor<2x4x6x8xf32>
//   %3 = gv.reshape %2 {shape = array<i64: 2, 4, 6, 2, 2, 2>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x2x2x2xf32>
//   %4 = gv.transpose %3 {order = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<2x4x6x2x2x2xf32>) -> tensor<2x4x2x6x2x2xf32>
//   %5 = gv.reshape %4 {shape = array<i64: 2, 8, 12, 2>} : (tensor<2x4x2x6x2x2xf32>) -> tensor<2x8x12x2xf32>
//   %6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 2, 3, 3>, weight = @v} : () -> tensor<3x2x3x3xf32>
//   %7 = gv.conv %5, %6 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x8x12x2xf32>, tensor<3x2x3x3xf32>) -> tensor<2x8x12x3xf32>
//   %8 = gv.transpose %7 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x8x12x3xf32>) -> tensor<2x3x8x12xf32>
//   func.return %8 : tensor<2x3x8x12xf32>
// }

// -----
func.func @slice_pad_softmax(%x: tensor<2x3x4x6xf32>) -> tensor<2x5x3x1xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.slice %1 {starts = array<i64: 0, 1, 0, 2>, steps = array<i64: 1, 1, 1, 2>, stops = array<i64: 2, 5, 4, 6>} : (tensor<2x5x4x6xf32>) -> tensor<2x4x4x2xf32>
  %3 = gv.pad %2 {pads = [array<i64: 0, 0>, array<i64: 1, 0>, array<i64: 0, 2>, array<i64: 0, 0>]} : (tensor<2x4x4x2xf32>) -> tensor<2x5x6x2xf32>
  %4 = gv.softmax %3 {axis = 1 : i64} : (tensor<2x5x6x2xf32>) -> tensor<2x5x6x2xf32>
  %5 = gv.max_pool %4 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x5x6x2xf32>) -> tensor<2x5x3x1xf32>
  func.return %5 : tensor<2x5x3x1xf32>
}

// ->
// func.func @slice_pad_softmax(%x: tensor<2x3x4x6xf32>) -> tensor<2x5x3x1xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.slice %2 {starts = array<i64: 0, 0, 2, 1>, steps = array<i64: 1, 1, 2, 1>, stops = array<i64: 2, 4, 6, 5>} : (tensor<2x4x6x5xf32>) -> tensor<2x4x2x4xf32>
//   %4 = gv.pad %3 {pads = [array<i64: 0, 0>, array<i64: 0, 2>, array<i64: 0, 0>, array<i64: 1, 0>]} : (tensor<2x4x2x4xf32>) -> tensor<2x6x2x5xf32>
//   %5 = gv.softmax %4 {axis = 3 : i64} : (tensor<2x6x2x5xf32>) -> tensor<2x6x2x5xf32>
//   %6 = gv.max_pool %5 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x6x2x5xf32>) -> tensor<2x3x1x5xf32>
//   %7 = gv.transpose %6 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x3x1x5xf32>) -> tensor<2x5x3x1xf32>
//   func.return %7 : tensor<2x5x3x1xf32>
// }

// -----
func.func @reduce_channels(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.max %1 {axes = array<i64: 1>} : (tensor<2x5x4x6xf32>) -> tensor<2x4x6xf32>
  func.return %2 : tensor<2x4x6xf32>
}

// ->
// func.func @reduce_channels(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.max %2 {axes = array<i64: 3>} : (tensor<2x4x6x5xf32>) -> tensor<2x4x6xf32>
//   func.return %3 : tensor<2x4x6xf32>
// }

// -----
func.func @argmax_of_channels(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x6xi64> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.argmax %1 {axis = 1 : i64} : (tensor<2x5x4x6xf32>) -> tensor<2x4x6xi64>
  func.return %2 : tensor<2x4x6xi64>
}

// ->
// func.func @argmax_of_channels(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x6xi64> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.argmax %2 {axis = 3 : i64} : (tensor<2x4x6x5xf32>) -> tensor<2x4x6xi64>
//   func.return %3 : tensor<2x4x6xi64>
// }

// -----
// A program that is channels-last outside keeps no transpose.
func.func @transposed_input(%x: tensor<2x4x6x3xf32>) -> tensor<2x2x3x5xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x3xf32>) -> tensor<2x3x4x6xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %2 = gv.conv %0, %1 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %3 = gv.max_pool %2 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x5x4x6xf32>) -> tensor<2x5x2x3xf32>
  %4 = gv.transpose %3 {order = array<i64: 0, 2, 3, 1>} : (tensor<2x5x2x3xf32>) -> tensor<2x2x3x5xf32>
  func.return %4 : tensor<2x2x3x5xf32>
}

// ->
// func.func @transposed_input(%x: tensor<2x4x6x3xf32>) -> tensor<2x2x3x5xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %2 = gv.max_pool %1 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x6x5xf32>) -> tensor<2x2x3x5xf32>
//   func.return %2 : tensor<2x2x3x5xf32>
// }

// -----
func.func @used_in_both_orders(%x: tensor<2x3x4x6xf32>) -> (tensor<2x5x4x2xf32>, tensor<2x3x4x6xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 2>, weight = @v} : () -> tensor<6x2xf32>
  %3 = gv.matmul %1, %2 : (tensor<2x5x4x6xf32>, tensor<6x2xf32>) -> tensor<2x5x4x2xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 5, 3, 3>, weight = @u} : () -> tensor<3x5x3x3xf32>
  %5 = gv.conv %1, %4 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x5x4x6xf32>, tensor<3x5x3x3xf32>) -> tensor<2x3x4x6xf32>
  func.return %3, %5 : tensor<2x5x4x2xf32>, tensor<2x3x4x6xf32>
}

// ->
// func.func @used_in_both_orders(%x: tensor<2x3x4x6xf32>) -> (tensor<2x5x4x2xf32>, tensor<2x3x4x6xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.transpose %2 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x5xf32>) -> tensor<2x5x4x6xf32>
//   %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 2>, weight = @v} : () -> tensor<6x2xf32>
//   %5 = gv.matmul %3, %4 : (tensor<2x5x4x6xf32>, tensor<6x2xf32>) -> tensor<2x5x4x2xf32>
//   %6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 5, 3, 3>, weight = @u} : () -> tensor<3x5x3x3xf32>
//   %7 = gv.conv %2, %6 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x5xf32>, tensor<3x5x3x3xf32>) -> tensor<2x4x6x3xf32>
//   %8 = gv.transpose %7 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x3xf32>) -> tensor<2x3x4x6xf32>
//   func.return %5, %8 : tensor<2x5x4x2xf32>, tensor<2x3x4x6xf32>
// }

// -----
// It is cheaper to bring back the convolution than to move y.
func.func @large_operand_wins(%x: tensor<2x3x1x6xf32>, %y: tensor<2x5x9x6xf32>) -> tensor<2x5x9x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x1x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x1x6xf32>
  %2 = gv.add %1, %y : (tensor<2x5x1x6xf32>, tensor<2x5x9x6xf32>) -> tensor<2x5x9x6xf32>
  %3 = gv.exp %2 : (tensor<2x5x9x6xf32>) -> tensor<2x5x9x6xf32>
  func.return %3 : tensor<2x5x9x6xf32>
}

// ->
// func.func @large_operand_wins(%x: tensor<2x3x1x6xf32>, %y: tensor<2x5x9x6xf32>) -> tensor<2x5x9x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x1x6xf32>) -> tensor<2x1x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x1x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x1x6x5xf32>
//   %3 = gv.transpose %2 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x1x6x5xf32>) -> tensor<2x5x1x6xf32>
//   %4 = gv.add %3, %y : (tensor<2x5x1x6xf32>, tensor<2x5x9x6xf32>) -> tensor<2x5x9x6xf32>
//   %5 = gv.exp %4 : (tensor<2x5x9x6xf32>) -> tensor<2x5x9x6xf32>
//   func.return %5 : tensor<2x5x9x6xf32>
// }

// -----
// An image with one channel is in both orders.
func.func @one_channel(%x: tensor<2x1x4x6xf32>) -> tensor<2x5x4x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 1, 3, 3>, weight = @w} : () -> tensor<5x1x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x1x4x6xf32>, tensor<5x1x3x3xf32>) -> tensor<2x5x4x6xf32>
  func.return %1 : tensor<2x5x4x6xf32>
}

// ->
// func.func @one_channel(%x: tensor<2x1x4x6xf32>) -> tensor<2x5x4x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 1, 3, 3>, weight = @w} : () -> tensor<5x1x3x3xf32>
//   %1 = gv.reshape %x {shape = array<i64: 2, 4, 6, 1>} : (tensor<2x1x4x6xf32>) -> tensor<2x4x6x1xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x1xf32>, tensor<5x1x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.transpose %2 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x5xf32>) -> tensor<2x5x4x6xf32>
//   func.return %3 : tensor<2x5x4x6xf32>
// }

// -----
func.func @transposed_convolution(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x8x12xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4, 2, 2>, weight = @w} : () -> tensor<3x4x2x2xf32>
  %1 = gv.conv_transpose %x, %0 {dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>} : (tensor<2x3x4x6xf32>, tensor<3x4x2x2xf32>) -> tensor<2x4x8x12xf32>
  func.return %1 : tensor<2x4x8x12xf32>
}

// ->
// func.func @transposed_convolution(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x8x12xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4, 2, 2>, weight = @w} : () -> tensor<3x4x2x2xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv_transpose %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>} : (tensor<2x4x6x3xf32>, tensor<3x4x2x2xf32>) -> tensor<2x8x12x4xf32>
//   %3 = gv.transpose %2 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x8x12x4xf32>) -> tensor<2x4x8x12xf32>
//   func.return %3 : tensor<2x4x8x12xf32>
// }

// -----
builtin.module attributes {gv.ranges = {N = array<i64: 1, 8>, H = array<i64: 2, 64>}} {
  func.func @symbolic(%x: tensor<?x3x?x?xf32, #gv.dims<"N, 3, H, H">>) -> tensor<?x5xf32, #gv.dims<"N, 5">> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
    %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<?x3x?x?xf32, #gv.dims<"N, 3, H, H">>, tensor<5x3x3x3xf32>) -> tensor<?x5x?x?xf32, #gv.dims<"N, 5, H, H">>
    %2 = gv.mean %1 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<?x5x?x?xf32, #gv.dims<"N, 5, H, H">>) -> tensor<?x5x1x1xf32, #gv.dims<"N, 5, 1, 1">>
    %3 = gv.reshape %2 {shape = #gv.dims<"N, 5">} : (tensor<?x5x1x1xf32, #gv.dims<"N, 5, 1, 1">>) -> tensor<?x5xf32, #gv.dims<"N, 5">>
    func.return %3 : tensor<?x5xf32, #gv.dims<"N, 5">>
  }
}

// ->
// builtin.module attributes {gv.ranges = {N = array<i64: 1, 8>, H = array<i64: 2, 64>}} {
//   func.func @symbolic(%x: tensor<?x3x?x?xf32, #gv.dims<"N, 3, H, H">>) -> tensor<?x5xf32, #gv.dims<"N, 5">> {
//     %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//     %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<?x3x?x?xf32, #gv.dims<"N, 3, H, H">>) -> tensor<?x?x?x3xf32, #gv.dims<"N, H, H, 3">>
//     %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<?x?x?x3xf32, #gv.dims<"N, H, H, 3">>, tensor<5x3x3x3xf32>) -> tensor<?x?x?x5xf32, #gv.dims<"N, H, H, 5">>
//     %3 = gv.mean %2 {axes = array<i64: 1, 2>, keepdims = true} : (tensor<?x?x?x5xf32, #gv.dims<"N, H, H, 5">>) -> tensor<?x1x1x5xf32, #gv.dims<"N, 1, 1, 5">>
//     %4 = gv.reshape %3 {shape = #gv.dims<"N, 5, 1, 1">} : (tensor<?x1x1x5xf32, #gv.dims<"N, 1, 1, 5">>) -> tensor<?x5x1x1xf32, #gv.dims<"N, 5, 1, 1">>
//     %5 = gv.reshape %4 {shape = #gv.dims<"N, 5">} : (tensor<?x5x1x1xf32, #gv.dims<"N, 5, 1, 1">>) -> tensor<?x5xf32, #gv.dims<"N, 5">>
//     func.return %5 : tensor<?x5xf32, #gv.dims<"N, 5">>
//   }
// }

// -----
builtin.module attributes {gv.ranges = {N = array<i64: 1, 8>, H = array<i64: 2, 64>, W = array<i64: 2, 64>}} {
  func.func @symbolic_patches(%x: tensor<?x3x?x?xf32, #gv.dims<"N, 3, H, W">>) -> tensor<?x?x5xf32, #gv.dims<"N, H*W, 5">> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
    %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<?x3x?x?xf32, #gv.dims<"N, 3, H, W">>, tensor<5x3x3x3xf32>) -> tensor<?x5x?x?xf32, #gv.dims<"N, 5, H, W">>
    %2 = gv.reshape %1 {shape = #gv.dims<"N, 5, H*W">} : (tensor<?x5x?x?xf32, #gv.dims<"N, 5, H, W">>) -> tensor<?x5x?xf32, #gv.dims<"N, 5, H*W">>
    %3 = gv.transpose %2 {order = array<i64: 0, 2, 1>} : (tensor<?x5x?xf32, #gv.dims<"N, 5, H*W">>) -> tensor<?x?x5xf32, #gv.dims<"N, H*W, 5">>
    func.return %3 : tensor<?x?x5xf32, #gv.dims<"N, H*W, 5">>
  }
}

// ->
// builtin.module attributes {gv.ranges = {N = array<i64: 1, 8>, H = array<i64: 2, 64>, W = array<i64: 2, 64>}} {
//   func.func @symbolic_patches(%x: tensor<?x3x?x?xf32, #gv.dims<"N, 3, H, W">>) -> tensor<?x?x5xf32, #gv.dims<"N, H*W, 5">> {
//     %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//     %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<?x3x?x?xf32, #gv.dims<"N, 3, H, W">>) -> tensor<?x?x?x3xf32, #gv.dims<"N, H, W, 3">>
//     %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<?x?x?x3xf32, #gv.dims<"N, H, W, 3">>, tensor<5x3x3x3xf32>) -> tensor<?x?x?x5xf32, #gv.dims<"N, H, W, 5">>
//     %3 = gv.reshape %2 {shape = #gv.dims<"N, H*W, 5">} : (tensor<?x?x?x5xf32, #gv.dims<"N, H, W, 5">>) -> tensor<?x?x5xf32, #gv.dims<"N, H*W, 5">>
//     func.return %3 : tensor<?x?x5xf32, #gv.dims<"N, H*W, 5">>
//   }
// }

// -----
// Without an image operation nothing moves.
func.func @no_image(%x: tensor<2x3x4xf32>) -> tensor<2x4x3xf32> {
  %0 = gv.transpose %x {order = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = gv.exp %0 : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  func.return %1 : tensor<2x4x3xf32>
}

// ->
// func.func @no_image(%x: tensor<2x3x4xf32>) -> tensor<2x4x3xf32> {
//   %0 = gv.transpose %x {order = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
//   %1 = gv.exp %0 : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
//   func.return %1 : tensor<2x4x3xf32>
// }

// -----
func.func @gather_channels(%x: tensor<2x3x4x6xf32>) -> tensor<2x2x2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.constant {value = #gv.array<i64, "2", [3, 1]>} : () -> tensor<2xi64>
  %3 = gv.gather %1, %2 {axis = 1 : i64} : (tensor<2x5x4x6xf32>, tensor<2xi64>) -> tensor<2x2x4x6xf32>
  %4 = gv.max_pool %3 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x2x4x6xf32>) -> tensor<2x2x2x3xf32>
  func.return %4 : tensor<2x2x2x3xf32>
}

// ->
// func.func @gather_channels(%x: tensor<2x3x4x6xf32>) -> tensor<2x2x2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.constant {value = #gv.array<i64, "2", [3, 1]>} : () -> tensor<2xi64>
//   %4 = gv.gather %2, %3 {axis = 3 : i64} : (tensor<2x4x6x5xf32>, tensor<2xi64>) -> tensor<2x4x6x2xf32>
//   %5 = gv.max_pool %4 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x6x2xf32>) -> tensor<2x2x3x2xf32>
//   %6 = gv.transpose %5 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x2x3x2xf32>) -> tensor<2x2x2x3xf32>
//   func.return %6 : tensor<2x2x2x3xf32>
// }

// -----
func.func @resize(%x: tensor<2x3x4x6xf32>) -> tensor<2x5x4x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x4x6xf32>
  %2 = gv.resize %1 {mode = "linear", shape = array<i64: 2, 5, 8, 12>} : (tensor<2x5x4x6xf32>) -> tensor<2x5x8x12xf32>
  %3 = gv.max_pool %2 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x5x8x12xf32>) -> tensor<2x5x4x6xf32>
  func.return %3 : tensor<2x5x4x6xf32>
}

// ->
// func.func @resize(%x: tensor<2x3x4x6xf32>) -> tensor<2x5x4x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 5, 3, 3, 3>, weight = @w} : () -> tensor<5x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<5x3x3x3xf32>) -> tensor<2x4x6x5xf32>
//   %3 = gv.resize %2 {mode = "linear", shape = array<i64: 2, 8, 12, 5>} : (tensor<2x4x6x5xf32>) -> tensor<2x8x12x5xf32>
//   %4 = gv.max_pool %3 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x8x12x5xf32>) -> tensor<2x4x6x5xf32>
//   %5 = gv.transpose %4 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x5xf32>) -> tensor<2x5x4x6xf32>
//   func.return %5 : tensor<2x5x4x6xf32>
// }

// -----
func.func @instance_norm(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 3, 3>, weight = @w} : () -> tensor<4x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x6xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
  %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
  %4 = gv.instance_norm %1, %2, %3 : (tensor<2x4x4x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4x6xf32>
  %5 = gv.max_pool %4 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x6xf32>) -> tensor<2x4x2x3xf32>
  func.return %5 : tensor<2x4x2x3xf32>
}

// ->
// func.func @instance_norm(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 3, 3>, weight = @w} : () -> tensor<4x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x4xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
//   %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
//   %5 = gv.mean %2 {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x4x6x4xf32>) -> tensor<2x1x1x4xf32>
//   %6 = gv.sub %2, %5 : (tensor<2x4x6x4xf32>, tensor<2x1x1x4xf32>) -> tensor<2x4x6x4xf32>
//   %7 = gv.mul %6, %6 : (tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>) -> tensor<2x4x6x4xf32>
//   %8 = gv.mean %7 {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x4x6x4xf32>) -> tensor<2x1x1x4xf32>
//   %9 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
//   %10 = gv.add %8, %9 : (tensor<2x1x1x4xf32>, tensor<f32>) -> tensor<2x1x1x4xf32>
//   %11 = gv.rsqrt %10 : (tensor<2x1x1x4xf32>) -> tensor<2x1x1x4xf32>
//   %12 = gv.mul %6, %11 : (tensor<2x4x6x4xf32>, tensor<2x1x1x4xf32>) -> tensor<2x4x6x4xf32>
//   %13 = gv.mul %12, %3 : (tensor<2x4x6x4xf32>, tensor<4xf32>) -> tensor<2x4x6x4xf32>
//   %14 = gv.add %13, %4 : (tensor<2x4x6x4xf32>, tensor<4xf32>) -> tensor<2x4x6x4xf32>
//   %15 = gv.max_pool %14 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x6x4xf32>) -> tensor<2x2x3x4xf32>
//   %16 = gv.transpose %15 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x2x3x4xf32>) -> tensor<2x4x2x3xf32>
//   func.return %16 : tensor<2x4x2x3xf32>
// }

// -----
func.func @group_norm(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 3, 3>, weight = @w} : () -> tensor<4x3x3x3xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x3x4x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x6xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
  %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
  %4 = gv.group_norm %1, %2, %3 {epsilon = 1.000000e-05 : f64, groups = 2 : i64} : (tensor<2x4x4x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x4x6xf32>
  %5 = gv.max_pool %4 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x6xf32>) -> tensor<2x4x2x3xf32>
  func.return %5 : tensor<2x4x2x3xf32>
}

// ->
// func.func @group_norm(%x: tensor<2x3x4x6xf32>) -> tensor<2x4x2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 3, 3>, weight = @w} : () -> tensor<4x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x6xf32>) -> tensor<2x4x6x3xf32>
//   %2 = gv.conv %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<2x4x6x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x4xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
//   %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
//   %5 = gv.reshape %2 {shape = array<i64: 2, 4, 6, 2, 2>} : (tensor<2x4x6x4xf32>) -> tensor<2x4x6x2x2xf32>
//   %6 = gv.mean %5 {axes = array<i64: 1, 2, 4>, keepdims = true} : (tensor<2x4x6x2x2xf32>) -> tensor<2x1x1x2x1xf32>
//   %7 = gv.sub %5, %6 : (tensor<2x4x6x2x2xf32>, tensor<2x1x1x2x1xf32>) -> tensor<2x4x6x2x2xf32>
//   %8 = gv.mul %7, %7 : (tensor<2x4x6x2x2xf32>, tensor<2x4x6x2x2xf32>) -> tensor<2x4x6x2x2xf32>
//   %9 = gv.mean %8 {axes = array<i64: 1, 2, 4>, keepdims = true} : (tensor<2x4x6x2x2xf32>) -> tensor<2x1x1x2x1xf32>
//   %10 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
//   %11 = gv.add %9, %10 : (tensor<2x1x1x2x1xf32>, tensor<f32>) -> tensor<2x1x1x2x1xf32>
//   %12 = gv.rsqrt %11 : (tensor<2x1x1x2x1xf32>) -> tensor<2x1x1x2x1xf32>
//   %13 = gv.mul %7, %12 : (tensor<2x4x6x2x2xf32>, tensor<2x1x1x2x1xf32>) -> tensor<2x4x6x2x2xf32>
//   %14 = gv.reshape %13 {shape = array<i64: 2, 4, 6, 4>} : (tensor<2x4x6x2x2xf32>) -> tensor<2x4x6x4xf32>
//   %15 = gv.mul %14, %3 : (tensor<2x4x6x4xf32>, tensor<4xf32>) -> tensor<2x4x6x4xf32>
//   %16 = gv.add %15, %4 : (tensor<2x4x6x4xf32>, tensor<4xf32>) -> tensor<2x4x6x4xf32>
//   %17 = gv.max_pool %16 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x6x4xf32>) -> tensor<2x2x3x4xf32>
//   %18 = gv.transpose %17 {order = array<i64: 0, 3, 1, 2>} : (tensor<2x2x3x4xf32>) -> tensor<2x4x2x3xf32>
//   func.return %18 : tensor<2x4x2x3xf32>
// }

// -----
// The gradient of weights is computed from channels-last images, and keeps its own order.
func.func @weights(%x: tensor<1x2x4x4xf32>, %g: tensor<1x3x3x3xf32>) -> tensor<3x2x2x2xf32> {
  %0 = gv.conv_weights %x, %g {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>, window = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<1x3x3x3xf32>) -> tensor<3x2x2x2xf32>
  func.return %0 : tensor<3x2x2x2xf32>
}

// ->
// func.func @weights(%x: tensor<1x2x4x4xf32>, %g: tensor<1x3x3x3xf32>) -> tensor<3x2x2x2xf32> {
//   %0 = gv.transpose %g {order = array<i64: 0, 2, 3, 1>} : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
//   %1 = gv.transpose %x {order = array<i64: 0, 2, 3, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x4x4x2xf32>
//   %2 = gv.conv_weights %1, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>, window = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>, tensor<1x3x3x3xf32>) -> tensor<3x2x2x2xf32>
//   func.return %2 : tensor<3x2x2x2xf32>
// }
