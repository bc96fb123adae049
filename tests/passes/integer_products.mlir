// test: integer-products

// Without zero points, u8 by i8: only the scales move.
builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
  func.func @scaled(%q: tensor<3x8xui8>, %s: tensor<f32>) -> tensor<3x4xf32> {
    %0 = gv.cast %q {dtype = #gv.dtype<f32>} : (tensor<3x8xui8>) -> tensor<3x8xf32>
    %a = gv.mul %0, %s : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
    %w = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 4>, weight = @w} : () -> tensor<8x4xi8>
    %r = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @r} : () -> tensor<4xf32>
    %1 = gv.cast %w {dtype = #gv.dtype<f32>} : (tensor<8x4xi8>) -> tensor<8x4xf32>
    %b = gv.mul %1, %r : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %y = gv.matmul %a, %b : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
    func.return %y : tensor<3x4xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
//   func.func @scaled(%q: tensor<3x8xui8>, %s: tensor<f32>) -> tensor<3x4xf32> {
//     %w = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 4>, weight = @w} : () -> tensor<8x4xi8>
//     %r = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4>, weight = @r} : () -> tensor<4xf32>
//     %0 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<3x8xui8>) -> tensor<3x8xi32>
//     %1 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x4xi8>) -> tensor<8x4xi32>
//     %2 = gv.matmul %0, %1 : (tensor<3x8xi32>, tensor<8x4xi32>) -> tensor<3x4xi32>
//     %3 = gv.reshape %r {shape = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>
//     %4 = gv.reshape %s {shape = array<i64>} : (tensor<f32>) -> tensor<f32>
//     %5 = gv.mul %3, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
//     %6 = gv.cast %2 {dtype = #gv.dtype<f32>} : (tensor<3x4xi32>) -> tensor<3x4xf32>
//     %y = gv.mul %6, %5 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
//     func.return %y : tensor<3x4xf32>
//   }
// }

// -----
// Zero points are subtracted behind the product; i8 by u8 is shifted to u8 by i8.
// count: gv.matmul 1
// count: gv.sum 2
builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
  func.func @moved(%q: tensor<3x8xi8>, %z: tensor<i32>) -> tensor<3x4xi32> {
    %0 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<3x8xi8>) -> tensor<3x8xi32>
    %a = gv.sub %0, %z : (tensor<3x8xi32>, tensor<i32>) -> tensor<3x8xi32>
    %w = gv.weight {dtype = #gv.dtype<u8>, shape = array<i64: 4, 8>, weight = @w} : () -> tensor<4x8xui8>
    %v = gv.weight {dtype = #gv.dtype<i32>, shape = array<i64: 4, 1>, weight = @v} : () -> tensor<4x1xi32>
    %1 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<4x8xui8>) -> tensor<4x8xi32>
    %b = gv.sub %1, %v : (tensor<4x8xi32>, tensor<4x1xi32>) -> tensor<4x8xi32>
    %y = gv.matmul %a, %b {transpose_rhs = true} : (tensor<3x8xi32>, tensor<4x8xi32>) -> tensor<3x4xi32>
    func.return %y : tensor<3x4xi32>
  }
}

// -----
// A zero point for each row is left alone.
// count: gv.matmul 1
// count: gv.sum 0
builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
  func.func @not(%q: tensor<3x8xui8>, %z: tensor<3x1xi32>) -> tensor<3x4xi32> {
    %0 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<3x8xui8>) -> tensor<3x8xi32>
    %a = gv.sub %0, %z : (tensor<3x8xi32>, tensor<3x1xi32>) -> tensor<3x8xi32>
    %w = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 4>, weight = @w} : () -> tensor<8x4xi8>
    %b = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x4xi8>) -> tensor<8x4xi32>
    %y = gv.matmul %a, %b : (tensor<3x8xi32>, tensor<8x4xi32>) -> tensor<3x4xi32>
    func.return %y : tensor<3x4xi32>
  }
}

