// test: split-pads

func.func @reflect(%x: tensor<70x60xf32>) -> tensor<73x63xf32> {
  %0 = gv.pad %x {pads = [[1, 2], [1, 2]], mode = "reflect"} : (tensor<70x60xf32>) -> tensor<73x63xf32>
  func.return %0 : tensor<73x63xf32>
}

// ->
// func.func @reflect(%x: tensor<70x60xf32>) -> tensor<73x63xf32> {
//   %0 = gv.slice %x {starts = array<i64: 0, 1>, steps = array<i64: 1, -1>, stops = array<i64: 70, 0>} : (tensor<70x60xf32>) -> tensor<70x1xf32>
//   %1 = gv.slice %x {starts = array<i64: 0, 58>, steps = array<i64: 1, -1>, stops = array<i64: 70, 56>} : (tensor<70x60xf32>) -> tensor<70x2xf32>
//   %2 = gv.pad %0 {mode = "reflect", pads = [array<i64: 1, 2>, array<i64: 0, 0>]} : (tensor<70x1xf32>) -> tensor<73x1xf32>
//   %3 = gv.pad %x {mode = "reflect", pads = [array<i64: 1, 2>, array<i64: 0, 0>]} : (tensor<70x60xf32>) -> tensor<73x60xf32>
//   %4 = gv.pad %1 {mode = "reflect", pads = [array<i64: 1, 2>, array<i64: 0, 0>]} : (tensor<70x2xf32>) -> tensor<73x2xf32>
//   %5 = gv.concat %2, %3, %4 {axis = 1 : i64} : (tensor<73x1xf32>, tensor<73x60xf32>, tensor<73x2xf32>) -> tensor<73x63xf32>
//   func.return %5 : tensor<73x63xf32>
// }

// -----
// All that there is but the edges is repeated on both sides.
func.func @reflect_all(%x: tensor<2048x3xf32>) -> tensor<2048x7xf32> {
  %0 = gv.pad %x {pads = [[0, 0], [2, 2]], mode = "reflect"} : (tensor<2048x3xf32>) -> tensor<2048x7xf32>
  func.return %0 : tensor<2048x7xf32>
}

// ->
// func.func @reflect_all(%x: tensor<2048x3xf32>) -> tensor<2048x7xf32> {
//   %0 = gv.slice %x {starts = array<i64: 0, 2>, steps = array<i64: 1, -1>, stops = array<i64: 2048, 0>} : (tensor<2048x3xf32>) -> tensor<2048x2xf32>
//   %1 = gv.slice %x {starts = array<i64: 0, 1>, steps = array<i64: 1, -1>, stops = array<i64: 2048, -4>} : (tensor<2048x3xf32>) -> tensor<2048x2xf32>
//   %2 = gv.concat %0, %x, %1 {axis = 1 : i64} : (tensor<2048x2xf32>, tensor<2048x3xf32>, tensor<2048x2xf32>) -> tensor<2048x7xf32>
//   func.return %2 : tensor<2048x7xf32>
// }

