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
