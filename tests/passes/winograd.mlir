// test: winograd

// The transform of the weights is operations that depend on weights alone.
// count: gv.conv 0
// count: gv.winograd_packed 1
// count: gv.matmul 1
builtin.module attributes {gv.target = "x86-64-v4"} {
  func.func @same(%x: tensor<1x8x8x32xf32>) -> tensor<1x8x8x48xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 48, 32, 3, 3>, weight = @w} : () -> tensor<48x32x3x3xf32>
    %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<48x32x3x3xf32>) -> tensor<1x8x8x48xf32>
    func.return %1 : tensor<1x8x8x48xf32>
  }
}

// -----
// Groups of many channels are a convolution each, beside each other.
// count: gv.conv 0
// count: gv.winograd_packed 2
// count: gv.concat 1
func.func @groups(%x: tensor<1x16x16x128xf32>) -> tensor<1x16x16x128xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 128, 64, 3, 3>, weight = @w} : () -> tensor<128x64x3x3xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, groups = 2 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x16x16x128xf32>, tensor<128x64x3x3xf32>) -> tensor<1x16x16x128xf32>
  func.return %1 : tensor<1x16x16x128xf32>
}

// -----
// Groups of few channels, or of small images, stay: their channels are walked as vectors.
// count: gv.conv 2
func.func @thin_groups(%x: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 512, 16, 3, 3>, weight = @w} : () -> tensor<512x16x3x3xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 512, 32, 3, 3>, weight = @v} : () -> tensor<512x32x3x3xf32>
  %2 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, groups = 32 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x7x7x512xf32>, tensor<512x16x3x3xf32>) -> tensor<1x7x7x512xf32>
  %3 = gv.conv %2, %1 {channels_last = true, dilations = array<i64: 1, 1>, groups = 16 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x7x7x512xf32>, tensor<512x32x3x3xf32>) -> tensor<1x7x7x512xf32>
  func.return %3 : tensor<1x7x7x512xf32>
}

// -----
// Windows that move by 2: four tiles of five by five values for two by two results.
// count: gv.conv 0
// count: gv.winograd_packed 1
func.func @stride(%x: tensor<1x16x16x128xf32>) -> tensor<1x8x8x128xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 128, 128, 3, 3>, weight = @w} : () -> tensor<128x128x3x3xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 2, 2>} : (tensor<1x16x16x128xf32>, tensor<128x128x3x3xf32>) -> tensor<1x8x8x128xf32>
  func.return %1 : tensor<1x8x8x128xf32>
}

// -----
// They share less: few channels do not pay.
// count: gv.conv 1
func.func @thin_stride(%x: tensor<1x16x16x32xf32>) -> tensor<1x8x8x32xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 32, 32, 3, 3>, weight = @w} : () -> tensor<32x32x3x3xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 2, 2>} : (tensor<1x16x16x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x8x8x32xf32>
  func.return %1 : tensor<1x8x8x32xf32>
}

// -----
// 7x7 results in tiles of 4x4 would have four times the weights: small tiles, of 16 planes.
builtin.module attributes {gv.target = "x86-64-v4"} {
  func.func @tight(%x: tensor<1x7x7x128xf32>) -> tensor<1x7x7x128xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 128, 128, 3, 3>, weight = @w} : () -> tensor<128x128x3x3xf32>
    %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x7x7x128xf32>, tensor<128x128x3x3xf32>) -> tensor<1x7x7x128xf32>
    func.return %1 : tensor<1x7x7x128xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v4"} {
