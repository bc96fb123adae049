// test: pack-weights

// Panels of a vector's width; the last one is filled up with zeros.
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @product(%x: tensor<2x3xf32>) -> tensor<2x10xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 10>, weight = @w} : () -> tensor<3x10xf32>
    %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x10xf32>) -> tensor<2x10xf32>
    func.return %1 : tensor<2x10xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v3"} {
//   func.func @product(%x: tensor<2x3xf32>) -> tensor<2x10xf32> {
//     %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 10>, weight = @w} : () -> tensor<3x10xf32>
//     %1 = gv.pad %0 {pads = [array<i64: 0, 0>, array<i64: 0, 6>]} : (tensor<3x10xf32>) -> tensor<3x16xf32>
//     %2 = gv.reshape %1 {shape = array<i64: 3, 1, 16>} : (tensor<3x16xf32>) -> tensor<3x1x16xf32>
//     %3 = gv.transpose %2 {order = array<i64: 1, 0, 2>} : (tensor<3x1x16xf32>) -> tensor<1x3x16xf32>
//     %4 = gv.matmul_packed %x, %3 {columns = 10 : i64} : (tensor<2x3xf32>, tensor<1x3x16xf32>) -> tensor<2x10xf32>
//     func.return %4 : tensor<2x10xf32>
//   }
// }

// -----
// What depends on an input is not packed.
// count: gv.matmul 1
// count: gv.matmul_packed 0
func.func @both_are_inputs(%x: tensor<2x3xf32>, %y: tensor<3x10xf32>) -> tensor<2x10xf32> {
  %0 = gv.matmul %x, %y : (tensor<2x3xf32>, tensor<3x10xf32>) -> tensor<2x10xf32>
  func.return %0 : tensor<2x10xf32>
}

// -----
// Integers have no register tile.
// count: gv.matmul_packed 0
func.func @integers(%x: tensor<2x3xi32>) -> tensor<2x10xi32> {
  %0 = gv.weight {dtype = #gv.dtype<i32>, shape = array<i64: 3, 10>, weight = @w} : () -> tensor<3x10xi32>
  %1 = gv.matmul %x, %0 : (tensor<2x3xi32>, tensor<3x10xi32>) -> tensor<2x10xi32>
  func.return %1 : tensor<2x10xi32>
}

// -----
// Weights of a convolution that are given in a run are packed in each run.
// count: gv.conv 0
// count: gv.conv_packed 1
func.func @given(%x: tensor<1x6x6x8xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x4x4x16xf32> {
  %0 = gv.conv %x, %w {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<1x6x6x8xf32>, tensor<16x8x3x3xf32>) -> tensor<1x4x4x16xf32>
  func.return %0 : tensor<1x4x4x16xf32>
}

// -----
// The gradient of weights: filters that fill no register are filled up with zeros, and images
// with few channels are padded along their rows.
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @gradient(%x: tensor<1x6x6x3xf32>, %g: tensor<1x6x6x4xf32>) -> tensor<4x3x3x3xf32> {
    %0 = gv.conv_weights %x, %g {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x6x6x3xf32>, tensor<1x6x6x4xf32>) -> tensor<4x3x3x3xf32>
    func.return %0 : tensor<4x3x3x3xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v3"} {
//   func.func @gradient(%x: tensor<1x6x6x3xf32>, %g: tensor<1x6x6x4xf32>) -> tensor<4x3x3x3xf32> {
//     %0 = gv.pad %g {pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 4>]} : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x8xf32>
//     %1 = gv.pad %x {pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 1, 1>, array<i64: 0, 0>]} : (tensor<1x6x6x3xf32>) -> tensor<1x6x8x3xf32>
//     %2 = gv.conv_weights_packed %1, %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 0, 0>], strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x6x8x3xf32>, tensor<1x6x6x8xf32>) -> tensor<3x3x3x8xf32>
//     %3 = gv.slice %2 {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>, stops = array<i64: 3, 3, 3, 4>} : (tensor<3x3x3x8xf32>) -> tensor<3x3x3x4xf32>
//     %4 = gv.transpose %3 {order = array<i64: 3, 2, 0, 1>} : (tensor<3x3x3x4xf32>) -> tensor<4x3x3x3xf32>
//     func.return %4 : tensor<4x3x3x3xf32>
//   }
// }

// -----
// With many channels neither is needed. Channels in groups have no register tile.
// count: gv.pad 0
// count: gv.conv_weights 1
// count: gv.conv_weights_packed 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @plain(%x: tensor<1x6x6x32xf32>, %g: tensor<1x6x6x16xf32>) -> (tensor<16x32x3x3xf32>, tensor<16x16x3x3xf32>) {
    %0 = gv.conv_weights %x, %g {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x6x6x32xf32>, tensor<1x6x6x16xf32>) -> tensor<16x32x3x3xf32>
    %1 = gv.conv_weights %x, %g {channels_last = true, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x6x6x32xf32>, tensor<1x6x6x16xf32>) -> tensor<16x16x3x3xf32>
    func.return %0, %1 : tensor<16x32x3x3xf32>, tensor<16x16x3x3xf32>
  }
}
