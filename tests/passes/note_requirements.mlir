// test: note-requirements
// The last result says which requirement does not hold, and of what: no caller sees it.
func.func @main(%x: tensor<4xf32>, %at: tensor<i64>) -> (tensor<4xf32>) {
  %holds = gv.equal %at, %at : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %0 = gv.require %holds, %at, %at {message = "x is wrong", told = "x{at} is {value}", shape = [4]} : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i1>
  %1 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// ->
// builtin.module attributes {gv.requirements = "[{\22message\22: \22x is wrong\22, \22told\22: \22x{at} is {value}\22, \22shape\22: [4], \22node\22: \22\22, \22source\22: \22\22, \22argument\22: -1, \22within\22: [0, 0]}]"} {
//   func.func @main(%x: tensor<4xf32>, %at: tensor<i64>) -> (tensor<4xf32> {gv.name = "result0"}, tensor<3xi64> {gv.name = "fault"}) {
//     %0 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//     %1 = gv.broadcast_to %0 {shape = array<i64: 3>} : (tensor<i64>) -> tensor<3xi64>
//     %holds = gv.equal %at, %at : (tensor<i64>, tensor<i64>) -> tensor<i1>
//     %2 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//     %3 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
//     %4 = gv.reshape %3 {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//     %5 = gv.reshape %at {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//     %6 = gv.reshape %at {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//     %7 = gv.concat %4, %5, %6 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
//     %8 = gv.slice %1 {starts = array<i64: 0>, steps = array<i64: 1>, stops = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
//     %9 = gv.reshape %8 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//     %10 = gv.not_equal %9, %2 : (tensor<i64>, tensor<i64>) -> tensor<i1>
//     %11 = gv.logical_or %holds, %10 : (tensor<i1>, tensor<i1>) -> tensor<i1>
//     %12 = gv.select %11, %1, %7 : (tensor<i1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
//     %13 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
//     func.return %13, %12 : tensor<4xf32>, tensor<3xi64>
//   }
// }

// -----
// Nothing is required: nothing changes.
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// ->
// func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//   %0 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %0 : tensor<4xf32>
// }

// -----
// Of a choice only what is taken counts; a loop carries what was found.
func.func @main(%x: tensor<4xf32>, %c: tensor<i1>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<i64>) {
  %0 = gv.if %c, %x, %n ({
  ^bb0(%a: tensor<4xf32>, %m: tensor<i64>):
    %l = gv.less_equal %m, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r = gv.require %l {message = "n is not itself"} : (tensor<i1>) -> tensor<i1>
    gv.yield %a : (tensor<4xf32>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>, %m: tensor<i64>):
    %b = gv.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    gv.yield %b : (tensor<4xf32>) -> ()
  }) : (tensor<i1>, tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  func.return %0, %n : tensor<4xf32>, tensor<i64>
}

// ->
// builtin.module attributes {gv.requirements = "[{\22message\22: \22n is not itself\22, \22told\22: \22\22, \22shape\22: [], \22node\22: \22\22, \22source\22: \22\22, \22argument\22: -1, \22within\22: [0, 0]}]"} {
//   func.func @main(%x: tensor<4xf32>, %c: tensor<i1>, %n: tensor<i64>) -> (tensor<4xf32> {gv.name = "result0"}, tensor<i64> {gv.name = "result1"}, tensor<3xi64> {gv.name = "fault"}) {
//     %0 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//     %1 = gv.broadcast_to %0 {shape = array<i64: 3>} : (tensor<i64>) -> tensor<3xi64>
//     %2, %3 = gv.if %c, %x, %n, %1 ({
//     ^bb0(%a: tensor<4xf32>, %m: tensor<i64>, %4: tensor<3xi64>):
//       %l = gv.less_equal %m, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
//       %5 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//       %6 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
//       %7 = gv.reshape %6 {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//       %8 = gv.reshape %5 {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//       %9 = gv.reshape %5 {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//       %10 = gv.concat %7, %8, %9 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
//       %11 = gv.slice %4 {starts = array<i64: 0>, steps = array<i64: 1>, stops = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
//       %12 = gv.reshape %11 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//       %13 = gv.not_equal %12, %5 : (tensor<i64>, tensor<i64>) -> tensor<i1>
//       %14 = gv.logical_or %l, %13 : (tensor<i1>, tensor<i1>) -> tensor<i1>
//       %15 = gv.select %14, %4, %10 : (tensor<i1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
//       gv.yield %a, %15 : (tensor<4xf32>, tensor<3xi64>) -> ()
//     }, {
//     ^bb0(%a_1: tensor<4xf32>, %m_1: tensor<i64>, %16: tensor<3xi64>):
//       %b = gv.neg %a_1 : (tensor<4xf32>) -> tensor<4xf32>
//       gv.yield %b, %16 : (tensor<4xf32>, tensor<3xi64>) -> ()
//     }) : (tensor<i1>, tensor<4xf32>, tensor<i64>, tensor<3xi64>) -> (tensor<4xf32>, tensor<3xi64>)
//     func.return %2, %n, %3 : tensor<4xf32>, tensor<i64>, tensor<3xi64>
//   }
// }

// -----
// A loop carries what was found in a trip.
func.func @main(%n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32>) {
  %i, %y = gv.while %n, %x ({
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    %0 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
    %1 = gv.less %0, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
    gv.yield %1 : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    %0 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
    %1 = gv.sub %i, %0 : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %2 = gv.less_equal %0, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %3 = gv.require %2 {message = "a trip below 1"} : (tensor<i1>) -> tensor<i1>
    %4 = gv.neg %v : (tensor<4xf32>) -> tensor<4xf32>
    gv.yield %1, %4 : (tensor<i64>, tensor<4xf32>) -> ()
  }) {carried = 2 : i64} : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// ->
// builtin.module attributes {gv.requirements = "[{\22message\22: \22a trip below 1\22, \22told\22: \22\22, \22shape\22: [], \22node\22: \22\22, \22source\22: \22\22, \22argument\22: -1, \22within\22: [0, 0]}]"} {
//   func.func @main(%n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32> {gv.name = "result0"}, tensor<3xi64> {gv.name = "fault"}) {
//     %0 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//     %1 = gv.broadcast_to %0 {shape = array<i64: 3>} : (tensor<i64>) -> tensor<3xi64>
//     %i, %y, %2 = gv.while %n, %x, %1 ({
//     ^bb0(%i_1: tensor<i64>, %v: tensor<4xf32>, %3: tensor<3xi64>):
//       %4 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//       %5 = gv.less %4, %i_1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
//       gv.yield %5 : (tensor<i1>) -> ()
//     }, {
//     ^bb0(%i_2: tensor<i64>, %v_1: tensor<4xf32>, %6: tensor<3xi64>):
//       %7 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
//       %8 = gv.sub %i_2, %7 : (tensor<i64>, tensor<i64>) -> tensor<i64>
//       %9 = gv.less_equal %7, %i_2 : (tensor<i64>, tensor<i64>) -> tensor<i1>
//       %10 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//       %11 = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
//       %12 = gv.reshape %11 {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//       %13 = gv.reshape %10 {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//       %14 = gv.reshape %10 {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
//       %15 = gv.concat %12, %13, %14 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
//       %16 = gv.slice %6 {starts = array<i64: 0>, steps = array<i64: 1>, stops = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
//       %17 = gv.reshape %16 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//       %18 = gv.not_equal %17, %10 : (tensor<i64>, tensor<i64>) -> tensor<i1>
//       %19 = gv.logical_or %9, %18 : (tensor<i1>, tensor<i1>) -> tensor<i1>
//       %20 = gv.select %19, %6, %15 : (tensor<i1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
//       %21 = gv.neg %v_1 : (tensor<4xf32>) -> tensor<4xf32>
//       gv.yield %8, %21, %20 : (tensor<i64>, tensor<4xf32>, tensor<3xi64>) -> ()
//     }) {carried = 3 : i64} : (tensor<i64>, tensor<4xf32>, tensor<3xi64>) -> (tensor<i64>, tensor<4xf32>, tensor<3xi64>)
//     func.return %y, %2 : tensor<4xf32>, tensor<3xi64>
//   }
// }
