// test: merge-soft,dce
// plugin: gravure_shrink
func.func @two(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = shrink.soft %x {threshold = 5.000000e-01 : f64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = shrink.soft %0 {threshold = 2.500000e-01 : f64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %1 : tensor<3x5xf32>
}

// ->
// func.func @two(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
//   %0 = shrink.soft %x {threshold = 7.500000e-01 : f64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
//   func.return %0 : tensor<3x5xf32>
// }

// -----
// plugin: gravure_shrink
// What else reads the first keeps it.
func.func @shared(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %0 = shrink.soft %x {threshold = 5.000000e-01 : f64} : (tensor<5xf32>) -> tensor<5xf32>
  %1 = shrink.soft %0 {threshold = 2.500000e-01 : f64} : (tensor<5xf32>) -> tensor<5xf32>
  func.return %0, %1 : tensor<5xf32>, tensor<5xf32>
}

// ->
// func.func @shared(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
//   %0 = shrink.soft %x {threshold = 5.000000e-01 : f64} : (tensor<5xf32>) -> tensor<5xf32>
//   %1 = shrink.soft %x {threshold = 7.500000e-01 : f64} : (tensor<5xf32>) -> tensor<5xf32>
//   func.return %0, %1 : tensor<5xf32>, tensor<5xf32>
// }

// -----
// plugin: gravure_shrink
// Something between them is not looked through.
func.func @apart(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = shrink.soft %x {threshold = 5.000000e-01 : f64} : (tensor<5xf32>) -> tensor<5xf32>
  %1 = gv.exp %0 : (tensor<5xf32>) -> tensor<5xf32>
  %2 = shrink.soft %1 {threshold = 2.500000e-01 : f64} : (tensor<5xf32>) -> tensor<5xf32>
  func.return %2 : tensor<5xf32>
}

// ->
// func.func @apart(%x: tensor<5xf32>) -> tensor<5xf32> {
//   %0 = shrink.soft %x {threshold = 5.000000e-01 : f64} : (tensor<5xf32>) -> tensor<5xf32>
//   %1 = gv.exp %0 : (tensor<5xf32>) -> tensor<5xf32>
//   %2 = shrink.soft %1 {threshold = 2.500000e-01 : f64} : (tensor<5xf32>) -> tensor<5xf32>
//   func.return %2 : tensor<5xf32>
// }
