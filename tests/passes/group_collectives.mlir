// test: group-collectives{most=20}

// Two gradients go in one message; what uses the first comes behind both.
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0 = gv.all_reduce %a {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.exp %b : (tensor<3xf32>) -> tensor<3xf32>
  %3 = gv.all_reduce %2 {how = "sum"} : (tensor<3xf32>) -> tensor<3xf32>
  func.return %1, %3 : tensor<2xf32>, tensor<3xf32>
}

// ->
// func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
//   %0 = gv.exp %b : (tensor<3xf32>) -> tensor<3xf32>
//   %1, %2 = gv.all_reduce %a, %0 : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
//   %3 = gv.neg %1 : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %3, %2 : tensor<2xf32>, tensor<3xf32>
// }

// -----
// One that needs the other stays behind it, and another kind of reduction by itself.
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = gv.all_reduce %a {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.all_reduce %0 {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.all_reduce %a {how = "max"} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1, %2 : tensor<2xf32>, tensor<2xf32>
}

// ->
// func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
//   %0 = gv.all_reduce %a {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.all_reduce %0 {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
//   %2 = gv.all_reduce %a {how = "max"} : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %1, %2 : tensor<2xf32>, tensor<2xf32>
// }

// -----
// A bucket of 20 bytes has room for two of 8.
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

// -----
// What is there first goes first, whatever the order of the reductions.
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = gv.exp %a : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = gv.all_reduce %2 {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  %4 = gv.all_reduce %1 {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  %5 = gv.all_reduce %0 {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %3, %4, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// ->
// func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
//   %0 = gv.exp %a : (tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
//   %2 = gv.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
//   %3 = gv.all_reduce %2 {how = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
//   %4, %5 = gv.all_reduce %1, %0 : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
//   func.return %3, %4, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
// }
