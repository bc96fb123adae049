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
