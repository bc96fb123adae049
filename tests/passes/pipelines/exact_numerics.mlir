// test: constant-fold{exact},recognize{exact},simplify-arithmetic{exact}

// The last bits of a sine are those of the code that runs.
func.func @sine_of_a_number() -> tensor<f32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %1 = gv.sin %0 : (tensor<f32>) -> tensor<f32>
  func.return %1 : tensor<f32>
}

// ->
// func.func @sine_of_a_number() -> tensor<f32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %1 = gv.sin %0 : (tensor<f32>) -> tensor<f32>
//   func.return %1 : tensor<f32>
// }

// -----
func.func @root_of_a_number() -> tensor<f32> {
  %0 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %1 = gv.sqrt %0 : (tensor<f32>) -> tensor<f32>
  func.return %1 : tensor<f32>
}

// ->
// func.func @root_of_a_number() -> tensor<f32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
//   func.return %1 : tensor<f32>
// }

// -----
func.func @square_of_a_number() -> tensor<f32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.3]>} : () -> tensor<f32>
  %1 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %2 = gv.pow %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %2 : tensor<f32>
}

// ->
// func.func @square_of_a_number() -> tensor<f32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.30000001192092896]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %2 = gv.constant {value = #gv.array<f32, "", [0.09000000357627869]>} : () -> tensor<f32>
//   func.return %2 : tensor<f32>
// }

// -----
func.func @square(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @square(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.mul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
// A root of -inf is NaN, and one of -0 is -0; this power is inf, and 0.
func.func @root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @root(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
//   %1 = gv.equal %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
//   %2 = gv.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %5 = gv.constant {value = #gv.array<f32, "", ["inf"]>} : () -> tensor<f32>
//   %6 = gv.select %1, %5, %4 : (tensor<2x3xi1>, tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %6 : tensor<2x3xf32>
// }

// -----
func.func @divide_by_three(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @divide_by_three(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @two_factors(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.3]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.mul %1, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// ->
// func.func @two_factors(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.30000001192092896]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %2 = gv.mul %1, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
func.func @logistic(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %1 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = gv.add %2, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = gv.reciprocal %3 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}

// ->
// func.func @logistic(%x: tensor<4xf32>) -> tensor<4xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %1 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
//   %2 = gv.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
//   %3 = gv.add %2, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
//   %4 = gv.reciprocal %3 : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %4 : tensor<4xf32>
// }
