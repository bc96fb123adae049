// test: tell-sizes
// differs: one more result tells the size
// What is selected is cut off where the run knows how much it is; the result has the most rows.
func.func @main(%x: tensor<3xf32>) -> (tensor<1x?xi64, #gv.dims<"1, u">>) {
  %0 = gv.non_zero %x {sizes = #gv.dims<"u">} : (tensor<3xf32>) -> tensor<1x?xi64, #gv.dims<"1, u">>
  func.return %0 : tensor<1x?xi64, #gv.dims<"1, u">>
}

// ->
// builtin.module attributes {gv.ranges = {u = array<i64: 0, 3>}} {
//   func.func @main(%x: tensor<3xf32>) -> (tensor<1x3xi64> {gv.name = "result0"}, tensor<i64> {gv.name = "u_count"}) {
//     %0 = gv.cast %x {dtype = #gv.dtype<bool>} : (tensor<3xf32>) -> tensor<3xi1>
//     %1 = gv.reshape %0 {shape = array<i64: 3>} : (tensor<3xi1>) -> tensor<3xi1>
//     %2 = gv.cast %1 {dtype = #gv.dtype<i64>} : (tensor<3xi1>) -> tensor<3xi64>
//     %3 = gv.cumsum %2 {axis = 0 : i64, exclusive = true} : (tensor<3xi64>) -> tensor<3xi64>
//     %4 = gv.constant {value = #gv.array<i64, "", [3]>} : () -> tensor<i64>
//     %5 = gv.select %1, %3, %4 : (tensor<3xi1>, tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
//     %6 = gv.iota {axis = 0 : i64, dtype = #gv.dtype<i64>, shape = array<i64: 3>} : () -> tensor<3xi64>
//     %7 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//     %8 = gv.broadcast_to %7 {shape = array<i64: 4>} : (tensor<i64>) -> tensor<4xi64>
//     %9 = gv.scatter_elements %8, %5, %6 {axis = 0 : i64} : (tensor<4xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<4xi64>
//     %10 = gv.sum %2 {axes = array<i64: 0>} : (tensor<3xi64>) -> tensor<i64>
//     %11 = gv.told %9, %10 {sizes = #gv.dims<"u">} : (tensor<4xi64>, tensor<i64>) -> tensor<?xi64, #gv.dims<"u">>
//     %12 = gv.constant {value = #gv.array<i64, "", [3]>} : () -> tensor<i64>
//     %13 = gv.mod %11, %12 : (tensor<?xi64, #gv.dims<"u">>, tensor<i64>) -> tensor<?xi64, #gv.dims<"u">>
//     %14 = gv.floor_divide %11, %12 : (tensor<?xi64, #gv.dims<"u">>, tensor<i64>) -> tensor<?xi64, #gv.dims<"u">>
//     %15 = gv.reshape %13 {shape = #gv.dims<"1, u">} : (tensor<?xi64, #gv.dims<"u">>) -> tensor<1x?xi64, #gv.dims<"1, u">>
//     %16 = gv.concat %15 {axis = 0 : i64} : (tensor<1x?xi64, #gv.dims<"1, u">>) -> tensor<1x?xi64, #gv.dims<"1, u">>
//     %17 = gv.extent {values = #gv.dims<"u">} : () -> tensor<1xi64>
//     %18 = gv.reshape %17 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//     %19 = gv.pad %16 {pads = [array<i64: 0, 0>, #gv.dims<"0, -u + 3">]} : (tensor<1x?xi64, #gv.dims<"1, u">>) -> tensor<1x3xi64>
//     func.return %19, %18 : tensor<1x3xi64>, tensor<i64>
//   }
// }

// -----
// differs: one more result tells the size
// A number that is computed says how many slices are taken.
func.func @main(%x: tensor<4x2xf32>, %k: tensor<i32>) -> (tensor<?x2xf32, #gv.dims<"u, 2">>) {
  %0 = gv.leading %x, %k {sizes = #gv.dims<"u">} : (tensor<4x2xf32>, tensor<i32>) -> tensor<?x2xf32, #gv.dims<"u, 2">>
  %1 = gv.neg %0 : (tensor<?x2xf32, #gv.dims<"u, 2">>) -> tensor<?x2xf32, #gv.dims<"u, 2">>
  func.return %1 : tensor<?x2xf32, #gv.dims<"u, 2">>
}

// ->
// builtin.module attributes {gv.ranges = {u = array<i64: 0, 4>}} {
//   func.func @main(%x: tensor<4x2xf32>, %k: tensor<i32>) -> (tensor<4x2xf32> {gv.name = "result0"}, tensor<i64> {gv.name = "u_count"}) {
//     %0 = gv.cast %k {dtype = #gv.dtype<i64>} : (tensor<i32>) -> tensor<i64>
//     %1 = gv.told %x, %0 {sizes = #gv.dims<"u">} : (tensor<4x2xf32>, tensor<i64>) -> tensor<?x2xf32, #gv.dims<"u, 2">>
//     %2 = gv.neg %1 : (tensor<?x2xf32, #gv.dims<"u, 2">>) -> tensor<?x2xf32, #gv.dims<"u, 2">>
//     %3 = gv.extent {values = #gv.dims<"u">} : () -> tensor<1xi64>
//     %4 = gv.reshape %3 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//     %5 = gv.pad %2 {pads = [#gv.dims<"0, -u + 4">, array<i64: 0, 0>]} : (tensor<?x2xf32, #gv.dims<"u, 2">>) -> tensor<4x2xf32>
//     func.return %5, %4 : tensor<4x2xf32>, tensor<i64>
//   }
// }

// -----
// With another host step there is no library: nothing is done.
func.func @main(%x: tensor<3xf32>) -> (tensor<?xf32, #gv.dims<"v">>, tensor<1x?xi64, #gv.dims<"1, u">>) {
  %0 = gv.non_zero %x {sizes = #gv.dims<"u">} : (tensor<3xf32>) -> tensor<1x?xi64, #gv.dims<"1, u">>
  %1, %2, %3, %4 = gv.unique %x {sizes = #gv.dims<"v">} : (tensor<3xf32>) -> (tensor<?xf32, #gv.dims<"v">>, tensor<?xi64, #gv.dims<"v">>, tensor<3xi64>, tensor<?xi64, #gv.dims<"v">>)
  func.return %1, %0 : tensor<?xf32, #gv.dims<"v">>, tensor<1x?xi64, #gv.dims<"1, u">>
}

// ->
// func.func @main(%x: tensor<3xf32>) -> (tensor<?xf32, #gv.dims<"v">>, tensor<1x?xi64, #gv.dims<"1, u">>) {
//   %0 = gv.non_zero %x {sizes = #gv.dims<"u">} : (tensor<3xf32>) -> tensor<1x?xi64, #gv.dims<"1, u">>
//   %1, %2, %3, %4 = gv.unique %x {sizes = #gv.dims<"v">} : (tensor<3xf32>) -> (tensor<?xf32, #gv.dims<"v">>, tensor<?xi64, #gv.dims<"v">>, tensor<3xi64>, tensor<?xi64, #gv.dims<"v">>)
//   func.return %1, %0 : tensor<?xf32, #gv.dims<"v">>, tensor<1x?xi64, #gv.dims<"1, u">>
// }

// -----
// differs: one more result tells the size
// A choice gives the most of either branch, and how much of it counts.
func.func @main(%c: tensor<i1>, %x: tensor<4x2xf32>, %k: tensor<i64>) -> (tensor<2x?xf32, #gv.dims<"2, v">>) {
  %0 = gv.host_if %c, %x, %k ({
  ^bb0(%1: tensor<4x2xf32>, %2: tensor<i64>):
    %3 = gv.leading %1, %2 {sizes = #gv.dims<"u">} : (tensor<4x2xf32>, tensor<i64>) -> tensor<?x2xf32, #gv.dims<"u, 2">>
    %4 = gv.transpose %3 {order = array<i64: 1, 0>} : (tensor<?x2xf32, #gv.dims<"u, 2">>) -> tensor<2x?xf32, #gv.dims<"2, u">>
    gv.yield %4 : (tensor<2x?xf32, #gv.dims<"2, u">>) -> ()
  }, {
  ^bb1(%5: tensor<4x2xf32>, %6: tensor<i64>):
    %7 = gv.transpose %5 {order = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
    gv.yield %7 : (tensor<2x4xf32>) -> ()
  }) : (tensor<i1>, tensor<4x2xf32>, tensor<i64>) -> tensor<2x?xf32, #gv.dims<"2, v">>
  func.return %0 : tensor<2x?xf32, #gv.dims<"2, v">>
}

// ->
// builtin.module attributes {gv.ranges = {u = array<i64: 0, 4>, v = array<i64: 0, 4>}} {
//   func.func @main(%c: tensor<i1>, %x: tensor<4x2xf32>, %k: tensor<i64>) -> (tensor<2x4xf32> {gv.name = "result0"}, tensor<i64> {gv.name = "v_count"}) {
//     %0, %1 = gv.if %c, %x, %k ({
//     ^bb0(%2: tensor<4x2xf32>, %3: tensor<i64>):
//       %4 = gv.told %2, %3 {sizes = #gv.dims<"u">} : (tensor<4x2xf32>, tensor<i64>) -> tensor<?x2xf32, #gv.dims<"u, 2">>
//       %5 = gv.transpose %4 {order = array<i64: 1, 0>} : (tensor<?x2xf32, #gv.dims<"u, 2">>) -> tensor<2x?xf32, #gv.dims<"2, u">>
//       %6 = gv.extent {values = #gv.dims<"u">} : () -> tensor<1xi64>
//       %7 = gv.reshape %6 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//       %8 = gv.pad %5 {pads = [array<i64: 0, 0>, #gv.dims<"0, -u + 4">]} : (tensor<2x?xf32, #gv.dims<"2, u">>) -> tensor<2x4xf32>
//       gv.yield %8, %7 : (tensor<2x4xf32>, tensor<i64>) -> ()
//     }, {
//     ^bb0(%9: tensor<4x2xf32>, %10: tensor<i64>):
//       %11 = gv.transpose %9 {order = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
//       %12 = gv.constant {value = #gv.array<i64, "", [4]>} : () -> tensor<i64>
//       gv.yield %11, %12 : (tensor<2x4xf32>, tensor<i64>) -> ()
//     }) : (tensor<i1>, tensor<4x2xf32>, tensor<i64>) -> (tensor<2x4xf32>, tensor<i64>)
//     %13 = gv.transpose %0 {order = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
//     %14 = gv.told %13, %1 {sizes = #gv.dims<"v">} : (tensor<4x2xf32>, tensor<i64>) -> tensor<?x2xf32, #gv.dims<"v, 2">>
//     %15 = gv.transpose %14 {order = array<i64: 1, 0>} : (tensor<?x2xf32, #gv.dims<"v, 2">>) -> tensor<2x?xf32, #gv.dims<"2, v">>
//     %16 = gv.extent {values = #gv.dims<"v">} : () -> tensor<1xi64>
//     %17 = gv.reshape %16 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//     %18 = gv.pad %15 {pads = [array<i64: 0, 0>, #gv.dims<"0, -v + 4">]} : (tensor<2x?xf32, #gv.dims<"2, v">>) -> tensor<2x4xf32>
//     func.return %18, %17 : tensor<2x4xf32>, tensor<i64>
//   }
// }

// -----
// differs: one more result tells the size
// What is read as a size is told, and may not be above its most.
func.func @main(%x: tensor<6xf32>, %k: tensor<1xi64>) -> (tensor<?xf32, #gv.dims<"k">>) {
  gv.read_sizes %k {sizes = #gv.dims<"k">, most = array<i64: 6>} : (tensor<1xi64>) -> ()
  %0, %1 = gv.top_k %x {axis = 0 : i64, k = #gv.dim<"k">} : (tensor<6xf32>) -> (tensor<?xf32, #gv.dims<"k">>, tensor<?xi64, #gv.dims<"k">>)
  func.return %0 : tensor<?xf32, #gv.dims<"k">>
}

// ->
// builtin.module attributes {gv.ranges = {k = array<i64: 0, 7>}} {
//   func.func @main(%x: tensor<6xf32>, %k: tensor<1xi64>) -> (tensor<7xf32> {gv.name = "result0"}, tensor<i64> {gv.name = "k_count"}) {
//     %0 = gv.slice %k {starts = array<i64: 0>, steps = array<i64: 1>, stops = array<i64: 1>} : (tensor<1xi64>) -> tensor<1xi64>
//     %1 = gv.reshape %0 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//     %2 = gv.constant {value = #gv.array<i64, "", [7]>} : () -> tensor<i64>
//     %3 = gv.constant {value = #gv.array<i64, "", [0]>} : () -> tensor<i64>
//     %4 = gv.less %1, %3 : (tensor<i64>, tensor<i64>) -> tensor<i1>
//     %5 = gv.select %4, %2, %1 : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
//     %6 = gv.constant {value = #gv.array<i8, "", [0]>} : () -> tensor<i8>
//     %7 = gv.broadcast_to %6 {shape = array<i64: 7>} : (tensor<i8>) -> tensor<7xi8>
//     %8 = gv.told %7, %5 {most = 6 : i64, sizes = #gv.dims<"k">} : (tensor<7xi8>, tensor<i64>) -> tensor<?xi8, #gv.dims<"k">>
//     %9, %10 = gv.top_k %x {axis = 0 : i64, k = #gv.dim<"k">} : (tensor<6xf32>) -> (tensor<?xf32, #gv.dims<"k">>, tensor<?xi64, #gv.dims<"k">>)
//     %11 = gv.extent {values = #gv.dims<"k">} : () -> tensor<1xi64>
//     %12 = gv.reshape %11 {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//     %13 = gv.pad %9 {pads = [#gv.dims<"0, -k + 7">]} : (tensor<?xf32, #gv.dims<"k">>) -> tensor<7xf32>
//     func.return %13, %12 : tensor<7xf32>, tensor<i64>
//   }
// }
