// test: fold-batch-norm,canonicalize

func.func @batch_norm_of_conv(%x: tensor<1x4x5xf32>) -> tensor<1x6x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @scale} : () -> tensor<6xf32>
  %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @bias} : () -> tensor<6xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @mean} : () -> tensor<6xf32>
  %5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @variance} : () -> tensor<6xf32>
  %6 = gv.abs %5 : (tensor<6xf32>) -> tensor<6xf32>
  %7 = gv.batch_norm %1, %2, %3, %4, %6 {epsilon = 1.000000e-05 : f64} : (tensor<1x6x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x4xf32>
  func.return %7 : tensor<1x6x4xf32>
}

// ->
// func.func @batch_norm_of_conv(%x: tensor<1x4x5xf32>) -> tensor<1x6x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @scale} : () -> tensor<6xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @bias} : () -> tensor<6xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @mean} : () -> tensor<6xf32>
//   %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @variance} : () -> tensor<6xf32>
//   %5 = gv.abs %4 : (tensor<6xf32>) -> tensor<6xf32>
//   %6 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
//   %7 = gv.add %5, %6 : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
//   %8 = gv.sqrt %7 : (tensor<6xf32>) -> tensor<6xf32>
//   %9 = gv.div %1, %8 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
//   %10 = gv.mul %3, %9 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
//   %11 = gv.sub %2, %10 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
//   %12 = gv.reshape %11 {shape = array<i64: 6, 1>} : (tensor<6xf32>) -> tensor<6x1xf32>
//   %13 = gv.reshape %9 {shape = array<i64: 6, 1, 1>} : (tensor<6xf32>) -> tensor<6x1x1xf32>
//   %14 = gv.mul %0, %13 : (tensor<6x4x2xf32>, tensor<6x1x1xf32>) -> tensor<6x4x2xf32>
//   %15 = gv.conv %x, %14 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
//   %16 = gv.add %15, %12 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
//   func.return %16 : tensor<1x6x4xf32>
// }

// -----
func.func @batch_norm_of_conv_with_bias(%x: tensor<1x4x5xf32>) -> tensor<1x6x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
  %1 = gv.conv %x, %0 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @b} : () -> tensor<6x1xf32>
  %3 = gv.add %1, %2 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @scale} : () -> tensor<6xf32>
  %5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @bias} : () -> tensor<6xf32>
  %6 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @mean} : () -> tensor<6xf32>
  %7 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @variance} : () -> tensor<6xf32>
  %8 = gv.abs %7 : (tensor<6xf32>) -> tensor<6xf32>
  %9 = gv.batch_norm %3, %4, %5, %6, %8 {epsilon = 1.000000e-05 : f64} : (tensor<1x6x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x4xf32>
  func.return %9 : tensor<1x6x4xf32>
}

// ->
// func.func @batch_norm_of_conv_with_bias(%x: tensor<1x4x5xf32>) -> tensor<1x6x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 4, 2>, weight = @w} : () -> tensor<6x4x2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 1>, weight = @b} : () -> tensor<6x1xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @scale} : () -> tensor<6xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @bias} : () -> tensor<6xf32>
//   %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @mean} : () -> tensor<6xf32>
//   %5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6>, weight = @variance} : () -> tensor<6xf32>
//   %6 = gv.abs %5 : (tensor<6xf32>) -> tensor<6xf32>
//   %7 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
//   %8 = gv.add %6, %7 : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
//   %9 = gv.sqrt %8 : (tensor<6xf32>) -> tensor<6xf32>
//   %10 = gv.div %2, %9 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
//   %11 = gv.mul %4, %10 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
//   %12 = gv.sub %3, %11 : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
//   %13 = gv.reshape %12 {shape = array<i64: 6, 1>} : (tensor<6xf32>) -> tensor<6x1xf32>
//   %14 = gv.reshape %10 {shape = array<i64: 6, 1>} : (tensor<6xf32>) -> tensor<6x1xf32>
//   %15 = gv.mul %1, %14 : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
//   %16 = gv.add %15, %13 : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
//   %17 = gv.reshape %10 {shape = array<i64: 6, 1, 1>} : (tensor<6xf32>) -> tensor<6x1x1xf32>
//   %18 = gv.mul %0, %17 : (tensor<6x4x2xf32>, tensor<6x1x1xf32>) -> tensor<6x4x2xf32>
//   %19 = gv.conv %x, %18 {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x4x5xf32>, tensor<6x4x2xf32>) -> tensor<1x6x4xf32>
//   %20 = gv.add %19, %16 : (tensor<1x6x4xf32>, tensor<6x1xf32>) -> tensor<1x6x4xf32>
//   func.return %20 : tensor<1x6x4xf32>
// }

