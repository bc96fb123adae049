// test: split-pools

func.func @large(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32> {
  %0 = gv.max_pool %x {window = array<i64: 9, 9>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = [array<i64: 4, 4>, array<i64: 4, 4>]} : (tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32>
  func.return %0 : tensor<1x8x20x20xf32>
}

// ->
// func.func @large(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32> {
//   %0 = gv.max_pool %x {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 4, 4>], strides = array<i64: 1, 1>, window = array<i64: 1, 9>} : (tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32>
//   %1 = gv.max_pool %0 {dilations = array<i64: 1, 1>, pads = [array<i64: 4, 4>, array<i64: 0, 0>], strides = array<i64: 1, 1>, window = array<i64: 9, 1>} : (tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32>
//   func.return %1 : tensor<1x8x20x20xf32>
// }

// -----
// A window of three by three stays whole.
func.func @small(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x18x18xf32> {
  %0 = gv.max_pool %x {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>]} : (tensor<1x8x20x20xf32>) -> tensor<1x8x18x18xf32>
  func.return %0 : tensor<1x8x18x18xf32>
}

// ->
// func.func @small(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x18x18xf32> {
//   %0 = gv.max_pool %x {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x8x20x20xf32>) -> tensor<1x8x18x18xf32>
//   func.return %0 : tensor<1x8x18x18xf32>
// }

// -----
// So does one that sees the whole image.
func.func @whole(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32> {
  %0 = gv.max_pool %x {window = array<i64: 7, 7>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>]} : (tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32>
  func.return %0 : tensor<1x8x1x1xf32>
}

// ->
// func.func @whole(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32> {
//   %0 = gv.max_pool %x {dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1>, window = array<i64: 7, 7>} : (tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32>
//   func.return %0 : tensor<1x8x1x1xf32>
// }

// -----
// Strides and pads go with their axis; the channels may be last, and the sizes open.
func.func @open(%x: tensor<?x?x?x8xf32, #gv.dims<"n, h, w, 8">>) -> tensor<?x?x?x8xf32, #gv.dims<"n, h, (w - 1) // 2 + 1, 8">> {
  %0 = gv.max_pool %x {channels_last = true, window = array<i64: 5, 5>, strides = array<i64: 1, 2>, dilations = array<i64: 1, 1>, pads = [array<i64: 2, 2>, array<i64: 1, 3>]} : (tensor<?x?x?x8xf32, #gv.dims<"n, h, w, 8">>) -> tensor<?x?x?x8xf32, #gv.dims<"n, h, (w - 1) // 2 + 1, 8">>
  func.return %0 : tensor<?x?x?x8xf32, #gv.dims<"n, h, (w - 1) // 2 + 1, 8">>
}

// ->
// func.func @open(%x: tensor<?x?x?x8xf32, #gv.dims<"n, h, w, 8">>) -> tensor<?x?x?x8xf32, #gv.dims<"n, h, ((w + 1) // (2)), 8">> {
//   %0 = gv.max_pool %x {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 1, 3>], strides = array<i64: 1, 2>, window = array<i64: 1, 5>} : (tensor<?x?x?x8xf32, #gv.dims<"n, h, w, 8">>) -> tensor<?x?x?x8xf32, #gv.dims<"n, h, ((w + 1) // (2)), 8">>
//   %1 = gv.max_pool %0 {channels_last = true, dilations = array<i64: 1, 1>, pads = [array<i64: 2, 2>, array<i64: 0, 0>], strides = array<i64: 1, 1>, window = array<i64: 5, 1>} : (tensor<?x?x?x8xf32, #gv.dims<"n, h, ((w + 1) // (2)), 8">>) -> tensor<?x?x?x8xf32, #gv.dims<"n, h, ((w + 1) // (2)), 8">>
//   func.return %1 : tensor<?x?x?x8xf32, #gv.dims<"n, h, ((w + 1) // (2)), 8">>
// }

// -----
func.func @three(%x: tensor<1x2x9x9x9xf32>) -> tensor<1x2x5x5x5xf32> {
  %0 = gv.max_pool %x {window = array<i64: 5, 5, 5>, strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>]} : (tensor<1x2x9x9x9xf32>) -> tensor<1x2x5x5x5xf32>
  func.return %0 : tensor<1x2x5x5x5xf32>
}

// ->
// func.func @three(%x: tensor<1x2x9x9x9xf32>) -> tensor<1x2x5x5x5xf32> {
//   %0 = gv.max_pool %x {dilations = array<i64: 1, 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1, 1>, window = array<i64: 1, 1, 5>} : (tensor<1x2x9x9x9xf32>) -> tensor<1x2x9x9x5xf32>
//   %1 = gv.max_pool %0 {dilations = array<i64: 1, 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1, 1>, window = array<i64: 1, 5, 1>} : (tensor<1x2x9x9x5xf32>) -> tensor<1x2x9x5x5xf32>
//   %2 = gv.max_pool %1 {dilations = array<i64: 1, 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>, array<i64: 0, 0>], strides = array<i64: 1, 1, 1>, window = array<i64: 5, 1, 1>} : (tensor<1x2x9x5x5xf32>) -> tensor<1x2x5x5x5xf32>
//   func.return %2 : tensor<1x2x5x5x5xf32>
// }