// -----
// A depth that four does not divide is filled up.
// count: gv.pad 2
// count: gv.sum 1
func.func @filled(%p: tensor<3x6xui8>) -> tensor<3x4xi32> {
  %1 = gv.cast %p {dtype = #gv.dtype<i32>} : (tensor<3x6xui8>) -> tensor<3x6xi32>
  %u = gv.weight {dtype = #gv.dtype<u8>, shape = array<i64: 6, 4>, weight = @u} : () -> tensor<6x4xui8>
  %c = gv.cast %u {dtype = #gv.dtype<i32>} : (tensor<6x4xui8>) -> tensor<6x4xi32>
  %x = gv.matmul %1, %c : (tensor<3x6xi32>, tensor<6x4xi32>) -> tensor<3x4xi32>
  func.return %x : tensor<3x4xi32>
}

// -----
// An image is padded with its zero point, and its channels to groups of four.
func.func @image(%q: tensor<1x3x5x5xui8>, %s: tensor<f32>) -> tensor<1x8x5x5xf32> {
  %z = gv.constant {value = #gv.array<i32, "", [7]>} : () -> tensor<i32>
  %0 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<1x3x5x5xui8>) -> tensor<1x3x5x5xi32>
  %1 = gv.sub %0, %z : (tensor<1x3x5x5xi32>, tensor<i32>) -> tensor<1x3x5x5xi32>
  %2 = gv.cast %1 {dtype = #gv.dtype<f32>} : (tensor<1x3x5x5xi32>) -> tensor<1x3x5x5xf32>
  %a = gv.mul %2, %s : (tensor<1x3x5x5xf32>, tensor<f32>) -> tensor<1x3x5x5xf32>
  %w = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 3, 3, 3>, weight = @w} : () -> tensor<8x3x3x3xi8>
  %r = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 1, 1, 1>, weight = @r} : () -> tensor<8x1x1x1xf32>
  %3 = gv.cast %w {dtype = #gv.dtype<f32>} : (tensor<8x3x3x3xi8>) -> tensor<8x3x3x3xf32>
  %b = gv.mul %3, %r : (tensor<8x3x3x3xf32>, tensor<8x1x1x1xf32>) -> tensor<8x3x3x3xf32>
  %y = gv.conv %a, %b {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x3x5x5xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x5x5xf32>
  func.return %y : tensor<1x8x5x5xf32>
}

// ->
// func.func @image(%q: tensor<1x3x5x5xui8>, %s: tensor<f32>) -> tensor<1x8x5x5xf32> {
//   %w = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 3, 3, 3>, weight = @w} : () -> tensor<8x3x3x3xi8>
//   %r = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 1, 1, 1>, weight = @r} : () -> tensor<8x1x1x1xf32>
//   %0 = gv.constant {value = #gv.array<i32, "", [7]>} : () -> tensor<i32>
//   %1 = gv.pad %w {pads = [array<i64: 0, 0>, array<i64: 0, 1>, array<i64: 0, 0>, array<i64: 0, 0>]} : (tensor<8x3x3x3xi8>) -> tensor<8x4x3x3xi8>
//   %2 = gv.pad %q {pads = [array<i64: 0, 0>, array<i64: 0, 1>, array<i64: 1, 1>, array<i64: 1, 1>], value = 7.000000e+00 : f64} : (tensor<1x3x5x5xui8>) -> tensor<1x4x7x7xui8>
//   %3 = gv.cast %2 {dtype = #gv.dtype<i32>} : (tensor<1x4x7x7xui8>) -> tensor<1x4x7x7xi32>
//   %4 = gv.cast %1 {dtype = #gv.dtype<i32>} : (tensor<8x4x3x3xi8>) -> tensor<8x4x3x3xi32>
//   %5 = gv.conv %3, %4 {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>} : (tensor<1x4x7x7xi32>, tensor<8x4x3x3xi32>) -> tensor<1x8x5x5xi32>
//   %6 = gv.reshape %0 {shape = array<i64>} : (tensor<i32>) -> tensor<i32>
//   %7 = gv.sum %4 {axes = array<i64: 1, 2, 3>} : (tensor<8x4x3x3xi32>) -> tensor<8xi32>
//   %8 = gv.mul %7, %6 : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
//   %9 = gv.reshape %8 {shape = array<i64: 8, 1, 1>} : (tensor<8xi32>) -> tensor<8x1x1xi32>
//   %10 = gv.sub %5, %9 : (tensor<1x8x5x5xi32>, tensor<8x1x1xi32>) -> tensor<1x8x5x5xi32>
//   %11 = gv.reshape %r {shape = array<i64: 8, 1, 1>} : (tensor<8x1x1x1xf32>) -> tensor<8x1x1xf32>
//   %12 = gv.reshape %s {shape = array<i64>} : (tensor<f32>) -> tensor<f32>
//   %13 = gv.mul %11, %12 : (tensor<8x1x1xf32>, tensor<f32>) -> tensor<8x1x1xf32>
//   %14 = gv.cast %10 {dtype = #gv.dtype<f32>} : (tensor<1x8x5x5xi32>) -> tensor<1x8x5x5xf32>
//   %y = gv.mul %14, %13 : (tensor<1x8x5x5xf32>, tensor<8x1x1xf32>) -> tensor<1x8x5x5xf32>
//   func.return %y : tensor<1x8x5x5xf32>
// }

// -----
// Each channel for itself: i8 is shifted, so that its zero point is -128 + 128, and pads stay.
// count: gv.pad 0
// count: gv.sum 0
func.func @depthwise(%q: tensor<1x8x5x5xi8>) -> tensor<1x8x5x5xi32> {
  %z = gv.constant {value = #gv.array<i32, "", [-128]>} : () -> tensor<i32>
  %0 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<1x8x5x5xi8>) -> tensor<1x8x5x5xi32>
  %a = gv.sub %0, %z : (tensor<1x8x5x5xi32>, tensor<i32>) -> tensor<1x8x5x5xi32>
  %w = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 1, 3, 3>, weight = @w} : () -> tensor<8x1x3x3xi8>
  %b = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x1x3x3xi8>) -> tensor<8x1x3x3xi32>
  %y = gv.conv %a, %b {dilations = array<i64: 1, 1>, groups = 8 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x8x5x5xi32>, tensor<8x1x3x3xi32>) -> tensor<1x8x5x5xi32>
  func.return %y : tensor<1x8x5x5xi32>
}

// -----
// Zero points of weights take the sums of windows; groups of channels with them are left alone.
// count: gv.sum_pool 1
// count: gv.conv 2
func.func @weights(%q: tensor<1x8x5xui8>) -> (tensor<1x8x3xi32>, tensor<1x8x3xi32>) {
  %z = gv.constant {value = #gv.array<i32, "", [3]>} : () -> tensor<i32>
  %a = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<1x8x5xui8>) -> tensor<1x8x5xi32>
  %w = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 8, 3>, weight = @w} : () -> tensor<8x8x3xi8>
  %0 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x8x3xi8>) -> tensor<8x8x3xi32>
  %b = gv.sub %0, %z : (tensor<8x8x3xi32>, tensor<i32>) -> tensor<8x8x3xi32>
  %y = gv.conv %a, %b {dilations = array<i64: 1>, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x8x5xi32>, tensor<8x8x3xi32>) -> tensor<1x8x3xi32>
  %v = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 4, 3>, weight = @v} : () -> tensor<8x4x3xi8>
  %1 = gv.cast %v {dtype = #gv.dtype<i32>} : (tensor<8x4x3xi8>) -> tensor<8x4x3xi32>
  %c = gv.sub %1, %z : (tensor<8x4x3xi32>, tensor<i32>) -> tensor<8x4x3xi32>
  %x = gv.conv %a, %c {dilations = array<i64: 1>, groups = 2 : i64, pads = [array<i64: 0, 0>], strides = array<i64: 1>} : (tensor<1x8x5xi32>, tensor<8x4x3xi32>) -> tensor<1x8x3xi32>
  func.return %y, %x : tensor<1x8x3xi32>, tensor<1x8x3xi32>
}

