// test: fuse, merge-maps

// What two results need is computed once, and not stored.
func.func @shared(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = gv.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.sub %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @shared(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
//     %0, %1 = gv.kernel %x, %y ({
//     ^bb0(%x_1: tensor<4xf32>, %y_1: tensor<4xf32>):
//       %2 = gv.exp %x_1 : (tensor<4xf32>) -> tensor<4xf32>
//       %3 = gv.add %2, %y_1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//       %4 = gv.sub %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//       gv.yield %3, %4 : (tensor<4xf32>, tensor<4xf32>) -> ()
//     }) {kind = "map"} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
//     func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
//   }
// }

// -----
// What is read at another place would be computed again.
// count: gv.kernel 2
func.func @moved(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = gv.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.transpose %0 {order = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.add %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----
// A product between two maps needs the first result before the second is there.
// count: gv.kernel 4
func.func @between(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = gv.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = gv.cumsum %0 {axis = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = gv.cumsum %1 {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = gv.add %2, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----
// What moves neighbours apart stays by itself.
// count: gv.kernel 2
func.func @across_memory(%x: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = gv.transpose %x {order = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = gv.add %0, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %1 : tensor<64x64xf32>
}
