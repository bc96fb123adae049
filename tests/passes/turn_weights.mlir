// test: turn-weights
// Of products only 16-bit weights are turned, so that columns lie in a row.
builtin.module attributes {gv.target = "cuda:sm_90a"} {
  func.func @turned(%x: tensor<4x6xf16>, %y: tensor<4x6xf32>) -> (tensor<4x8xf16>, tensor<4x8xf32>) {
    %0 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 6, 8>, weight = @w} : () -> tensor<6x8xf16>
    %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 8>, weight = @v} : () -> tensor<6x8xf32>
    %2 = gv.matmul %x, %0 : (tensor<4x6xf16>, tensor<6x8xf16>) -> tensor<4x8xf16>
    %3 = gv.matmul %y, %1 : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
    func.return %2, %3 : tensor<4x8xf16>, tensor<4x8xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "cuda:sm_90a"} {
//   func.func @turned(%x: tensor<4x6xf16>, %y: tensor<4x6xf32>) -> (tensor<4x8xf16>, tensor<4x8xf32>) {
//     %0 = gv.weight {dtype = #gv.dtype<f16>, shape = array<i64: 6, 8>, weight = @w} : () -> tensor<6x8xf16>
//     %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 6, 8>, weight = @v} : () -> tensor<6x8xf32>
//     %2 = gv.transpose %0 {order = array<i64: 1, 0>} : (tensor<6x8xf16>) -> tensor<8x6xf16>
//     %3 = gv.matmul %x, %2 {transpose_rhs = true} : (tensor<4x6xf16>, tensor<8x6xf16>) -> tensor<4x8xf16>
//     %4 = gv.matmul %y, %1 : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
//     func.return %3, %4 : tensor<4x8xf16>, tensor<4x8xf32>
//   }
// }

// -----
// Filters become neighbours, 1x1 convolutions products; one channel a group has its own form.
// count: gv.conv 0
// count: gv.conv_turned 1
// count: gv.matmul 1
// count: gv.depthwise_packed 1
builtin.module attributes {gv.target = "cuda:sm_80"} {
  func.func @images(%x: tensor<1x5x6x4xf32>) -> tensor<1x5x6x4xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4, 3, 3>, weight = @a} : () -> tensor<4x4x3x3xf32>
    %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4, 1, 1>, weight = @b} : () -> tensor<4x4x1x1xf32>
    %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 1, 3, 3>, weight = @c} : () -> tensor<4x1x3x3xf32>
    %3 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x5x6x4xf32>, tensor<4x4x3x3xf32>) -> tensor<1x5x6x4xf32>
    %4 = gv.conv %3, %1 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<1x5x6x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x5x6x4xf32>
    %5 = gv.conv %4, %2 {channels_last = true, dilations = array<i64: 1, 1>, groups = 4 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x5x6x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x5x6x4xf32>
    func.return %5 : tensor<1x5x6x4xf32>
  }
}

// -----
// Processors have layouts of their own.
// count: gv.transpose 0
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @plain(%x: tensor<4x6xbf16>) -> tensor<4x8xbf16> {
    %0 = gv.weight {dtype = #gv.dtype<bf16>, shape = array<i64: 6, 8>, weight = @w} : () -> tensor<6x8xbf16>
    %1 = gv.matmul %x, %0 : (tensor<4x6xbf16>, tensor<6x8xbf16>) -> tensor<4x8xbf16>
    func.return %1 : tensor<4x8xbf16>
  }
}
