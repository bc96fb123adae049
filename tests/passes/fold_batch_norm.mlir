// test: fold-batch-norm,canonicalize

func.func @factor_of_channel(%x: tensor<1x4x5xf32>) -> tensor<1x6x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
  %3 = gv.mul %1, %2 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
  func.return %3 : tensor<1x6x4xf32>
}

// ->
// func.func @factor_of_channel(%x: tensor<1x4x5xf32>) -> tensor<1x6x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
//   %2 = gv.reshape %1 {shape = array<i64: 6, 1, 1>} : (tensor<6x1xf32>) -> tensor<6x1x1xf32>
//   %3 = gv.mul %0, %2 : (tensor<6x4x2xf32>, tensor<6x1x1xf32>) -> tensor<6x4x2xf32>
//   %4 = gv.conv %x, %3 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
//   func.return %4 : tensor<1x6x4xf32>
// }

// -----
func.func @factor_of_channels_last(%x: tensor<1x5x4xf32>) -> tensor<1x4x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x5x4xf32>, tensor<6x4x2xf32>) -> tensor<1x4x6xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @s} : () -> tensor<6xf32>
  %3 = gv.mul %1, %2 : (tensor<1x4x6xf32>, tensor<6xf32>) -> tensor<1x4x6xf32>
  func.return %3 : tensor<1x4x6xf32>
}

// ->
// func.func @factor_of_channels_last(%x: tensor<1x5x4xf32>) -> tensor<1x4x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @s} : () -> tensor<6xf32>
//   %2 = gv.reshape %1 {shape = array<i64: 6, 1, 1>} : (tensor<6xf32>) -> tensor<6x1x1xf32>
//   %3 = gv.mul %0, %2 : (tensor<6x4x2xf32>, tensor<6x1x1xf32>) -> tensor<6x4x2xf32>
//   %4 = gv.conv %x, %3 {channels_last = true, dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x5x4xf32>, tensor<6x4x2xf32>) -> tensor<1x4x6xf32>
//   func.return %4 : tensor<1x4x6xf32>
// }

// -----
// This factor runs along the image, not along the channels.
func.func @factor_of_place(%x: tensor<1x4x7xf32>) -> tensor<1x6x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x7xf32>, tensor<6x4x2xf32>) -> tensor<1x6x6xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @s} : () -> tensor<6xf32>
  %3 = gv.mul %1, %2 : (tensor<1x6x6xf32>, tensor<6xf32>) -> tensor<1x6x6xf32>
  func.return %3 : tensor<1x6x6xf32>
}

// ->
// func.func @factor_of_place(%x: tensor<1x4x7xf32>) -> tensor<1x6x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
//   %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x7xf32>, tensor<6x4x2xf32>) -> tensor<1x6x6xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @s} : () -> tensor<6xf32>
//   %3 = gv.mul %1, %2 : (tensor<1x6x6xf32>, tensor<6xf32>) -> tensor<1x6x6xf32>
//   func.return %3 : tensor<1x6x6xf32>
// }

// -----
// The factor makes two results of one.
func.func @factor_of_widening(%x: tensor<1x4x5xf32>) -> tensor<2x1x6x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 1, 1, 1>, weight = @s} : () -> tensor<2x1x1x1xf32>
  %3 = gv.mul %1, %2 : (tensor<1x6x4xf32>, tensor<2x1x1x1xf32>) -> tensor<2x1x6x4xf32>
  func.return %3 : tensor<2x1x6x4xf32>
}

// ->
// func.func @factor_of_widening(%x: tensor<1x4x5xf32>) -> tensor<2x1x6x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
//   %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 1, 1, 1>, weight = @s} : () -> tensor<2x1x1x1xf32>
//   %3 = gv.mul %1, %2 : (tensor<1x6x4xf32>, tensor<2x1x1x1xf32>) -> tensor<2x1x6x4xf32>
//   func.return %3 : tensor<2x1x6x4xf32>
// }

// -----
func.func @factor_of_grouped_conv(%x: tensor<1x4x5xf32>) -> tensor<1x6x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 2, 2>, weight = @w} : () -> tensor<6x2x2xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, groups = 2 : i64, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x2x2xf32>) -> tensor<1x6x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
  %3 = gv.mul %1, %2 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
  func.return %3 : tensor<1x6x4xf32>
}

// ->
// func.func @factor_of_grouped_conv(%x: tensor<1x4x5xf32>) -> tensor<1x6x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 2, 2>, weight = @w} : () -> tensor<6x2x2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
//   %2 = gv.reshape %1 {shape = array<i64: 6, 1, 1>} : (tensor<6x1xf32>) -> tensor<6x1x1xf32>
//   %3 = gv.mul %0, %2 : (tensor<6x2x2xf32>, tensor<6x1x1xf32>) -> tensor<6x2x2xf32>
//   %4 = gv.conv %x, %3 {dilations = array<i64: 1>, groups = 2 : i64, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x2x2xf32>) -> tensor<1x6x4xf32>
//   func.return %4 : tensor<1x6x4xf32>
// }

