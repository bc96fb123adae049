// test: group-collectives{most=16}

// A bucket of 16 bytes has room for two of 8.
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = gv.all_reduce %a {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.all_reduce %b {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.all_reduce %c {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// ->
// func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
//   %0, %1 = gv.all_reduce %a, %b : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
//   %2 = gv.all_reduce %c {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
// }
