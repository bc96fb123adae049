// test: round-between

// What is computed is rounded for what computes with it; a result is rounded where it is stored.
func.func @chain(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %0 = gv.mul %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %1 = gv.add %0, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  func.return %1 : tensor<4xf16>
}

// ->
// func.func @chain(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
//   %0 = gv.mul %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
//   %1 = gv.rounded %0 : (tensor<4xf16>) -> tensor<4xf16>
//   %2 = gv.add %1, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
//   func.return %2 : tensor<4xf16>
// }

// -----
// A cast rounds by itself; what is computed in f32 stays.
func.func @cast(%x: tensor<4xf32>, %y: tensor<4xbf16>) -> tensor<4xf32> {
  %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = gv.cast %0 {dtype = #gv.dtype<bf16>} : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = gv.mul %1, %y : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %3 = gv.cast %2 {dtype = #gv.dtype<f32>} : (tensor<4xbf16>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

// ->
// func.func @cast(%x: tensor<4xf32>, %y: tensor<4xbf16>) -> tensor<4xf32> {
//   %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
//   %1 = gv.cast %0 {dtype = #gv.dtype<bf16>} : (tensor<4xf32>) -> tensor<4xbf16>
//   %2 = gv.mul %1, %y : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
//   %3 = gv.rounded %2 : (tensor<4xbf16>) -> tensor<4xbf16>
//   %4 = gv.cast %3 {dtype = #gv.dtype<f32>} : (tensor<4xbf16>) -> tensor<4xf32>
//   func.return %4 : tensor<4xf32>
// }

// -----
// A product is rounded for what is computed of its elements, and is as it is for another product.
func.func @product(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %0 = gv.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %1 = gv.matmul %0, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %2 = gv.add %0, %1 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  func.return %2 : tensor<4x4xf16>
}

// ->
// func.func @product(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
//   %0 = gv.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
//   %1 = gv.rounded %0 : (tensor<4x4xf16>) -> tensor<4x4xf16>
//   %2 = gv.matmul %0, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
//   %3 = gv.rounded %2 : (tensor<4x4xf16>) -> tensor<4x4xf16>
//   %4 = gv.add %1, %3 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
//   func.return %4 : tensor<4x4xf16>
// }