// -----
func.func @factor_of_conv_transpose(%x: tensor<1x4x5xf32>) -> tensor<1x6x6xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 2>, weight = @w} : () -> tensor<4x3x2xf32>
  %1 = gv.conv_transpose %x, %0 {dilations = array<i64: 1>, groups = 2 : i64, output_pads = array<i64: 0>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<4x3x2xf32>) -> tensor<1x6x6xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
  %3 = gv.mul %1, %2 : (tensor<1x6x6xf32>, tensor<6x1xf32>) -> tensor<1x6x6xf32>
  func.return %3 : tensor<1x6x6xf32>
}

// ->
// func.func @factor_of_conv_transpose(%x: tensor<1x4x5xf32>) -> tensor<1x6x6xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3, 2>, weight = @w} : () -> tensor<4x3x2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
//   %2 = gv.reshape %0 {shape = array<i64: 2, 2, 3, 2>} : (tensor<4x3x2xf32>) -> tensor<2x2x3x2xf32>
//   %3 = gv.reshape %1 {shape = array<i64: 2, 1, 3, 1>} : (tensor<6x1xf32>) -> tensor<2x1x3x1xf32>
//   %4 = gv.mul %2, %3 : (tensor<2x2x3x2xf32>, tensor<2x1x3x1xf32>) -> tensor<2x2x3x2xf32>
//   %5 = gv.reshape %4 {shape = array<i64: 4, 3, 2>} : (tensor<2x2x3x2xf32>) -> tensor<4x3x2xf32>
//   %6 = gv.conv_transpose %x, %5 {dilations = array<i64: 1>, groups = 2 : i64, output_pads = array<i64: 0>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<4x3x2xf32>) -> tensor<1x6x6xf32>
//   func.return %6 : tensor<1x6x6xf32>
// }

// -----
func.func @factor_of_columns(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
  %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %3 : tensor<2x4xf32>
}

// ->
// func.func @factor_of_columns(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
//   %2 = gv.mul %0, %1 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
//   %3 = gv.matmul %x, %2 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   func.return %3 : tensor<2x4xf32>
// }

// -----
func.func @factor_of_transposed_columns(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3>, weight = @w} : () -> tensor<4x3xf32>
  %1 = gv.matmul %x, %0 {transpose_rhs = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
  %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %3 : tensor<2x4xf32>
}

// ->
// func.func @factor_of_transposed_columns(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3>, weight = @w} : () -> tensor<4x3xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
//   %2 = gv.reshape %1 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
//   %3 = gv.mul %0, %2 : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
//   %4 = gv.matmul %x, %3 {transpose_rhs = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
//   func.return %4 : tensor<2x4xf32>
// }

// -----
func.func @factor_of_rows(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 2>, weight = @w} : () -> tensor<4x2xf32>
  %1 = gv.matmul %0, %x : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 1>, weight = @s} : () -> tensor<4x1xf32>
  %3 = gv.mul %1, %2 : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  func.return %3 : tensor<4x3xf32>
}

// ->
// func.func @factor_of_rows(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 2>, weight = @w} : () -> tensor<4x2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 1>, weight = @s} : () -> tensor<4x1xf32>
//   %2 = gv.mul %0, %1 : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
//   %3 = gv.matmul %2, %x : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
//   func.return %3 : tensor<4x3xf32>
// }

// -----
func.func @divisor_and_offset(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
  %3 = gv.sub %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
  %5 = gv.div %3, %4 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %5 : tensor<2x4xf32>
}

// ->
// func.func @divisor_and_offset(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
//   %2 = gv.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
//   %4 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %5 = gv.div %4, %3 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
//   %6 = gv.mul %0, %5 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
//   %7 = gv.matmul %x, %6 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %8 = gv.mul %2, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %9 = gv.add %7, %8 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//   func.return %9 : tensor<2x4xf32>
// }

// -----
func.func @offsets(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @a} : () -> tensor<4xf32>
  %3 = gv.add %1, %2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
  %5 = gv.add %3, %4 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %5 : tensor<2x4xf32>
}

// ->
// func.func @offsets(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @a} : () -> tensor<4xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
//   %4 = gv.add %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %5 = gv.add %1, %4 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//   func.return %5 : tensor<2x4xf32>
// }

// -----
// The convolution is needed without the factor, too.
func.func @used_twice(%x: tensor<1x4x5xf32>) -> (tensor<1x6x4xf32>, tensor<1x6x4xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
  %3 = gv.mul %1, %2 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
  func.return %3, %1 : tensor<1x6x4xf32>, tensor<1x6x4xf32>
}

// ->
// func.func @used_twice(%x: tensor<1x4x5xf32>) -> (tensor<1x6x4xf32>, tensor<1x6x4xf32>) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
//   %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
//   %3 = gv.mul %1, %2 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
//   func.return %3, %1 : tensor<1x6x4xf32>, tensor<1x6x4xf32>
// }

// -----
// The weight is not fixed: scaling it would cost each call.
func.func @weight_from_outside(%x: tensor<1x4x5xf32>, %w: tensor<6x4x2xf32>) -> tensor<1x6x4xf32> {
  %0 = gv.conv %x, %w {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
  %2 = gv.mul %0, %1 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
  func.return %2 : tensor<1x6x4xf32>
}

// ->
// func.func @weight_from_outside(%x: tensor<1x4x5xf32>, %w: tensor<6x4x2xf32>) -> tensor<1x6x4xf32> {
//   %0 = gv.conv %x, %w {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @s} : () -> tensor<6x1xf32>
//   %2 = gv.mul %0, %1 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
//   func.return %2 : tensor<1x6x4xf32>
// }
