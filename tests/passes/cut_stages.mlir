// test: cut-stages{stages=2}
func.func @main(%x: tensor<9x9xf32>, %a: tensor<9x9xf32>, %b: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %h = gv.matmul %x, %a : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  %g = gv.relu %h : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %y = gv.matmul %g, %b : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  func.return %y : tensor<9x9xf32>
}

// ->
// func.func @main(%x: tensor<9x9xf32>, %a: tensor<9x9xf32>, %b: tensor<9x9xf32>) -> tensor<9x9xf32> {
//   %h = func.call @stage0(%x, %a) : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
//   %y = func.call @stage1(%h, %b) : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
//   func.return %y : tensor<9x9xf32>
// }
// func.func private @stage0(%x: tensor<9x9xf32> {gv.name = "x"}, %a: tensor<9x9xf32> {gv.name = "a"}) -> (tensor<9x9xf32> {gv.name = "h"}) {
//   %h = gv.matmul %x, %a : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
//   func.return %h : tensor<9x9xf32>
// }
// func.func private @stage1(%h: tensor<9x9xf32> {gv.name = "h"}, %b: tensor<9x9xf32> {gv.name = "b"}) -> (tensor<9x9xf32> {gv.name = "y"}) {
//   %g = gv.relu %h : (tensor<9x9xf32>) -> tensor<9x9xf32>
//   %y = gv.matmul %g, %b : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
//   func.return %y : tensor<9x9xf32>
// }

// -----
// A constant is copied into each stage; where it is cut, little goes over.
func.func @main(%x: tensor<9x9xf32>) -> tensor<9x1xf32> {
  %c = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %h = gv.matmul %x, %x : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  %m = gv.max %h {axes = array<i64: 1>, keepdims = true} : (tensor<9x9xf32>) -> tensor<9x1xf32>
  %n = gv.mul %m, %c : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x1xf32>
  %k = gv.exp %n : (tensor<9x1xf32>) -> tensor<9x1xf32>
  %i = gv.matmul %x, %k : (tensor<9x9xf32>, tensor<9x1xf32>) -> tensor<9x1xf32>
  %j = gv.mul %i, %c : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x1xf32>
  func.return %j : tensor<9x1xf32>
}

// ->
// func.func @main(%x: tensor<9x9xf32>) -> tensor<9x1xf32> {
//   %h = func.call @stage0(%x) : (tensor<9x9xf32>) -> tensor<9x9xf32>
//   %j = func.call @stage1(%h, %x) : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x1xf32>
//   func.return %j : tensor<9x1xf32>
// }
// func.func private @stage0(%x: tensor<9x9xf32> {gv.name = "x"}) -> (tensor<9x9xf32> {gv.name = "h"}) {
//   %h = gv.matmul %x, %x : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
//   func.return %h : tensor<9x9xf32>
// }
// func.func private @stage1(%h: tensor<9x9xf32> {gv.name = "h"}, %x: tensor<9x9xf32> {gv.name = "x"}) -> (tensor<9x1xf32> {gv.name = "j"}) {
//   %c = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %m = gv.max %h {axes = array<i64: 1>, keepdims = true} : (tensor<9x9xf32>) -> tensor<9x1xf32>
//   %n = gv.mul %m, %c : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x1xf32>
//   %k = gv.exp %n : (tensor<9x1xf32>) -> tensor<9x1xf32>
//   %i = gv.matmul %x, %k : (tensor<9x9xf32>, tensor<9x1xf32>) -> tensor<9x1xf32>
//   %j = gv.mul %i, %c : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x1xf32>
//   func.return %j : tensor<9x1xf32>
// }