//   func.func @tight(%x: tensor<1x7x7x128xf32>) -> tensor<1x7x7x128xf32> {
//     %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 128, 128, 3, 3>, weight = @w} : () -> tensor<128x128x3x3xf32>
//     %1 = gv.reshape %0 {shape = array<i64: 16384, 9>} : (tensor<128x128x3x3xf32>) -> tensor<16384x9xf32>
//     %2 = gv.constant {value = #gv.array<f32, "9, 16", "AACAPwAAAL8AAAC/AAAAgAAAAL8AAIA+AACAPgAAAAAAAAC/AACAPgAAgD4AAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAC/AAAAPwAAAIAAAACAAACAPgAAgL4AAAAAAAAAgAAAgD4AAIC+AAAAAAAAAIAAAAAAAAAAgAAAAAAAAAAAAAAAvwAAAL8AAIC/AAAAgAAAgD4AAIA+AAAAPwAAAIAAAIA+AACAPgAAAD8AAACAAAAAAAAAAAAAAAAAAAAAAAAAAIAAAACAAAAAgAAAAL8AAIA+AACAPgAAAAAAAAA/AACAvgAAgL4AAACAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAIAAAACAAACAPgAAgL4AAAAAAAAAAAAAgL4AAIA+AAAAgAAAAIAAAAAAAAAAgAAAAAAAAAAAAAAAgAAAAIAAAACAAAAAgAAAgD4AAIA+AAAAPwAAAAAAAIC+AACAvgAAAL8AAACAAAAAAAAAAAAAAAAAAAAAAAAAAIAAAACAAAAAgAAAAL8AAIA+AACAPgAAAAAAAAC/AACAPgAAgD4AAAAAAACAvwAAAD8AAAA/AAAAAAAAAAAAAACAAAAAAAAAAIAAAACAAACAPgAAgL4AAAAAAAAAgAAAgD4AAIC+AAAAAAAAAIAAAAA/AAAAvwAAAAAAAAAAAAAAgAAAAIAAAACAAAAAgAAAgD4AAIA+AAAAPwAAAIAAAIA+AACAPgAAAD8AAACAAAAAPwAAAD8AAIA/">} : () -> tensor<9x16xf32>
//     %3 = gv.matmul %1, %2 : (tensor<16384x9xf32>, tensor<9x16xf32>) -> tensor<16384x16xf32>
//     %4 = gv.reshape %3 {shape = array<i64: 128, 128, 16>} : (tensor<16384x16xf32>) -> tensor<128x128x16xf32>
//     %5 = gv.transpose %4 {order = array<i64: 2, 1, 0>} : (tensor<128x128x16xf32>) -> tensor<16x128x128xf32>
//     %6 = gv.reshape %5 {shape = array<i64: 16, 128, 2, 64>} : (tensor<16x128x128xf32>) -> tensor<16x128x2x64xf32>
//     %7 = gv.transpose %6 {order = array<i64: 2, 0, 1, 3>} : (tensor<16x128x2x64xf32>) -> tensor<2x16x128x64xf32>
//     %8 = gv.winograd_packed %x, %7 {columns = 128 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], tile = 2 : i64} : (tensor<1x7x7x128xf32>, tensor<2x16x128x64xf32>) -> tensor<1x7x7x128xf32>
//     func.return %8 : tensor<1x7x7x128xf32>
//   }
// }

// -----
// With as few channels they do not pay either.
// count: gv.conv 1
func.func @small(%x: tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 32, 32, 3, 3>, weight = @w} : () -> tensor<32x32x3x3xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x7x7x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x7x7x32xf32>
  func.return %1 : tensor<1x7x7x32xf32>
}

// -----
// With few channels the transforms cost more than they save.
// count: gv.conv 1
func.func @thin(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x32xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 32, 16, 3, 3>, weight = @w} : () -> tensor<32x16x3x3xf32>
  %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>, tensor<32x16x3x3xf32>) -> tensor<1x8x8x32xf32>
  func.return %1 : tensor<1x8x8x32xf32>
}

// -----
// Weights that are given in a run are transformed in each run: many results must make up for it.
// count: gv.conv 1
// count: gv.winograd_packed 1
func.func @given(%x: tensor<16x8x8x32xf32>, %y: tensor<1x8x8x32xf32>, %w: tensor<48x32x3x3xf32>) -> (tensor<16x8x8x48xf32>, tensor<1x8x8x48xf32>) {
  %0 = gv.conv %x, %w {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<16x8x8x32xf32>, tensor<48x32x3x3xf32>) -> tensor<16x8x8x48xf32>
  %1 = gv.conv %y, %w {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x8x8x32xf32>, tensor<48x32x3x3xf32>) -> tensor<1x8x8x48xf32>
  func.return %0, %1 : tensor<16x8x8x48xf32>, tensor<1x8x8x48xf32>
}

// -----
// Sizes that are symbols count as in the middle of their ranges: here 64 by 64.
// count: gv.conv 0
// count: gv.winograd_packed 1
builtin.module attributes {gv.target = "x86-64-v4", gv.ranges = {H = array<i64: 4, 1024>, W = array<i64: 4, 1024>}} {
  func.func @symbols(%x: tensor<1x?x?x32xf32, #gv.dims<"1, H, W, 32">>) -> tensor<1x?x?x48xf32, #gv.dims<"1, H, W, 48">> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 48, 32, 3, 3>, weight = @w} : () -> tensor<48x32x3x3xf32>
    %1 = gv.conv %x, %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x?x?x32xf32, #gv.dims<"1, H, W, 32">>, tensor<48x32x3x3xf32>) -> tensor<1x?x?x48xf32, #gv.dims<"1, H, W, 48">>
    func.return %1 : tensor<1x?x?x48xf32, #gv.dims<"1, H, W, 48">>
  }
}
