// test: fuse,outline-kernels,schedule-memory

// The small product is made, reduced and gone before the large one is made.
func.func @main(%x: tensor<64x64xf32>, %y: tensor<32x32xf32>) -> tensor<f32> {
  %0 = gv.matmul %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = gv.matmul %y, %y : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = gv.sum %1 {axes = array<i64: 0, 1>} : (tensor<32x32xf32>) -> tensor<f32>
  %3 = gv.mul %0, %2 : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %4 = gv.sum %3 {axes = array<i64: 0, 1>} : (tensor<64x64xf32>) -> tensor<f32>
  func.return %4 : tensor<f32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @main(%x: tensor<64x64xf32>, %y: tensor<32x32xf32>) -> tensor<f32> {
//     %0 = func.call @k1(%y) : (tensor<32x32xf32>) -> tensor<32x32xf32>
//     %1 = func.call @k2(%0) : (tensor<32x32xf32>) -> tensor<f32>
//     %2 = func.call @k0(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
//     %3 = func.call @k3(%2, %1) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
//     func.return %3 : tensor<f32>
//   }
//   func.func private @k0(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
//     func.return %0 : tensor<64x64xf32>
//   }
//   func.func private @k1(%y: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %y, %y : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
//     func.return %0 : tensor<32x32xf32>
//   }
//   func.func private @k2(%0: tensor<32x32xf32>) -> tensor<f32> attributes {gv.kind = "row"} {
//     %1 = gv.sum %0 {axes = array<i64: 0, 1>} : (tensor<32x32xf32>) -> tensor<f32>
//     func.return %1 : tensor<f32>
//   }
//   func.func private @k3(%0: tensor<64x64xf32>, %1: tensor<f32>) -> tensor<f32> attributes {gv.kind = "row"} {
//     %2 = gv.mul %0, %1 : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
//     %3 = gv.sum %2 {axes = array<i64: 0, 1>} : (tensor<64x64xf32>) -> tensor<f32>
//     func.return %3 : tensor<f32>
//   }
// }

// -----
// An order that is as good is left as it is.
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = gv.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = gv.matmul %0, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %1 : tensor<8x8xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
//     %0 = func.call @k0(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
//     %1 = func.call @k0(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
//     func.return %1 : tensor<8x8xf32>
//   }
//   func.func private @k0(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
//     func.return %0 : tensor<8x8xf32>
//   }
// }

// -----
// The sum of what is carried is read before the next value is made, which then takes its place.
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>) {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %r, %s = gv.while %x, %0 ({
  ^bb0(%a: tensor<8xf32>, %b: tensor<f32>):
    %1 = gv.constant {value = #gv.array<f32, "", [9.0]>} : () -> tensor<f32>
    %2 = gv.less %b, %1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    gv.yield %2 : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<8xf32>, %b: tensor<f32>):
    %1 = gv.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    %2 = gv.sum %a {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
    %3 = gv.abs %2 : (tensor<f32>) -> tensor<f32>
    %4 = gv.add %3, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %5 = gv.constant {value = #gv.array<f32, "", [4.0]>} : () -> tensor<f32>
    %6 = gv.add %4, %5 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    gv.yield %1, %6 : (tensor<8xf32>, tensor<f32>) -> ()
  }) {carried = 2 : i64} : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  func.return %r, %s : tensor<8xf32>, tensor<f32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>) {
//     %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//     %r, %s = gv.while %x, %0 ({
//     ^bb0(%a: tensor<8xf32>, %b: tensor<f32>):
//       %1 = func.call @k0(%b) : (tensor<f32>) -> tensor<i1>
//       gv.yield %1 : (tensor<i1>) -> ()
//     }, {
//     ^bb0(%a_1: tensor<8xf32>, %b_1: tensor<f32>):
//       %2 = func.call @k2(%a_1, %b_1) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
//       %3 = func.call @k1(%a_1) : (tensor<8xf32>) -> tensor<8xf32>
//       gv.yield %3, %2 : (tensor<8xf32>, tensor<f32>) -> ()
//     }) {carried = 2 : i64} : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
//     func.return %r, %s : tensor<8xf32>, tensor<f32>
//   }
//   func.func private @k0(%b: tensor<f32>) -> tensor<i1> attributes {gv.kind = "map"} {
//     %0 = gv.constant {value = #gv.array<f32, "", [9.0]>} : () -> tensor<f32>
//     %1 = gv.less %b, %0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
//     func.return %1 : tensor<i1>
//   }
//   func.func private @k1(%a: tensor<8xf32>) -> tensor<8xf32> attributes {gv.kind = "map"} {
//     %0 = gv.exp %a : (tensor<8xf32>) -> tensor<8xf32>
//     func.return %0 : tensor<8xf32>
//   }
//   func.func private @k2(%a: tensor<8xf32>, %b: tensor<f32>) -> tensor<f32> attributes {gv.kind = "row"} {
//     %0 = gv.sum %a {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
//     %1 = gv.abs %0 : (tensor<f32>) -> tensor<f32>
//     %2 = gv.add %1, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
//     %3 = gv.constant {value = #gv.array<f32, "", [4.0]>} : () -> tensor<f32>
//     %4 = gv.add %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
//     func.return %4 : tensor<f32>
//   }
// }

// -----

// Weights that are made lie among the others: what the first is made of is gone before the second.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @prepare() -> (tensor<64x4xf32> {gv.name = "prepared.0"}, tensor<64x4xf32> {gv.name = "prepared.1"}) {
  %a = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @a} : () -> tensor<4x4xf32>
  %b = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @b} : () -> tensor<4x4xf32>
  %v = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 64, 4>, weight = @v} : () -> tensor<64x4xf32>
  %w = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 64, 4>, weight = @w} : () -> tensor<64x4xf32>
  %0 = gv.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.matmul %b, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.matmul %v, %0 : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %3 = gv.matmul %w, %1 : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  func.return %2, %3 : tensor<64x4xf32>, tensor<64x4xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = func.call @k0(%x) : (tensor<4xf32>) -> tensor<4xf32>
//     func.return %0 : tensor<4xf32>
//   }
//   func.func @prepare() -> (tensor<64x4xf32> {gv.name = "prepared.0"}, tensor<64x4xf32> {gv.name = "prepared.1"}) {
//     %a = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @a} : () -> tensor<4x4xf32>
//     %b = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @b} : () -> tensor<4x4xf32>
//     %v = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 64, 4>, weight = @v} : () -> tensor<64x4xf32>
//     %w = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 64, 4>, weight = @w} : () -> tensor<64x4xf32>
//     %0 = func.call @k1(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
//     %1 = func.call @k2(%v, %0) : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
//     %2 = func.call @k1(%b) : (tensor<4x4xf32>) -> tensor<4x4xf32>
//     %3 = func.call @k2(%w, %2) : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
//     func.return %1, %3 : tensor<64x4xf32>, tensor<64x4xf32>
//   }
//   func.func private @k0(%0: tensor<4xf32>) -> tensor<4xf32> attributes {gv.kind = "map"} {
//     func.return %0 : tensor<4xf32>
//   }
//   func.func private @k1(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
//     func.return %0 : tensor<4x4xf32>
//   }
//   func.func private @k2(%v: tensor<64x4xf32>, %0: tensor<4x4xf32>) -> tensor<64x4xf32> attributes {gv.kind = "gemm"} {
//     %1 = gv.matmul %v, %0 : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
//     func.return %1 : tensor<64x4xf32>
//   }
// }
