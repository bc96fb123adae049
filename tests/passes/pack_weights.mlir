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

// -----
// A filter for each channel is added up row by row of places, of channels that are repeated.
// count: gv.conv_weights 0
// count: gv.conv_weights_rows 2
// count: gv.pad 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @each_channel(%x: tensor<1x6x6x8xf32>, %g: tensor<1x6x6x16xf32>, %h: tensor<1x4x4x8xf32>) -> (tensor<16x1x3x3xf32>, tensor<8x1x3x3xf32>) {
    %0 = gv.conv_weights %x, %g {channels_last = true, dilations = array<i64: 1, 1>, groups = 8 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x6x6x8xf32>, tensor<1x6x6x16xf32>) -> tensor<16x1x3x3xf32>
    %1 = gv.conv_weights %x, %h {channels_last = true, dilations = array<i64: 1, 1>, groups = 8 : i64, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x6x6x8xf32>, tensor<1x4x4x8xf32>) -> tensor<8x1x3x3xf32>
    func.return %0, %1 : tensor<16x1x3x3xf32>, tensor<8x1x3x3xf32>
  }
}

// -----
// Where a whole vector takes as long as two halves, few columns are not filled up to whole ones.
builtin.module attributes {gv.target = "znver4"} {
  func.func @few_columns(%x: tensor<2x3xf32>, %y: tensor<1x4x4x3xf32>) -> (tensor<2x20xf32>, tensor<1x2x2x8xf32>) {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 20>, weight = @w} : () -> tensor<3x20xf32>
    %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x20xf32>) -> tensor<2x20xf32>
    %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 3, 1, 1>, weight = @v} : () -> tensor<8x3x1x1xf32>
    %3 = gv.conv %y, %2 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>} : (tensor<1x4x4x3xf32>, tensor<8x3x1x1xf32>) -> tensor<1x2x2x8xf32>
    func.return %1, %3 : tensor<2x20xf32>, tensor<1x2x2x8xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "znver4"} {
//   func.func @few_columns(%x: tensor<2x3xf32>, %y: tensor<1x4x4x3xf32>) -> (tensor<2x20xf32>, tensor<1x2x2x8xf32>) {
//     %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 20>, weight = @w} : () -> tensor<3x20xf32>
//     %1 = gv.pad %0 {pads = [array<i64: 0, 0>, array<i64: 0, 4>]} : (tensor<3x20xf32>) -> tensor<3x24xf32>
//     %2 = gv.reshape %1 {shape = array<i64: 3, 1, 24>} : (tensor<3x24xf32>) -> tensor<3x1x24xf32>
//     %3 = gv.transpose %2 {order = array<i64: 1, 0, 2>} : (tensor<3x1x24xf32>) -> tensor<1x3x24xf32>
//     %4 = gv.matmul_packed %x, %3 {columns = 20 : i64} : (tensor<2x3xf32>, tensor<1x3x24xf32>) -> tensor<2x20xf32>
//     %5 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 3, 1, 1>, weight = @v} : () -> tensor<8x3x1x1xf32>
//     %6 = gv.transpose %5 {order = array<i64: 2, 3, 1, 0>} : (tensor<8x3x1x1xf32>) -> tensor<1x1x3x8xf32>
//     %7 = gv.reshape %6 {shape = array<i64: 3, 8>} : (tensor<1x1x3x8xf32>) -> tensor<3x8xf32>
//     %8 = gv.reshape %7 {shape = array<i64: 3, 1, 8>} : (tensor<3x8xf32>) -> tensor<3x1x8xf32>
//     %9 = gv.transpose %8 {order = array<i64: 1, 0, 2>} : (tensor<3x1x8xf32>) -> tensor<1x3x8xf32>
//     %10 = gv.conv_packed %y, %9 {columns = 8 : i64, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<1x3x8xf32>) -> tensor<1x2x2x8xf32>
//     func.return %4, %10 : tensor<2x20xf32>, tensor<1x2x2x8xf32>
//   }
// }

// -----
// Groups of few channels are walked as vectors, two groups in each; zeros fill the last panel.
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @groups(%x: tensor<1x6x6x20xf32>) -> tensor<1x6x6x20xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 20, 4, 3, 3>, weight = @w} : () -> tensor<20x4x3x3xf32>
    %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, groups = 5 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x6x6x20xf32>, tensor<20x4x3x3xf32>) -> tensor<1x6x6x20xf32>
    func.return %1 : tensor<1x6x6x20xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v3"} {
//   func.func @groups(%x: tensor<1x6x6x20xf32>) -> tensor<1x6x6x20xf32> {
//     %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 20, 4, 3, 3>, weight = @w} : () -> tensor<20x4x3x3xf32>
//     %1 = gv.transpose %0 {order = array<i64: 2, 1, 3, 0>} : (tensor<20x4x3x3xf32>) -> tensor<3x4x3x20xf32>
//     %2 = gv.reshape %1 {shape = array<i64: 3, 4, 3, 1, 20>} : (tensor<3x4x3x20xf32>) -> tensor<3x4x3x1x20xf32>
//     %3 = gv.pad %2 {pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 4>]} : (tensor<3x4x3x1x20xf32>) -> tensor<3x4x3x1x24xf32>
//     %4 = gv.reshape %3 {shape = array<i64: 3, 4, 3, 3, 8>} : (tensor<3x4x3x1x24xf32>) -> tensor<3x4x3x3x8xf32>
//     %5 = gv.transpose %4 {order = array<i64: 3, 0, 1, 2, 4>} : (tensor<3x4x3x3x8xf32>) -> tensor<3x3x4x3x8xf32>
//     %6 = gv.conv_groups_packed %x, %5 {columns = 20 : i64, dilations = array<i64: 1, 1>, groups = 5 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x6x6x20xf32>, tensor<3x3x4x3x8xf32>) -> tensor<1x6x6x20xf32>
//     func.return %6 : tensor<1x6x6x20xf32>
//   }
// }

