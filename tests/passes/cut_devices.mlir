// test: cut-devices

// The processor's part lies between two of a GPU; a constant is copied.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %0 = gv.exp %x attributes {gv.device = "gpu:0"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.add %0, %c attributes {gv.device = "gpu:0"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.tanh %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.mul %2, %0 attributes {gv.device = "gpu:0"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0, %1 = func.call @gpu0_0(%x) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
//   %2 = gv.tanh %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = func.call @gpu0_1(%2, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %3 : tensor<2x3xf32>
// }
// func.func private @gpu0_0(%x: tensor<2x3xf32> {gv.name = "x"}) -> (tensor<2x3xf32> {gv.name = "y"}, tensor<2x3xf32> {gv.name = "y_2"}) attributes {gv.device = "gpu:0"} {
//   %c = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %0 = gv.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %1 = gv.add %0, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
// }
// func.func private @gpu0_1(%x0: tensor<2x3xf32> {gv.name = "x0"}, %x1: tensor<2x3xf32> {gv.name = "x1"}) -> (tensor<2x3xf32> {gv.name = "y"}) attributes {gv.device = "gpu:0"} {
//   %0 = gv.mul %x0, %x1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
// Two devices that need nothing of each other are parts side by side.
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = gv.exp %x attributes {gv.device = "gpu:0"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = gv.neg %x attributes {gv.device = "gpu:1"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.tanh %0 attributes {gv.device = "gpu:0"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = gv.sin %x attributes {gv.device = "cpu:0"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// ->
// func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
//   %0 = gv.sin %x : (tensor<4xf32>) -> tensor<4xf32>
//   %1 = func.call @gpu0_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
//   %2 = func.call @gpu1_1(%x) : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %2, %1, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// }
// func.func private @gpu0_0(%x: tensor<4xf32> {gv.name = "x"}) -> (tensor<4xf32> {gv.name = "y"}) attributes {gv.device = "gpu:0"} {
//   %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
//   %1 = gv.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %1 : tensor<4xf32>
// }
// func.func private @gpu1_1(%x: tensor<4xf32> {gv.name = "x"}) -> (tensor<4xf32> {gv.name = "y"}) attributes {gv.device = "gpu:1"} {
//   %0 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %0 : tensor<4xf32>
// }

// -----
// Without devices nothing changes.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// ->
// func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//   %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %0 : tensor<4xf32>
// }
