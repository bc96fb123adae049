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