// -----
// Weights that are given in a run are laid out in it: the form is the same. Not for a row or two.
builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
  func.func @given(%x: tensor<5x8xui8>, %r: tensor<1x8xui8>, %w: tensor<8x4xui8>) -> (tensor<5x4xi32>, tensor<1x4xi32>) {
    %0 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<5x8xui8>) -> tensor<5x8xi32>
    %1 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x4xui8>) -> tensor<8x4xi32>
    %2 = gv.matmul %0, %1 : (tensor<5x8xi32>, tensor<8x4xi32>) -> tensor<5x4xi32>
    %3 = gv.cast %r {dtype = #gv.dtype<i32>} : (tensor<1x8xui8>) -> tensor<1x8xi32>
    %4 = gv.matmul %3, %1 : (tensor<1x8xi32>, tensor<8x4xi32>) -> tensor<1x4xi32>
    func.return %2, %4 : tensor<5x4xi32>, tensor<1x4xi32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
//   func.func @given(%x: tensor<5x8xui8>, %r: tensor<1x8xui8>, %w: tensor<8x4xui8>) -> (tensor<5x4xi32>, tensor<1x4xi32>) {
//     %0 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x4xui8>) -> tensor<8x4xi32>
//     %1 = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x4xui8>) -> tensor<8x4xi32>
//     %2 = gv.constant {value = #gv.array<i32, "", [-128]>} : () -> tensor<i32>
//     %3 = gv.add %1, %2 : (tensor<8x4xi32>, tensor<i32>) -> tensor<8x4xi32>
//     %4 = gv.cast %3 {dtype = #gv.dtype<i8>} : (tensor<8x4xi32>) -> tensor<8x4xi8>
//     %5 = gv.constant {value = #gv.array<i32, "", [-128]>} : () -> tensor<i32>
//     %6 = gv.cast %x {dtype = #gv.dtype<i32>} : (tensor<5x8xui8>) -> tensor<5x8xi32>
//     %7 = gv.cast %4 {dtype = #gv.dtype<i32>} : (tensor<8x4xi8>) -> tensor<8x4xi32>
//     %8 = gv.matmul %6, %7 : (tensor<5x8xi32>, tensor<8x4xi32>) -> tensor<5x4xi32>
//     %9 = gv.sum %6 {axes = array<i64: 1>, keepdims = true} : (tensor<5x8xi32>) -> tensor<5x1xi32>
//     %10 = gv.reshape %5 {shape = array<i64>} : (tensor<i32>) -> tensor<i32>
//     %11 = gv.mul %9, %10 : (tensor<5x1xi32>, tensor<i32>) -> tensor<5x1xi32>
//     %12 = gv.sub %8, %11 : (tensor<5x4xi32>, tensor<5x1xi32>) -> tensor<5x4xi32>
//     %13 = gv.cast %r {dtype = #gv.dtype<i32>} : (tensor<1x8xui8>) -> tensor<1x8xi32>
//     %14 = gv.matmul %13, %0 : (tensor<1x8xi32>, tensor<8x4xi32>) -> tensor<1x4xi32>
//     func.return %12, %14 : tensor<5x4xi32>, tensor<1x4xi32>
//   }
// }