// -----
// Products of many channels are as fast where windows are one pixel.
// count: gv.conv_groups_packed 1
// count: gv.conv_packed 1
func.func @pixels(%x: tensor<1x6x6x128xf32>) -> tensor<1x6x6x96xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 128, 64, 1, 1>, weight = @w} : () -> tensor<128x64x1x1xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 96, 64, 1, 1>, weight = @v} : () -> tensor<96x64x1x1xf32>
  %2 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<1x6x6x128xf32>, tensor<128x64x1x1xf32>) -> tensor<1x6x6x128xf32>
  %3 = gv.conv %2, %1 {channels_last = true, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<1x6x6x128xf32>, tensor<96x64x1x1xf32>) -> tensor<1x6x6x96xf32>
  func.return %3 : tensor<1x6x6x96xf32>
}

// -----
// Rows of a matrix that is also the last product are read from the panels of that.
// count: gv.gather_packed 1
// count: gv.gather 0
// count: gv.matmul_packed 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @tied(%x: tensor<5xi64>) -> tensor<5x50xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 50, 6>, weight = @w} : () -> tensor<50x6xf32>
    %1 = gv.gather %0, %x {axis = 0 : i64} : (tensor<50x6xf32>, tensor<5xi64>) -> tensor<5x6xf32>
    %2 = gv.matmul %1, %0 {transpose_rhs = true} : (tensor<5x6xf32>, tensor<50x6xf32>) -> tensor<5x50xf32>
    func.return %2 : tensor<5x50xf32>
  }
}

// -----
// Columns are not.
// count: gv.gather 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @columns(%x: tensor<6xi64>) -> tensor<50x50xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 50, 6>, weight = @w} : () -> tensor<50x6xf32>
    %1 = gv.gather %0, %x {axis = 1 : i64} : (tensor<50x6xf32>, tensor<6xi64>) -> tensor<50x6xf32>
    %2 = gv.matmul %1, %0 {transpose_rhs = true} : (tensor<50x6xf32>, tensor<50x6xf32>) -> tensor<50x50xf32>
    func.return %2 : tensor<50x50xf32>
  }
}

// -----
// Many rows are multiplied by panels of pairs that are made in each run.
// count: gv.matmul 0
// count: gv.matmul_packed 1
builtin.module attributes {gv.target = "znver4"} {
  func.func @pairs(%x: tensor<128x32xbf16>, %y: tensor<32x64xbf16>) -> tensor<128x64xf32> {
    %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<128x32xbf16>) -> tensor<128x32xf32>
    %1 = gv.cast %y {dtype = #gv.dtype<f32>} : (tensor<32x64xbf16>) -> tensor<32x64xf32>
    %2 = gv.matmul %0, %1 : (tensor<128x32xf32>, tensor<32x64xf32>) -> tensor<128x64xf32>
    func.return %2 : tensor<128x64xf32>
  }
}

// -----
// Few are not.
// count: gv.matmul 1
// count: gv.matmul_packed 0
builtin.module attributes {gv.target = "znver4"} {
  func.func @few(%x: tensor<64x32xbf16>, %y: tensor<32x64xbf16>) -> tensor<64x64xf32> {
    %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<64x32xbf16>) -> tensor<64x32xf32>
    %1 = gv.cast %y {dtype = #gv.dtype<f32>} : (tensor<32x64xbf16>) -> tensor<32x64xf32>
    %2 = gv.matmul %0, %1 : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    func.return %2 : tensor<64x64xf32>
  }
}

// -----
// Nor where the last pair is not whole,
// count: gv.matmul 1
// count: gv.matmul_packed 0
builtin.module attributes {gv.target = "znver4"} {
  func.func @odd(%x: tensor<128x33xbf16>, %y: tensor<33x64xbf16>) -> tensor<128x64xf32> {
    %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<128x33xbf16>) -> tensor<128x33xf32>
    %1 = gv.cast %y {dtype = #gv.dtype<f32>} : (tensor<33x64xbf16>) -> tensor<33x64xf32>
    %2 = gv.matmul %0, %1 : (tensor<128x33xf32>, tensor<33x64xf32>) -> tensor<128x64xf32>
    func.return %2 : tensor<128x64xf32>
  }
}

// -----
// nor where no instruction adds up pairs.
// count: gv.matmul 1
// count: gv.matmul_packed 0
builtin.module attributes {gv.target = "x86-64-v4"} {
  func.func @apart(%x: tensor<128x32xbf16>, %y: tensor<32x64xbf16>) -> tensor<128x64xf32> {
    %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<128x32xbf16>) -> tensor<128x32xf32>
    %1 = gv.cast %y {dtype = #gv.dtype<f32>} : (tensor<32x64xbf16>) -> tensor<32x64xf32>
    %2 = gv.matmul %0, %1 : (tensor<128x32xf32>, tensor<32x64xf32>) -> tensor<128x64xf32>
    func.return %2 : tensor<128x64xf32>
  }
}