// -----
func.func @batch_norm_of_matmul(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @scale} : () -> tensor<4xf32>
  %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bias} : () -> tensor<4xf32>
  %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @mean} : () -> tensor<4xf32>
  %5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @variance} : () -> tensor<4xf32>
  %6 = gv.abs %5 : (tensor<4xf32>) -> tensor<4xf32>
  %7 = gv.batch_norm %1, %2, %3, %4, %6 {epsilon = 1.000000e-05 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %7 : tensor<2x4xf32>
}

// ->
// func.func @batch_norm_of_matmul(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @scale} : () -> tensor<4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bias} : () -> tensor<4xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @mean} : () -> tensor<4xf32>
//   %4 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @variance} : () -> tensor<4xf32>
//   %5 = gv.abs %4 : (tensor<4xf32>) -> tensor<4xf32>
//   %6 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
//   %7 = gv.add %5, %6 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
//   %8 = gv.sqrt %7 : (tensor<4xf32>) -> tensor<4xf32>
//   %9 = gv.div %1, %8 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %10 = gv.mul %3, %9 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %11 = gv.sub %2, %10 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %12 = gv.mul %0, %9 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
//   %13 = gv.matmul %x, %12 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %14 = gv.add %13, %11 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
//   func.return %14 : tensor<2x4xf32>
// }

// -----
// Without a weight before it, a factor and an offset are left.
func.func @batch_norm_alone(%x: tensor<1x4x5xf32>) -> tensor<1x4x5xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @scale} : () -> tensor<4xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bias} : () -> tensor<4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @mean} : () -> tensor<4xf32>
  %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @variance} : () -> tensor<4xf32>
  %4 = gv.abs %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = gv.batch_norm %x, %0, %1, %2, %4 {epsilon = 1.000000e-05 : f64} : (tensor<1x4x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5xf32>
  func.return %5 : tensor<1x4x5xf32>
}

// ->
// func.func @batch_norm_alone(%x: tensor<1x4x5xf32>) -> tensor<1x4x5xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @scale} : () -> tensor<4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @bias} : () -> tensor<4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @mean} : () -> tensor<4xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @variance} : () -> tensor<4xf32>
//   %4 = gv.abs %3 : (tensor<4xf32>) -> tensor<4xf32>
//   %5 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
//   %6 = gv.add %4, %5 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
//   %7 = gv.sqrt %6 : (tensor<4xf32>) -> tensor<4xf32>
//   %8 = gv.div %0, %7 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %9 = gv.mul %2, %8 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %10 = gv.sub %1, %9 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %11 = gv.reshape %8 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
//   %12 = gv.mul %x, %11 : (tensor<1x4x5xf32>, tensor<4x1xf32>) -> tensor<1x4x5xf32>
//   %13 = gv.reshape %10 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
//   %14 = gv.add %12, %13 : (tensor<1x4x5xf32>, tensor<4x1xf32>) -> tensor<1x4x5xf32>
//   func.return %14 : tensor<1x4x5xf32>
// }

