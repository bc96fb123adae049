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
// A zero point for each row is left alone, and a depth that four does not divide.
// count: gv.matmul 2
// count: gv.sum 0
builtin.module attributes {gv.target = "x86-64-v4,+avx512vnni"} {
  func.func @not(%q: tensor<3x8xui8>, %z: tensor<3x1xi32>, %p: tensor<3x6xui8>) -> (tensor<3x4xi32>, tensor<3x4xi32>) {
    %0 = gv.cast %q {dtype = #gv.dtype<i32>} : (tensor<3x8xui8>) -> tensor<3x8xi32>
    %a = gv.sub %0, %z : (tensor<3x8xi32>, tensor<3x1xi32>) -> tensor<3x8xi32>
    %w = gv.weight {dtype = #gv.dtype<i8>, shape = array<i64: 8, 4>, weight = @w} : () -> tensor<8x4xi8>
    %b = gv.cast %w {dtype = #gv.dtype<i32>} : (tensor<8x4xi8>) -> tensor<8x4xi32>
    %y = gv.matmul %a, %b : (tensor<3x8xi32>, tensor<8x4xi32>) -> tensor<3x4xi32>
    %1 = gv.cast %p {dtype = #gv.dtype<i32>} : (tensor<3x6xui8>) -> tensor<3x6xi32>
    %u = gv.weight {dtype = #gv.dtype<u8>, shape = array<i64: 6, 4>, weight = @u} : () -> tensor<6x4xui8>
    %c = gv.cast %u {dtype = #gv.dtype<i32>} : (tensor<6x4xui8>) -> tensor<6x4xi32>
    %x = gv.matmul %1, %c : (tensor<3x6xi32>, tensor<6x4xi32>) -> tensor<3x4xi32>
    func.return %y, %x : tensor<3x4xi32>, tensor<3x4xi32>
  }
}
