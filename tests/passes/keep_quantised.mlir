// test: keep-quantised

// What is rounded to i8 and only dequantised is rounded to u8, and pooled as that.
func.func @pooled(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %s = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %z = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %low = gv.constant {value = #gv.array<f32, "", [-128.0]>} : () -> tensor<f32>
  %high = gv.constant {value = #gv.array<f32, "", [127.0]>} : () -> tensor<f32>
  %i = gv.constant {value = #gv.array<i32, "", [3]>} : () -> tensor<i32>
  %0 = gv.div %x, %s : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %1 = gv.round %0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = gv.add %1, %z : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %3 = gv.clip %2, %low, %high : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %q = gv.cast %3 {dtype = #gv.dtype<i8>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xi8>
  %4 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi32>
  %5 = gv.sub %4, %i : (tensor<1x2x4x4xi32>, tensor<i32>) -> tensor<1x2x4x4xi32>
  %6 = gv.cast %5 {dtype = #gv.dtype<f32>} : (tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xf32>
  %7 = gv.mul %6, %s : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %y = gv.max_pool %7 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  func.return %y : tensor<1x2x2x2xf32>
}

// ->
// func.func @pooled(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
//   %s = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %0 = gv.div %x, %s : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
//   %1 = gv.round %0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", [131.0]>} : () -> tensor<f32>
//   %3 = gv.add %1, %2 : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
//   %4 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %5 = gv.constant {value = #gv.array<f32, "", [255.0]>} : () -> tensor<f32>
//   %6 = gv.clip %3, %4, %5 : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x4x4xf32>
//   %7 = gv.cast %6 {dtype = #gv.dtype<u8>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xui8>
//   %8 = gv.constant {value = #gv.array<i32, "", [131]>} : () -> tensor<i32>
//   %9 = gv.max_pool %7 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x2x4x4xui8>) -> tensor<1x2x2x2xui8>
//   %10 = gv.cast %9 {dtype = #gv.dtype<i32>} : (tensor<1x2x2x2xui8>) -> tensor<1x2x2x2xi32>
//   %11 = gv.sub %10, %8 : (tensor<1x2x2x2xi32>, tensor<i32>) -> tensor<1x2x2x2xi32>
//   %12 = gv.cast %11 {dtype = #gv.dtype<f32>} : (tensor<1x2x2x2xi32>) -> tensor<1x2x2x2xf32>
//   %y = gv.mul %12, %s : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
//   func.return %y : tensor<1x2x2x2xf32>
// }

// -----
// What is returned stays i8.
// count: gv.clip 1
// count: gv.sub 0
func.func @returned(%x: tensor<4xf32>) -> tensor<4xi8> {
  %low = gv.constant {value = #gv.array<f32, "", [-128.0]>} : () -> tensor<f32>
  %high = gv.constant {value = #gv.array<f32, "", [127.0]>} : () -> tensor<f32>
  %1 = gv.round %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = gv.clip %1, %low, %high : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %q = gv.cast %3 {dtype = #gv.dtype<i8>} : (tensor<4xf32>) -> tensor<4xi8>
  func.return %q : tensor<4xi8>
}

// -----
// Each part of a concatenation is quantised alone.
// count: gv.concat 1
// count: gv.round 2
func.func @joined(%x: tensor<2x3xf32>, %w: tensor<2x2xf32>) -> tensor<2x5xui8> {
  %low = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %high = gv.constant {value = #gv.array<f32, "", [255.0]>} : () -> tensor<f32>
  %0 = gv.concat %x, %w {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  %1 = gv.round %0 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %3 = gv.clip %1, %low, %high : (tensor<2x5xf32>, tensor<f32>, tensor<f32>) -> tensor<2x5xf32>
  %q = gv.cast %3 {dtype = #gv.dtype<u8>} : (tensor<2x5xf32>) -> tensor<2x5xui8>
  func.return %q : tensor<2x5xui8>
}