// -----
// The factor is computed in f32.
func.func @batch_norm_in_half_precision(%x: tensor<1x4x5xf16>) -> tensor<1x4x5xf16> {
  %0 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf16>
  %1 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf16>
  %2 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 4>, weight = @m} : () -> tensor<4xf16>
  %3 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 4>, weight = @v} : () -> tensor<4xf16>
  %4 = gv.abs %3 : (tensor<4xf16>) -> tensor<4xf16>
  %5 = gv.batch_norm %x, %0, %1, %2, %4 {epsilon = 1.000000e-05 : f64} : (tensor<1x4x5xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<1x4x5xf16>
  func.return %5 : tensor<1x4x5xf16>
}

// ->
// func.func @batch_norm_in_half_precision(%x: tensor<1x4x5xf16>) -> tensor<1x4x5xf16> {
//   %0 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf16>
//   %1 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf16>
//   %2 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 4>, weight = @m} : () -> tensor<4xf16>
//   %3 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 4>, weight = @v} : () -> tensor<4xf16>
//   %4 = gv.abs %3 : (tensor<4xf16>) -> tensor<4xf16>
//   %5 = gv.cast %0 {dtype = #gv.dtype<f32>} : (tensor<4xf16>) -> tensor<4xf32>
//   %6 = gv.cast %1 {dtype = #gv.dtype<f32>} : (tensor<4xf16>) -> tensor<4xf32>
//   %7 = gv.cast %2 {dtype = #gv.dtype<f32>} : (tensor<4xf16>) -> tensor<4xf32>
//   %8 = gv.cast %4 {dtype = #gv.dtype<f32>} : (tensor<4xf16>) -> tensor<4xf32>
//   %9 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
//   %10 = gv.add %8, %9 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
//   %11 = gv.sqrt %10 : (tensor<4xf32>) -> tensor<4xf32>
//   %12 = gv.div %5, %11 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %13 = gv.mul %7, %12 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %14 = gv.sub %6, %13 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %15 = gv.cast %12 {dtype = #gv.dtype<f16>} : (tensor<4xf32>) -> tensor<4xf16>
//   %16 = gv.cast %14 {dtype = #gv.dtype<f16>} : (tensor<4xf32>) -> tensor<4xf16>
//   %17 = gv.reshape %15 {shape = array<i64: 4, 1>} : (tensor<4xf16>) -> tensor<4x1xf16>
//   %18 = gv.mul %x, %17 : (tensor<1x4x5xf16>, tensor<4x1xf16>) -> tensor<1x4x5xf16>
//   %19 = gv.reshape %16 {shape = array<i64: 4, 1>} : (tensor<4xf16>) -> tensor<4x1xf16>
//   %20 = gv.add %18, %19 : (tensor<1x4x5xf16>, tensor<4x1xf16>) -> tensor<1x4x5xf16>
//   func.return %20 : tensor<1x4x5xf16>
// }

// -----
// The mean differs from call to call.
func.func @moving_statistics(%x: tensor<1x4x5xf32>, %m: tensor<4xf32>) -> tensor<1x4x5xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @v} : () -> tensor<4xf32>
  %3 = gv.batch_norm %x, %0, %1, %m, %2 {epsilon = 1.000000e-05 : f64} : (tensor<1x4x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5xf32>
  func.return %3 : tensor<1x4x5xf32>
}

// ->
// func.func @moving_statistics(%x: tensor<1x4x5xf32>, %m: tensor<4xf32>) -> tensor<1x4x5xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @s} : () -> tensor<4xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @b} : () -> tensor<4xf32>
//   %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @v} : () -> tensor<4xf32>
//   %3 = gv.batch_norm %x, %0, %1, %m, %2 {epsilon = 1.000000e-05 : f64} : (tensor<1x4x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5xf32>
//   func.return %3 : tensor<1x4x5xf32>
// }

// -----
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

// -----
// A sum of infinities of both signs is not a number.
func.func @infinite_factor(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = gv.constant {value = #gv.array<f32, "", ["inf"]>} : () -> tensor<f32>
  %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  func.return %3 : tensor<2x4xf32>
}

// ->
// func.func @infinite_factor(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @w} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", ["inf"]>} : () -> tensor<f32>
//   %3 = gv.mul %1, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
//   func.return %3 : tensor<2x4xf32>
// }
