// test: inline-functions

// Each call has its copy; a private function that is not called any more goes, a public one stays.
func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func @both(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = func.call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0, %x : tensor<2xf32>, tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0, %1 = func.call @both(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = func.call @twice(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = gv.sub %2, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %3 : tensor<2xf32>
}

// ->
// func.func @both(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
//   %0 = gv.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %0, %x : tensor<2xf32>, tensor<2xf32>
// }
// func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %x_1 = gv.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   %0 = gv.add %x_1, %x_1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.sub %0, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %1 : tensor<2xf32>
// }

// -----
// In a branch, too.
func.func private @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.if %p, %x ({
  ^bb0(%a: tensor<2xf32>):
    %b = func.call @same(%a) : (tensor<2xf32>) -> tensor<2xf32>
    gv.yield %b : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    gv.yield %a : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// ->
// func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.if %p, %x ({
//   ^bb0(%a: tensor<2xf32>):
//     gv.yield %a : (tensor<2xf32>) -> ()
//   }, {
//   ^bb0(%a_1: tensor<2xf32>):
//     gv.yield %a_1 : (tensor<2xf32>) -> ()
//   }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %0 : tensor<2xf32>
// }

// -----
// What calls itself by another never ends.
func.func private @one(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @other(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @one(%x) : (tensor<2xf32>) -> tensor<2xf32> // error: function 'one' calls itself
  func.return %0 : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @one(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
