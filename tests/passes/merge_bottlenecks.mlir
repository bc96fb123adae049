// test: fuse, merge-bottlenecks

// The expansion has 1.7 MiB, three of its rows 72 KiB.
func.func @large(%x: tensor<1x72x64x16xf32>, %u: tensor<2x16x48xf32>, %k: tensor<3x3x96xf32>, %p: tensor<1x96x32xf32>) -> tensor<1x72x64x24xf32> {
  %0 = gv.matmul_packed %x, %u {columns = 96 : i64} : (tensor<1x72x64x16xf32>, tensor<2x16x48xf32>) -> tensor<1x72x64x96xf32>
  %1 = gv.relu %0 : (tensor<1x72x64x96xf32>) -> tensor<1x72x64x96xf32>
  %2 = gv.depthwise_packed %1, %k {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x72x64x96xf32>, tensor<3x3x96xf32>) -> tensor<1x72x64x96xf32>
  %3 = gv.relu %2 : (tensor<1x72x64x96xf32>) -> tensor<1x72x64x96xf32>
  %4 = gv.matmul_packed %3, %p {columns = 24 : i64} : (tensor<1x72x64x96xf32>, tensor<1x96x32xf32>) -> tensor<1x72x64x24xf32>
  func.return %4 : tensor<1x72x64x24xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @large(%x: tensor<1x72x64x16xf32>, %u: tensor<2x16x48xf32>, %k: tensor<3x3x96xf32>, %p: tensor<1x96x32xf32>) -> tensor<1x72x64x24xf32> {
//     %0 = gv.kernel %x, %u, %k, %p ({
//     ^bb0(%x_1: tensor<1x72x64x16xf32>, %u_1: tensor<2x16x48xf32>, %k_1: tensor<3x3x96xf32>, %p_1: tensor<1x96x32xf32>):
//       %1 = gv.matmul_packed %x_1, %u_1 {columns = 96 : i64} : (tensor<1x72x64x16xf32>, tensor<2x16x48xf32>) -> tensor<1x72x64x96xf32>
//       %2 = gv.relu %1 : (tensor<1x72x64x96xf32>) -> tensor<1x72x64x96xf32>
//       %3 = gv.depthwise_packed %2, %k_1 {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x72x64x96xf32>, tensor<3x3x96xf32>) -> tensor<1x72x64x96xf32>
//       %4 = gv.relu %3 : (tensor<1x72x64x96xf32>) -> tensor<1x72x64x96xf32>
//       %5 = gv.matmul_packed %4, %p_1 {columns = 24 : i64} : (tensor<1x72x64x96xf32>, tensor<1x96x32xf32>) -> tensor<1x72x64x24xf32>
//       gv.yield %5 : (tensor<1x72x64x24xf32>) -> ()
//     }) {kind = "bottleneck"} : (tensor<1x72x64x16xf32>, tensor<2x16x48xf32>, tensor<3x3x96xf32>, tensor<1x96x32xf32>) -> tensor<1x72x64x24xf32>
//     func.return %0 : tensor<1x72x64x24xf32>
//   }
// }

// -----
// An expansion that stays in cache is made at once: its pixels fill larger tiles.
// count: gv.kernel 3
func.func @small(%x: tensor<1x16x64x16xf32>, %u: tensor<2x16x48xf32>, %k: tensor<3x3x96xf32>, %p: tensor<1x96x32xf32>) -> tensor<1x16x64x24xf32> {
  %0 = gv.matmul_packed %x, %u {columns = 96 : i64} : (tensor<1x16x64x16xf32>, tensor<2x16x48xf32>) -> tensor<1x16x64x96xf32>
  %1 = gv.relu %0 : (tensor<1x16x64x96xf32>) -> tensor<1x16x64x96xf32>
  %2 = gv.depthwise_packed %1, %k {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x16x64x96xf32>, tensor<3x3x96xf32>) -> tensor<1x16x64x96xf32>
  %3 = gv.relu %2 : (tensor<1x16x64x96xf32>) -> tensor<1x16x64x96xf32>
  %4 = gv.matmul_packed %3, %p {columns = 24 : i64} : (tensor<1x16x64x96xf32>, tensor<1x96x32xf32>) -> tensor<1x16x64x24xf32>
  func.return %4 : tensor<1x16x64x24xf32>
}

// -----
// What something else needs as well is stored.
// count: gv.kernel 4
func.func @used(%x: tensor<1x72x64x16xf32>, %u: tensor<2x16x48xf32>, %k: tensor<3x3x96xf32>, %p: tensor<1x96x32xf32>) -> (tensor<1x72x64x24xf32>, tensor<1x72x64x96xf32>) {
  %0 = gv.matmul_packed %x, %u {columns = 96 : i64} : (tensor<1x72x64x16xf32>, tensor<2x16x48xf32>) -> tensor<1x72x64x96xf32>
  %1 = gv.relu %0 : (tensor<1x72x64x96xf32>) -> tensor<1x72x64x96xf32>
  %2 = gv.depthwise_packed %1, %k {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x72x64x96xf32>, tensor<3x3x96xf32>) -> tensor<1x72x64x96xf32>
  %3 = gv.relu %2 : (tensor<1x72x64x96xf32>) -> tensor<1x72x64x96xf32>
  %4 = gv.matmul_packed %3, %p {columns = 24 : i64} : (tensor<1x72x64x96xf32>, tensor<1x96x32xf32>) -> tensor<1x72x64x24xf32>
  %9 = gv.neg %1 : (tensor<1x72x64x96xf32>) -> tensor<1x72x64x96xf32>
  func.return %4, %9 : tensor<1x72x64x24xf32>, tensor<1x72x64x96xf32>
}

// -----
// Rows that do not stay in cache together would be written to memory all the same.
// count: gv.kernel 3
func.func @wide(%x: tensor<1x4x1024x16xf32>, %u: tensor<2x16x48xf32>, %k: tensor<3x3x96xf32>, %p: tensor<1x96x32xf32>) -> tensor<1x4x1024x24xf32> {
  %0 = gv.matmul_packed %x, %u {columns = 96 : i64} : (tensor<1x4x1024x16xf32>, tensor<2x16x48xf32>) -> tensor<1x4x1024x96xf32>
  %1 = gv.relu %0 : (tensor<1x4x1024x96xf32>) -> tensor<1x4x1024x96xf32>
  %2 = gv.depthwise_packed %1, %k {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x4x1024x96xf32>, tensor<3x3x96xf32>) -> tensor<1x4x1024x96xf32>
  %3 = gv.relu %2 : (tensor<1x4x1024x96xf32>) -> tensor<1x4x1024x96xf32>
  %4 = gv.matmul_packed %3, %p {columns = 24 : i64} : (tensor<1x4x1024x96xf32>, tensor<1x96x32xf32>) -> tensor<1x4x1024x24xf32>
  func.return %4 : tensor<1x4x1024x24xf32>
}

// -----
// A convolution makes rows too.
// count: gv.kernel 1
func.func @convolution(%x: tensor<1x72x128x3xf32>, %u: tensor<1x27x32xf32>, %k: tensor<3x3x32xf32>) -> tensor<1x72x128x32xf32> {
  %0 = gv.conv_packed %x, %u {columns = 32 : i64, dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x72x128x3xf32>, tensor<1x27x32xf32>) -> tensor<1x72x128x32xf32>
  %1 = gv.depthwise_packed %0, %k {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: 1, 1>} : (tensor<1x72x128x32xf32>, tensor<3x3x32xf32>) -> tensor<1x72x128x32xf32>
  func.return %1 : tensor<1x72x128x32xf32>
}
