// test: simplify-control

// The weight is made inside; what a loop gives back as it came stands for itself.
func.func @loop(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>, %n: tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 2>, weight = @w} : () -> tensor<2x2xf32>
  %r, %s, %t = gv.while %n, %x, %y, %w ({
  ^bb0(%i: tensor<i32>, %a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %d: tensor<2x2xf32>):
    %0 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
    %1 = gv.greater %i, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    gv.yield %1 : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %d: tensor<2x2xf32>):
    %0 = gv.constant {value = #gv.array<i32, "", [1]>} : () -> tensor<i32>
    %1 = gv.sub %i, %0 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = gv.matmul %a, %d : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    gv.yield %1, %2, %b : (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  }) {carried = 3 : i64} : (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>)
  func.return %s, %t : tensor<2x2xf32>, tensor<2x2xf32>
}

// ->
// func.func @loop(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>, %n: tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
//   %w = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 2>, weight = @w} : () -> tensor<2x2xf32>
//   %r, %s = gv.while %n, %x ({
//   ^bb0(%i: tensor<i32>, %a: tensor<2x2xf32>):
//     %0 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
//     %1 = gv.greater %i, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
//     gv.yield %1 : (tensor<i1>) -> ()
//   }, {
//   ^bb0(%i_1: tensor<i32>, %a_1: tensor<2x2xf32>):
//     %w_1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 2>, weight = @w} : () -> tensor<2x2xf32>
//     %2 = gv.constant {value = #gv.array<i32, "", [1]>} : () -> tensor<i32>
//     %3 = gv.sub %i_1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i32>
//     %4 = gv.matmul %a_1, %w_1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//     gv.yield %3, %4 : (tensor<i32>, tensor<2x2xf32>) -> ()
//   }) {carried = 2 : i64} : (tensor<i32>, tensor<2x2xf32>) -> (tensor<i32>, tensor<2x2xf32>)
//   func.return %s, %y : tensor<2x2xf32>, tensor<2x2xf32>
// }

// -----
// A sum that nobody needs is not carried; a flag that stays true is a constant.
func.func @unused(%x: tensor<2xf32>, %n: tensor<i32>) -> tensor<2xf32> {
  %0 = gv.constant {value = #gv.array<bool, "", [true]>} : () -> tensor<i1>
  %r:4 = gv.while %n, %x, %x, %0 ({
  ^bb0(%i: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>, %f: tensor<i1>):
    %1 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
    %2 = gv.greater %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = gv.logical_and %2, %f : (tensor<i1>, tensor<i1>) -> tensor<i1>
    gv.yield %3 : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>, %f: tensor<i1>):
    %1 = gv.constant {value = #gv.array<i32, "", [1]>} : () -> tensor<i32>
    %2 = gv.sub %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = gv.exp %a : (tensor<2xf32>) -> tensor<2xf32>
    %4 = gv.add %b, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %5 = gv.constant {value = #gv.array<bool, "", [true]>} : () -> tensor<i1>
    gv.yield %2, %3, %4, %5 : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<i1>) -> ()
  }) {carried = 4 : i64} : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<i1>) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<i1>)
  func.return %r#1 : tensor<2xf32>
}

// ->
// func.func @unused(%x: tensor<2xf32>, %n: tensor<i32>) -> tensor<2xf32> {
//   %r = gv.constant {value = #gv.array<bool, "", [true]>} : () -> tensor<i1>
//   %r_1, %r_2 = gv.while %n, %x ({
//   ^bb0(%i: tensor<i32>, %a: tensor<2xf32>):
//     %r_3 = gv.constant {value = #gv.array<bool, "", [true]>} : () -> tensor<i1>
//     %0 = gv.constant {value = #gv.array<i32, "", [0]>} : () -> tensor<i32>
//     %1 = gv.greater %i, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
//     %2 = gv.logical_and %1, %r_3 : (tensor<i1>, tensor<i1>) -> tensor<i1>
//     gv.yield %2 : (tensor<i1>) -> ()
//   }, {
//   ^bb0(%i_1: tensor<i32>, %a_1: tensor<2xf32>):
//     %3 = gv.constant {value = #gv.array<i32, "", [1]>} : () -> tensor<i32>
//     %4 = gv.sub %i_1, %3 : (tensor<i32>, tensor<i32>) -> tensor<i32>
//     %5 = gv.exp %a_1 : (tensor<2xf32>) -> tensor<2xf32>
//     gv.yield %4, %5 : (tensor<i32>, tensor<2xf32>) -> ()
//   }) {carried = 2 : i64} : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
//   func.return %r_2 : tensor<2xf32>
// }

// -----
// What both branches give as it came is no result; the same value is given once.
func.func @choice(%p: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y:2 = gv.if %p, %x, %x ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %0 = gv.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    gv.yield %0, %b : (tensor<2xf32>, tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    gv.yield %a, %b : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return %y#0, %y#1 : tensor<2xf32>, tensor<2xf32>
}

// ->
// func.func @choice(%p: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
//   %y = gv.if %p, %x ({
//   ^bb0(%a: tensor<2xf32>):
//     %0 = gv.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//     gv.yield %0 : (tensor<2xf32>) -> ()
//   }, {
//   ^bb0(%a_1: tensor<2xf32>):
//     gv.yield %a_1 : (tensor<2xf32>) -> ()
//   }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %y, %x : tensor<2xf32>, tensor<2xf32>
// }

// -----
// A condition that is known takes its branch.
func.func @known(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.constant {value = #gv.array<bool, "", [false]>} : () -> tensor<i1>
  %y = gv.if %0, %x ({
  ^bb0(%a: tensor<2xf32>):
    gv.yield %a : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    %1 = gv.exp %a : (tensor<2xf32>) -> tensor<2xf32>
    gv.yield %1 : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// ->
// func.func @known(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.constant {value = #gv.array<bool, "", [false]>} : () -> tensor<i1>
//   %y = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %y : tensor<2xf32>
// }
