// test: narrow-weights

// A weight is rounded, and becomes again what it was.
// differs: weights are rounded
func.func @main(%x: tensor<1x64xf32>) -> tensor<1x32xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 64, 32>, weight = @w} : () -> tensor<64x32xf32>
  %1 = gv.matmul %x, %0 : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  func.return %1 : tensor<1x32xf32>
}

// ->
// func.func @main(%x: tensor<1x64xf32>) -> tensor<1x32xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 64, 32>, weight = @w} : () -> tensor<64x32xf32>
//   %1 = gv.cast %0 {dtype = #gv.dtype<bf16>} : (tensor<64x32xf32>) -> tensor<64x32xbf16>
//   %2 = gv.cast %1 {dtype = #gv.dtype<f32>} : (tensor<64x32xbf16>) -> tensor<64x32xf32>
//   %3 = gv.matmul %x, %2 : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
//   func.return %3 : tensor<1x32xf32>
// }

// -----
// Small weights stay, and what depends on inputs.
// count: gv.cast 0
func.func @small(%x: tensor<1x4xf32>, %y: tensor<64x64xf32>) -> (tensor<1x4xf32>, tensor<64x64xf32>) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 4>, weight = @w} : () -> tensor<4x4xf32>
  %1 = gv.matmul %x, %0 : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %2 = gv.matmul %y, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %1, %2 : tensor<1x4xf32>, tensor<64x64xf32>
}

// -----
// A left operand of several rows is rounded where pairs of bf16 are added up faster than f32.
// differs: operands are rounded
// count: gv.cast 4
module attributes {gv.target = "znver4"} {
  func.func @pairs(%x: tensor<8x64xf32>) -> tensor<8x32xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 64, 32>, weight = @w} : () -> tensor<64x32xf32>
    %1 = gv.matmul %x, %0 : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    func.return %1 : tensor<8x32xf32>
  }
}

// -----
// Elsewhere it stays as it is.
// differs: weights are rounded
// count: gv.cast 2
module attributes {gv.target = "sapphirerapids"} {
  func.func @singly(%x: tensor<8x64xf32>) -> tensor<8x32xf32> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 64, 32>, weight = @w} : () -> tensor<64x32xf32>
    %1 = gv.matmul %x, %0 : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    func.return %1 : tensor<8x32xf32>
  }
}
