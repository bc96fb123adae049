// test: cse

func.func @equal(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.sub %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}

// ->
// func.func @equal(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.sub %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %1 : tensor<2xf32>
// }

// -----
// Merging operands makes their users equal, in the same sweep.
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = gv.neg %1 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = gv.sub %2, %3 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %4 : tensor<2xf32>
}

// ->
// func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
//   %2 = gv.sub %1, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %2 : tensor<2xf32>
// }

// -----
func.func @commutative(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.add %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.sub %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}

// ->
// func.func @commutative(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.sub %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %1 : tensor<2xf32>
// }

// -----
// x - y is not y - x.
func.func @not_commutative(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.sub %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.sub %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.mul %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}

// ->
// func.func @not_commutative(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.sub %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.sub %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   %2 = gv.mul %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %2 : tensor<2xf32>
// }

// -----
func.func @weights(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @w} : () -> tensor<2xf32>
  %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @w} : () -> tensor<2xf32>
  %2 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @v} : () -> tensor<2xf32>
  %3 = gv.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = gv.sub %3, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %4 : tensor<2xf32>
}

// ->
// func.func @weights(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @w} : () -> tensor<2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @v} : () -> tensor<2xf32>
//   %2 = gv.add %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   %3 = gv.sub %2, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %3 : tensor<2xf32>
// }

// -----
// Equal bits, but another element type, or the sign of a zero.
func.func @constants() -> (tensor<f32>, tensor<i32>, tensor<f32>) {
  %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %1 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
  %2 = gv.constant {value = #gv.array<f32, "", [-0.0]>} : () -> tensor<f32>
  func.return %0, %1, %2 : tensor<f32>, tensor<i32>, tensor<f32>
}

// ->
// func.func @constants() -> (tensor<f32>, tensor<i32>, tensor<f32>) {
//   %0 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
//   %2 = gv.constant {value = #gv.array<f32, "", [-0.0]>} : () -> tensor<f32>
//   func.return %0, %1, %2 : tensor<f32>, tensor<i32>, tensor<f32>
// }

// -----
// A region of a choice sees nothing but its arguments.
func.func @isolated(%p: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
  %2 = gv.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = gv.if %p, %x ({
  ^bb0(%a: tensor<2xf32>):
    %4 = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
    gv.yield %4 : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    %5 = gv.exp %a : (tensor<2xf32>) -> tensor<2xf32>
    %6 = gv.exp %a : (tensor<2xf32>) -> tensor<2xf32>
    %7 = gv.add %5, %6 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    gv.yield %7 : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %2, %3 : tensor<2xf32>, tensor<2xf32>
}

// ->
// func.func @isolated(%p: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
//   %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
//   %2 = gv.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   %3 = gv.if %p, %x ({
//   ^bb0(%a: tensor<2xf32>):
//     %4 = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
//     gv.yield %4 : (tensor<2xf32>) -> ()
//   }, {
//   ^bb0(%a_1: tensor<2xf32>):
//     %5 = gv.exp %a_1 : (tensor<2xf32>) -> tensor<2xf32>
//     %6 = gv.add %5, %5 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//     gv.yield %6 : (tensor<2xf32>) -> ()
//   }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %2, %3 : tensor<2xf32>, tensor<2xf32>
// }
