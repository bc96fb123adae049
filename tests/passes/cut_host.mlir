// test: cut-host

// What lies before, between and behind host steps becomes functions; constants are copied.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x?xi64, #gv.dims<"2, u">> {
  %c = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
  %0 = gv.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.non_zero %0 {sizes = #gv.dims<"u">} : (tensor<2x3xf32>) -> tensor<2x?xi64, #gv.dims<"2, u">>
  %2 = gv.add %1, %c : (tensor<2x?xi64, #gv.dims<"2, u">>, tensor<i64>) -> tensor<2x?xi64, #gv.dims<"2, u">>
  func.return %2 : tensor<2x?xi64, #gv.dims<"2, u">>
}

// ->
// func.func @main(%x: tensor<2x3xf32>) -> tensor<2x?xi64, #gv.dims<"2, u">> {
//   %0 = func.call @segment0(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %1 = gv.non_zero %0 {sizes = #gv.dims<"u">} : (tensor<2x3xf32>) -> tensor<2x?xi64, #gv.dims<"2, u">>
//   %2 = func.call @segment1(%1) : (tensor<2x?xi64, #gv.dims<"2, u">>) -> tensor<2x?xi64, #gv.dims<"2, u">>
//   func.return %2 : tensor<2x?xi64, #gv.dims<"2, u">>
// }
// func.func private @segment0(%x: tensor<2x3xf32> {gv.name = "x"}) -> (tensor<2x3xf32> {gv.name = "y"}) {
//   %0 = gv.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }
// func.func private @segment1(%x0: tensor<2x?xi64, #gv.dims<"2, u">> {gv.name = "x0"}) -> (tensor<2x?xi64, #gv.dims<"2, u">> {gv.name = "y"}) {
//   %c = gv.constant {value = #gv.array<i64, "", [1]>} : () -> tensor<i64>
//   %0 = gv.add %x0, %c : (tensor<2x?xi64, #gv.dims<"2, u">>, tensor<i64>) -> tensor<2x?xi64, #gv.dims<"2, u">>
//   func.return %0 : tensor<2x?xi64, #gv.dims<"2, u">>
// }

// -----
// A function that no argument tells a size gets a room.
func.func @main(%x: tensor<4xf32>, %k: tensor<f32>) -> tensor<?xf32, #gv.dims<"u">> {
  %0 = gv.non_zero %x {sizes = #gv.dims<"u">} : (tensor<4xf32>) -> tensor<1x?xi64, #gv.dims<"1, u">>
  %1 = gv.broadcast_to %k {shape = #gv.dims<"u">} : (tensor<f32>) -> tensor<?xf32, #gv.dims<"u">>
  %2 = gv.exp %1 : (tensor<?xf32, #gv.dims<"u">>) -> tensor<?xf32, #gv.dims<"u">>
  func.return %2 : tensor<?xf32, #gv.dims<"u">>
}

// ->
// func.func @main(%x: tensor<4xf32>, %k: tensor<f32>) -> tensor<?xf32, #gv.dims<"u">> {
//   %0 = gv.non_zero %x {sizes = #gv.dims<"u">} : (tensor<4xf32>) -> tensor<1x?xi64, #gv.dims<"1, u">>
//   %1 = gv.room {size = #gv.dim<"u">} : () -> tensor<?xi1, #gv.dims<"u">>
//   %2 = func.call @segment0(%k, %1) : (tensor<f32>, tensor<?xi1, #gv.dims<"u">>) -> tensor<?xf32, #gv.dims<"u">>
//   func.return %2 : tensor<?xf32, #gv.dims<"u">>
// }
// func.func private @segment0(%k: tensor<f32> {gv.name = "k"}, %x1: tensor<?xi1, #gv.dims<"u">> {gv.name = "x1"}) -> (tensor<?xf32, #gv.dims<"u">> {gv.name = "y"}) {
//   %0 = gv.broadcast_to %k {shape = #gv.dims<"u">} : (tensor<f32>) -> tensor<?xf32, #gv.dims<"u">>
//   %1 = gv.exp %0 : (tensor<?xf32, #gv.dims<"u">>) -> tensor<?xf32, #gv.dims<"u">>
//   func.return %1 : tensor<?xf32, #gv.dims<"u">>
// }

// -----
// Without host steps nothing changes.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// ->
// func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//   %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %0 : tensor<4xf32>
// }

// -----
// Regions of host steps are cut too. Reshapes alone make no function.
func.func @main(%n: tensor<1xi64>, %x: tensor<3xf32>) -> tensor<?x3xf32, #gv.dims<"u, 3">> {
  %go = gv.constant {value = #gv.array<bool, "", [true]>} : () -> tensor<i1>
  %k = gv.reshape %n {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
  %last, %all = gv.host_loop %k, %go, %x ({
  ^bb0(%i: tensor<i64>, %on: tensor<i1>, %s: tensor<3xf32>):
    %0 = gv.add %s, %s : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    gv.yield %on, %0, %0 : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> ()
  }) {states = 1 : i64} : (tensor<i64>, tensor<i1>, tensor<3xf32>) -> (tensor<3xf32>, tensor<?x3xf32, #gv.dims<"u, 3">>)
  func.return %all : tensor<?x3xf32, #gv.dims<"u, 3">>
}

// ->
// func.func @main(%n: tensor<1xi64>, %x: tensor<3xf32>) -> tensor<?x3xf32, #gv.dims<"u, 3">> {
//   %go = gv.constant {value = #gv.array<bool, "", [true]>} : () -> tensor<i1>
//   %k = gv.reshape %n {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
//   %last, %all = gv.host_loop %k, %go, %x ({
//   ^bb0(%i: tensor<i64>, %on: tensor<i1>, %s: tensor<3xf32>):
//     %0 = func.call @segment0(%s) : (tensor<3xf32>) -> tensor<3xf32>
//     gv.yield %on, %0, %0 : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> ()
//   }) {states = 1 : i64} : (tensor<i64>, tensor<i1>, tensor<3xf32>) -> (tensor<3xf32>, tensor<?x3xf32, #gv.dims<"u, 3">>)
//   func.return %all : tensor<?x3xf32, #gv.dims<"u, 3">>
// }
// func.func private @segment0(%s: tensor<3xf32> {gv.name = "s"}) -> (tensor<3xf32> {gv.name = "y"}) {
//   %0 = gv.add %s, %s : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
//   func.return %0 : tensor<3xf32>
// }

// -----
// Texts are for the host whatever the operation.
// count: gv.transpose 1
func.func @main() -> tensor<2x1x!gv.string> {
  %c = gv.constant {value = #gv.array<string, "1, 2", ["a", "b"]>} : () -> tensor<1x2x!gv.string>
  %0 = gv.transpose %c {order = array<i64: 1, 0>} : (tensor<1x2x!gv.string>) -> tensor<2x1x!gv.string>
  func.return %0 : tensor<2x1x!gv.string>
}

// -----
// What a reduction needs is done first, and the rest while it goes on; the last one has no company.
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = gv.mul %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.all_reduce %1 {how = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = gv.all_reduce %0 {how = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// ->
// func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
//   %0 = func.call @segment0(%x) : (tensor<4xf32>) -> tensor<4xf32>
//   %1 = gv.all_reduce %0 {how = "sum"} attributes {beside} : (tensor<4xf32>) -> tensor<4xf32>
//   %2 = func.call @segment1(%0, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   %3 = gv.all_reduce %2 {how = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %3, %1 : tensor<4xf32>, tensor<4xf32>
// }
// func.func private @segment0(%x: tensor<4xf32> {gv.name = "x"}) -> (tensor<4xf32> {gv.name = "y"}) {
//   %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %0 : tensor<4xf32>
// }
// func.func private @segment1(%x0: tensor<4xf32> {gv.name = "x0"}, %w: tensor<4xf32> {gv.name = "w"}) -> (tensor<4xf32> {gv.name = "y"}) {
//   %0 = gv.mul %x0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//   func.return %0 : tensor<4xf32>
// }

// -----
// What is made of constants alone goes where it is used, so that it is no argument there.
func.func @main(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<?xf32, #gv.dims<"u">>) {
  %c = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %0 = gv.broadcast_to %c {shape = array<i64: 8>} : (tensor<f32>) -> tensor<8xf32>
  %1 = gv.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = gv.non_zero %2 {sizes = #gv.dims<"u">} : (tensor<4xf32>) -> tensor<1x?xi64, #gv.dims<"1, u">>
  %4 = gv.reshape %3 {shape = #gv.dims<"u">} : (tensor<1x?xi64, #gv.dims<"1, u">>) -> tensor<?xi64, #gv.dims<"u">>
  %5 = gv.gather %1, %4 {axis = 0 : i64} : (tensor<8xf32>, tensor<?xi64, #gv.dims<"u">>) -> tensor<?xf32, #gv.dims<"u">>
  func.return %1, %5 : tensor<8xf32>, tensor<?xf32, #gv.dims<"u">>
}

// ->
// func.func @main(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<?xf32, #gv.dims<"u">>) {
//   %0 = func.call @segment0(%x) : (tensor<4xf32>) -> tensor<4xf32>
//   %1 = gv.non_zero %0 {sizes = #gv.dims<"u">} : (tensor<4xf32>) -> tensor<1x?xi64, #gv.dims<"1, u">>
//   %2, %3 = func.call @segment1(%1) : (tensor<1x?xi64, #gv.dims<"1, u">>) -> (tensor<8xf32>, tensor<?xf32, #gv.dims<"u">>)
//   func.return %2, %3 : tensor<8xf32>, tensor<?xf32, #gv.dims<"u">>
// }
// func.func private @segment0(%x: tensor<4xf32> {gv.name = "x"}) -> (tensor<4xf32> {gv.name = "y"}) {
//   %0 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
//   func.return %0 : tensor<4xf32>
// }
// func.func private @segment1(%x0: tensor<1x?xi64, #gv.dims<"1, u">> {gv.name = "x0"}) -> (tensor<8xf32> {gv.name = "y"}, tensor<?xf32, #gv.dims<"u">> {gv.name = "y_2"}) {
//   %c = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %0 = gv.broadcast_to %c {shape = array<i64: 8>} : (tensor<f32>) -> tensor<8xf32>
//   %1 = gv.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
//   %2 = gv.reshape %x0 {shape = #gv.dims<"u">} : (tensor<1x?xi64, #gv.dims<"1, u">>) -> tensor<?xi64, #gv.dims<"u">>
//   %3 = gv.gather %1, %2 {axis = 0 : i64} : (tensor<8xf32>, tensor<?xi64, #gv.dims<"u">>) -> tensor<?xf32, #gv.dims<"u">>
//   func.return %1, %3 : tensor<8xf32>, tensor<?xf32, #gv.dims<"u">>
// }