// -----
func.func @edge(%x: tensor<?x4xi8, #gv.dims<"n, 4">>) -> tensor<?x12xi8, #gv.dims<"n, 12">> {
  %0 = gv.pad %x {pads = [[0, 0], [8, 0]], mode = "edge"} : (tensor<?x4xi8, #gv.dims<"n, 4">>) -> tensor<?x12xi8, #gv.dims<"n, 12">>
  func.return %0 : tensor<?x12xi8, #gv.dims<"n, 12">>
}

// ->
// func.func @edge(%x: tensor<?x4xi8, #gv.dims<"n, 4">>) -> tensor<?x12xi8, #gv.dims<"n, 12">> {
//   %0 = gv.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = #gv.dims<"n, 1">} : (tensor<?x4xi8, #gv.dims<"n, 4">>) -> tensor<?x1xi8, #gv.dims<"n, 1">>
//   %1 = gv.broadcast_to %0 {shape = #gv.dims<"n, 8">} : (tensor<?x1xi8, #gv.dims<"n, 1">>) -> tensor<?x8xi8, #gv.dims<"n, 8">>
//   %2 = gv.concat %1, %x {axis = 1 : i64} : (tensor<?x8xi8, #gv.dims<"n, 8">>, tensor<?x4xi8, #gv.dims<"n, 4">>) -> tensor<?x12xi8, #gv.dims<"n, 12">>
//   func.return %2 : tensor<?x12xi8, #gv.dims<"n, 12">>
// }

// -----
func.func @wrap(%x: tensor<2048x3xf32>) -> tensor<2048x5xf32> {
  %0 = gv.pad %x {pads = [[0, 0], [3, -1]], mode = "wrap"} : (tensor<2048x3xf32>) -> tensor<2048x5xf32>
  func.return %0 : tensor<2048x5xf32>
}

// ->
// func.func @wrap(%x: tensor<2048x3xf32>) -> tensor<2048x5xf32> {
//   %0 = gv.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 2048, 2>} : (tensor<2048x3xf32>) -> tensor<2048x2xf32>
//   %1 = gv.concat %x, %0 {axis = 1 : i64} : (tensor<2048x3xf32>, tensor<2048x2xf32>) -> tensor<2048x5xf32>
//   func.return %1 : tensor<2048x5xf32>
// }

// -----
// An element is repeated twice on one side.
func.func @more_than_there_are(%x: tensor<2048x3xf32>) -> tensor<2048x7xf32> {
  %0 = gv.pad %x {pads = [[0, 0], [4, 0]], mode = "wrap"} : (tensor<2048x3xf32>) -> tensor<2048x7xf32>
  func.return %0 : tensor<2048x7xf32>
}

// ->
// func.func @more_than_there_are(%x: tensor<2048x3xf32>) -> tensor<2048x7xf32> {
//   %0 = gv.pad %x {mode = "wrap", pads = [[0 : i64, 0 : i64], [4 : i64, 0 : i64]]} : (tensor<2048x3xf32>) -> tensor<2048x7xf32>
//   func.return %0 : tensor<2048x7xf32>
// }

// -----
func.func @other_axes(%x: tensor<70x60xf32>) -> tensor<73x60xf32> {
  %0 = gv.pad %x {pads = [[1, 2], [0, 0]], mode = "reflect"} : (tensor<70x60xf32>) -> tensor<73x60xf32>
  func.return %0 : tensor<73x60xf32>
}

// ->
// func.func @other_axes(%x: tensor<70x60xf32>) -> tensor<73x60xf32> {
//   %0 = gv.pad %x {mode = "reflect", pads = [[1 : i64, 2 : i64], [0 : i64, 0 : i64]]} : (tensor<70x60xf32>) -> tensor<73x60xf32>
//   func.return %0 : tensor<73x60xf32>
// }

// -----
func.func @small(%x: tensor<7x6xf32>) -> tensor<7x8xf32> {
  %0 = gv.pad %x {pads = [[0, 0], [1, 1]], mode = "reflect"} : (tensor<7x6xf32>) -> tensor<7x8xf32>
  func.return %0 : tensor<7x8xf32>
}

// ->
// func.func @small(%x: tensor<7x6xf32>) -> tensor<7x8xf32> {
//   %0 = gv.pad %x {mode = "reflect", pads = [[0 : i64, 0 : i64], [1 : i64, 1 : i64]]} : (tensor<7x6xf32>) -> tensor<7x8xf32>
//   func.return %0 : tensor<7x8xf32>
// }

// -----
// Of an axis of an open size what stands before and behind is a pad of which the rest is cropped.
func.func @open(%x: tensor<3x?xf32, #gv.dims<"3, n">>) -> tensor<3x?xf32, #gv.dims<"3, n + 3">> {
  %0 = gv.pad %x {pads = [[0, 0], [2, 1]], mode = "reflect"} : (tensor<3x?xf32, #gv.dims<"3, n">>) -> tensor<3x?xf32, #gv.dims<"3, n + 3">>
  func.return %0 : tensor<3x?xf32, #gv.dims<"3, n + 3">>
}

// ->
// func.func @open(%x: tensor<3x?xf32, #gv.dims<"3, n">>) -> tensor<3x?xf32, #gv.dims<"3, n + 3">> {
//   %0 = gv.pad %x {mode = "reflect", pads = [array<i64: 0, 0>, #gv.dims<"2, -n">]} : (tensor<3x?xf32, #gv.dims<"3, n">>) -> tensor<3x2xf32>
//   %1 = gv.pad %x {mode = "reflect", pads = [array<i64: 0, 0>, #gv.dims<"-n, 1">]} : (tensor<3x?xf32, #gv.dims<"3, n">>) -> tensor<3x1xf32>
//   %2 = gv.concat %0, %x, %1 {axis = 1 : i64} : (tensor<3x2xf32>, tensor<3x?xf32, #gv.dims<"3, n">>, tensor<3x1xf32>) -> tensor<3x?xf32, #gv.dims<"3, n + 3">>
//   func.return %2 : tensor<3x?xf32, #gv.dims<"3, n + 3">>
// }

// -----
// Behind the padded axis are but a few elements: rows of these are not worth to be taken whole.
func.func @short_rows(%x: tensor<3x?x3xf32, #gv.dims<"3, n, 3">>) -> tensor<5x?x3xf32, #gv.dims<"5, n + 2, 3">> {
  %0 = gv.pad %x {pads = [[1, 1], [1, 1], [0, 0]], mode = "wrap"} : (tensor<3x?x3xf32, #gv.dims<"3, n, 3">>) -> tensor<5x?x3xf32, #gv.dims<"5, n + 2, 3">>
  func.return %0 : tensor<5x?x3xf32, #gv.dims<"5, n + 2, 3">>
}

// ->
// func.func @short_rows(%x: tensor<3x?x3xf32, #gv.dims<"3, n, 3">>) -> tensor<5x?x3xf32, #gv.dims<"5, n + 2, 3">> {
//   %0 = gv.pad %x {mode = "wrap", pads = [array<i64: 1, 1>, #gv.dims<"1, -n">, array<i64: 0, 0>]} : (tensor<3x?x3xf32, #gv.dims<"3, n, 3">>) -> tensor<5x1x3xf32>
//   %1 = gv.pad %x {mode = "wrap", pads = [array<i64: 1, 1>, array<i64: 0, 0>, array<i64: 0, 0>]} : (tensor<3x?x3xf32, #gv.dims<"3, n, 3">>) -> tensor<5x?x3xf32, #gv.dims<"5, n, 3">>
//   %2 = gv.pad %x {mode = "wrap", pads = [array<i64: 1, 1>, #gv.dims<"-n, 1">, array<i64: 0, 0>]} : (tensor<3x?x3xf32, #gv.dims<"3, n, 3">>) -> tensor<5x1x3xf32>
//   %3 = gv.concat %0, %1, %2 {axis = 1 : i64} : (tensor<5x1x3xf32>, tensor<5x?x3xf32, #gv.dims<"5, n, 3">>, tensor<5x1x3xf32>) -> tensor<5x?x3xf32, #gv.dims<"5, n + 2, 3">>
//   func.return %3 : tensor<5x?x3xf32, #gv.dims<"5, n + 2, 3">>
// }

// -----
func.func @long_rows(%x: tensor<70x60x32xf32>) -> tensor<71x60x32xf32> {
  %0 = gv.pad %x {pads = [[1, 0], [0, 0], [0, 0]], mode = "wrap"} : (tensor<70x60x32xf32>) -> tensor<71x60x32xf32>
  func.return %0 : tensor<71x60x32xf32>
}

// ->
// func.func @long_rows(%x: tensor<70x60x32xf32>) -> tensor<71x60x32xf32> {
//   %0 = gv.pad %x {mode = "wrap", pads = [[1 : i64, 0 : i64], [0 : i64, 0 : i64], [0 : i64, 0 : i64]]} : (tensor<70x60x32xf32>) -> tensor<71x60x32xf32>
//   func.return %0 : tensor<71x60x32xf32>
// }
