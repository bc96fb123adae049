// test: fuse

func.func @chain(%x: tensor<4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = gv.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = gv.mul %0, %y : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %1 : tensor<3x4xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @chain(%x: tensor<4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
//     %0 = gv.kernel %x, %y ({
//     ^bb0(%x_1: tensor<4xf32>, %y_1: tensor<3x4xf32>):
//       %1 = gv.relu %x_1 : (tensor<4xf32>) -> tensor<4xf32>
//       %2 = gv.mul %1, %y_1 : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
//       gv.yield %2 : (tensor<3x4xf32>) -> ()
//     }) {kind = "map"} : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
//     func.return %0 : tensor<3x4xf32>
//   }
// }

// -----
// A reduction over whole rows, and what is before and behind it, is one kernel.
// count: gv.kernel 1
func.func @softmax(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0 = gv.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<3x8xf32>) -> tensor<3x1xf32>
  %1 = gv.sub %x, %0 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %2 = gv.exp %1 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %3 = gv.sum %2 {axes = array<i64: 1>, keepdims = true} : (tensor<3x8xf32>) -> tensor<3x1xf32>
  %4 = gv.div %2, %3 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  func.return %4 : tensor<3x8xf32>
}

// -----
// count: gv.kernel 1
func.func @product_and_what_follows(%x: tensor<3x8xf32>, %w: tensor<8x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %0 = gv.matmul %x, %w : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %1 = gv.add %0, %b : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %2 = gv.relu %1 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %2 : tensor<3x5xf32>
}

// -----
// A kernel has one product.
// count: gv.kernel 2
func.func @two_products(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = gv.matmul %x, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = gv.matmul %0, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  func.return %1 : tensor<3x3xf32>
}

// -----
// What is expensive is not computed twice.
// count: gv.kernel 3
// count: gv.exp 1
func.func @two_users(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = gv.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.sum %0 {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  func.return %1, %2 : tensor<4xf32>, tensor<f32>
}

// -----
// Movements are read through.
// count: gv.kernel 1
func.func @movements(%x: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %0 = gv.transpose %x {order = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %1 = gv.reshape %0 {shape = array<i64: 3, 4>} : (tensor<6x2xf32>) -> tensor<3x4xf32>
  %2 = gv.exp %1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %2 : tensor<3x4xf32>
}

// -----
// What only moves or converts is done again in each kernel that needs it.
// count: gv.kernel 2
// count: gv.cast 2
func.func @cheap_for_two(%x: tensor<4xi32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<4xi32>) -> tensor<4xf32>
  %1 = gv.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = gv.sum %0 {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  func.return %1, %2 : tensor<4xf32>, tensor<f32>
}

// -----
// An argument that is returned is copied.
// count: gv.kernel 1
func.func @copy(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}

// -----
// Operands of a product lie in memory, even where they are one number.
func.func @product_of_splats(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "1, 8, 16", splat 0.5>} : () -> tensor<1x8x16xf32>
  %1 = gv.matmul_packed %x, %0 {columns = 3 : i64} : (tensor<4x8xf32>, tensor<1x8x16xf32>) -> tensor<4x3xf32>
  func.return %1 : tensor<4x3xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @product_of_splats(%x: tensor<4x8xf32>) -> tensor<4x3xf32> {
//     %0 = gv.constant {value = #gv.array<f32, "1, 8, 16", splat 0.5>} : () -> tensor<1x8x16xf32>
//     %1 = gv.kernel %x, %0 ({
//     ^bb0(%x_1: tensor<4x8xf32>, %2: tensor<1x8x16xf32>):
//       %3 = gv.matmul_packed %x_1, %2 {columns = 3 : i64} : (tensor<4x8xf32>, tensor<1x8x16xf32>) -> tensor<4x3xf32>
//       gv.yield %3 : (tensor<4x3xf32>) -> ()
//     }) {kind = "gemm"} : (tensor<4x8xf32>, tensor<1x8x16xf32>) -> tensor<4x3xf32>
//     func.return %1 : tensor<4x3xf32>
//   }
// }

// -----
// What stands behind a reduction has its shape: here it gets a dimension more.
func.func @more_dims(%x: tensor<5x3xf32>, %y: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = gv.sum %x {axes = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
  %1 = gv.add %0, %y : (tensor<3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  func.return %1 : tensor<1x3xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @more_dims(%x: tensor<5x3xf32>, %y: tensor<1x3xf32>) -> tensor<1x3xf32> {
//     %0 = gv.kernel %x ({
//     ^bb0(%x_1: tensor<5x3xf32>):
//       %1 = gv.sum %x_1 {axes = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
//       gv.yield %1 : (tensor<3xf32>) -> ()
//     }) {kind = "reduce"} : (tensor<5x3xf32>) -> tensor<3xf32>
//     %2 = gv.kernel %0, %y ({
//     ^bb0(%3: tensor<3xf32>, %y_1: tensor<1x3xf32>):
//       %4 = gv.add %3, %y_1 : (tensor<3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
//       gv.yield %4 : (tensor<1x3xf32>) -> ()
//     }) {kind = "map"} : (tensor<3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
//     func.return %2 : tensor<1x3xf32>
//   }
// }

// -----
// A product walks its depth in two strides at most: heads of several kinds are moved before.
// count: gv.kernel 2
func.func @many_strides(%x: tensor<3x2x4x5x8xf32>, %w: tensor<96x8xf32>) -> tensor<10x8xf32> {
  %0 = gv.transpose %x {order = array<i64: 1, 3, 0, 2, 4>} : (tensor<3x2x4x5x8xf32>) -> tensor<2x5x3x4x8xf32>
  %1 = gv.reshape %0 {shape = array<i64: 10, 96>} : (tensor<2x5x3x4x8xf32>) -> tensor<10x96xf32>
  %2 = gv.matmul %1, %w : (tensor<10x96xf32>, tensor<96x8xf32>) -> tensor<10x8xf32>
  func.return %2 : tensor<10x8xf32>
}

// -----
// What ends a softmax stays with it, although the sum over the other axis could compute it in place.
// count: gv.kernel 2
func.func @other_rows(%x: tensor<3x8xf32>) -> tensor<8xf32> {
  %0 = gv.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<3x8xf32>) -> tensor<3x1xf32>
  %1 = gv.sub %x, %0 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %2 = gv.exp %1 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %3 = gv.sum %2 {axes = array<i64: 1>, keepdims = true} : (tensor<3x8xf32>) -> tensor<3x1xf32>
  %4 = gv.div %2, %3 : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %5 = gv.sum %4 {axes = array<i64: 0>, keepdims = false} : (tensor<3x8xf32>) -> tensor<8xf32>
  func.return %5 : tensor<8xf32>
}

// -----
// A product does not walk a part of what are two axes in memory: the reshape stays outside, a view.
func.func @part_of_joined_axes(%x: tensor<6x40xf32>, %w: tensor<5x3x16xf32>) -> tensor<6x5xf32> {
  %0 = gv.reshape %w {shape = array<i64: 5, 48>} : (tensor<5x3x16xf32>) -> tensor<5x48xf32>
  %1 = gv.slice %0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 5, 40>} : (tensor<5x48xf32>) -> tensor<5x40xf32>
  %2 = gv.matmul %x, %1 {transpose_rhs = true} : (tensor<6x40xf32>, tensor<5x40xf32>) -> tensor<6x5xf32>
  func.return %2 : tensor<6x5xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @part_of_joined_axes(%x: tensor<6x40xf32>, %w: tensor<5x3x16xf32>) -> tensor<6x5xf32> {
//     %0 = gv.reshape %w {shape = array<i64: 5, 48>} : (tensor<5x3x16xf32>) -> tensor<5x48xf32>
//     %1 = gv.kernel %0, %x ({
//     ^bb0(%2: tensor<5x48xf32>, %x_1: tensor<6x40xf32>):
//       %3 = gv.slice %2 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 5, 40>} : (tensor<5x48xf32>) -> tensor<5x40xf32>
//       %4 = gv.matmul %x_1, %3 {transpose_rhs = true} : (tensor<6x40xf32>, tensor<5x40xf32>) -> tensor<6x5xf32>
//       gv.yield %4 : (tensor<6x5xf32>) -> ()
//     }) {kind = "gemm"} : (tensor<5x48xf32>, tensor<6x40xf32>) -> tensor<6x5xf32>
//     func.return %1 : tensor<6x5xf32>
//   }
// }

// -----
// What is added to a product stays with it, where the sum is another product's epilogue.
func.func @two_products_with_biases(%x: tensor<3x8xf32>, %w: tensor<8x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %0 = gv.matmul %x, %w : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %1 = gv.add %0, %b : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %2 = gv.matmul %x, %w : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %3 = gv.add %2, %b : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %4 = gv.add %1, %3 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %4 : tensor<3x5xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @two_products_with_biases(%x: tensor<3x8xf32>, %w: tensor<8x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
//     %0 = gv.kernel %x, %w, %b ({
//     ^bb0(%x_1: tensor<3x8xf32>, %w_1: tensor<8x5xf32>, %b_1: tensor<5xf32>):
//       %1 = gv.matmul %x_1, %w_1 : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
//       %2 = gv.add %1, %b_1 : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
//       gv.yield %2 : (tensor<3x5xf32>) -> ()
//     }) {kind = "gemm"} : (tensor<3x8xf32>, tensor<8x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
//     %3 = gv.kernel %x, %w, %b, %0 ({
//     ^bb0(%x_2: tensor<3x8xf32>, %w_2: tensor<8x5xf32>, %b_2: tensor<5xf32>, %4: tensor<3x5xf32>):
//       %5 = gv.matmul %x_2, %w_2 : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
//       %6 = gv.add %5, %b_2 : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
//       %7 = gv.add %4, %6 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
//       gv.yield %7 : (tensor<3x5xf32>) -> ()
//     }) {kind = "gemm"} : (tensor<3x8xf32>, tensor<8x5xf32>, tensor<5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
//     func.return %3 : tensor<3x5xf32>
//   }
// }

// -----
// A sum of many sums is cut behind eight of them, so that the kernels of a longer one are alike.
// count: gv.kernel 2
func.func @sum_of_sums(%x0: tensor<3x8xf32>, %x1: tensor<3x8xf32>, %x2: tensor<3x8xf32>, %x3: tensor<3x8xf32>, %x4: tensor<3x8xf32>, %x5: tensor<3x8xf32>, %x6: tensor<3x8xf32>, %x7: tensor<3x8xf32>, %x8: tensor<3x8xf32>, %x9: tensor<3x8xf32>) -> tensor<3xf32> {
  %s0 = gv.sum %x0 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %s1 = gv.sum %x1 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t1 = gv.add %s0, %s1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s2 = gv.sum %x2 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t2 = gv.add %t1, %s2 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s3 = gv.sum %x3 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t3 = gv.add %t2, %s3 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s4 = gv.sum %x4 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t4 = gv.add %t3, %s4 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s5 = gv.sum %x5 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t5 = gv.add %t4, %s5 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s6 = gv.sum %x6 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t6 = gv.add %t5, %s6 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s7 = gv.sum %x7 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t7 = gv.add %t6, %s7 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s8 = gv.sum %x8 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t8 = gv.add %t7, %s8 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s9 = gv.sum %x9 {axes = array<i64: 1>} : (tensor<3x8xf32>) -> tensor<3xf32>
  %t9 = gv.add %t8, %s9 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %t9 : tensor<3xf32>
}

// -----
// What is the same for all rows is not computed again for each, neither by moves nor by what is cheap.
// count: gv.kernel 2
func.func @same_for_all_rows(%x: tensor<128xf32>, %w: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %t = gv.tanh %x : (tensor<128xf32>) -> tensor<128xf32>
  %n = gv.neg %t : (tensor<128xf32>) -> tensor<128xf32>
  %r = gv.reshape %n {shape = array<i64: 1, 128>} : (tensor<128xf32>) -> tensor<1x128xf32>
  %y = gv.mul %r, %w : (tensor<1x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  func.return %y : tensor<64x128xf32>
}

// -----
// The same of open sizes, of which there may be many.
// count: gv.kernel 2
func.func @same_for_open_rows(%x: tensor<128xf32>, %w: tensor<?x128xf32, #gv.dims<"n, 128">>) -> tensor<?x128xf32, #gv.dims<"n, 128">> {
  %t = gv.exp %x : (tensor<128xf32>) -> tensor<128xf32>
  %y = gv.mul %w, %t : (tensor<?x128xf32, #gv.dims<"n, 128">>, tensor<128xf32>) -> tensor<?x128xf32, #gv.dims<"n, 128">>
  func.return %y : tensor<?x128xf32, #gv.dims<"n, 128">>
}

// -----
// Few elements are not worth a kernel, and what is one for a whole row is computed once anyway.
// count: gv.kernel 2
func.func @few_or_one(%x: tensor<8xf32>, %v: tensor<8x8xf32>, %c: tensor<64x1xf32>, %w: tensor<64x128xf32>) -> (tensor<8x8xf32>, tensor<64x128xf32>) {
  %s = gv.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  %y = gv.mul %s, %v : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = gv.tanh %c : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %z = gv.mul %t, %w : (tensor<64x1xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  func.return %y, %z : tensor<8x8xf32>, tensor<64x128xf32>
}

// -----
// What moves neighbours apart is a kernel of its own, and so are what it moves and what takes it.
// count: gv.kernel 3
func.func @across_memory(%x: tensor<64x128xf32>, %z: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %a = gv.relu %x : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %t = gv.transpose %a {order = array<i64: 1, 0>} : (tensor<64x128xf32>) -> tensor<128x64xf32>
  %y = gv.add %t, %z : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  func.return %y : tensor<128x64xf32>
}

// -----
// So is what is cropped or padded first, whose rows stay rows; not what is turned before.
// count: gv.kernel 5
func.func @cropped(%x: tensor<58x58x32xf32>, %p: tensor<64x128xf32>, %t: tensor<64x8x128xf32>) -> (tensor<32x56x56xf32>, tensor<130x64xf32>, tensor<128x64x8xf32>) {
  %0 = gv.slice %x {starts = array<i64: 1, 1, 0>, steps = array<i64: 1, 1, 1>, stops = array<i64: 57, 57, 32>} : (tensor<58x58x32xf32>) -> tensor<56x56x32xf32>
  %1 = gv.transpose %0 {order = array<i64: 2, 0, 1>} : (tensor<56x56x32xf32>) -> tensor<32x56x56xf32>
  %2 = gv.pad %p {pads = [array<i64: 0, 0>, array<i64: 1, 1>], value = 0.000000e+00 : f64} : (tensor<64x128xf32>) -> tensor<64x130xf32>
  %3 = gv.transpose %2 {order = array<i64: 1, 0>} : (tensor<64x130xf32>) -> tensor<130x64xf32>
  %4 = gv.transpose %t {order = array<i64: 1, 2, 0>} : (tensor<64x8x128xf32>) -> tensor<8x128x64xf32>
  %5 = gv.transpose %4 {order = array<i64: 1, 2, 0>} : (tensor<8x128x64xf32>) -> tensor<128x64x8xf32>
  func.return %1, %3, %5 : tensor<32x56x56xf32>, tensor<130x64xf32>, tensor<128x64x8xf32>
}

// -----
// Nor is what is tiled found by dividing for each place behind a crop; it is where it lies else, and
// of few elements.
// count: gv.kernel 4
func.func @tiled(%x: tensor<4x2000xf32>, %y: tensor<4x8xf32>) -> (tensor<4x5999xf32>, tensor<4x6000xf32>, tensor<4x23xf32>) {
  %0 = gv.reshape %x {shape = array<i64: 4, 1, 2000>} : (tensor<4x2000xf32>) -> tensor<4x1x2000xf32>
  %1 = gv.broadcast_to %0 {shape = array<i64: 4, 3, 2000>} : (tensor<4x1x2000xf32>) -> tensor<4x3x2000xf32>
  %2 = gv.reshape %1 {shape = array<i64: 4, 6000>} : (tensor<4x3x2000xf32>) -> tensor<4x6000xf32>
  %3 = gv.slice %2 {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>, stops = array<i64: 4, 6000>} : (tensor<4x6000xf32>) -> tensor<4x5999xf32>
  %4 = gv.reshape %x {shape = array<i64: 4, 1, 2000>} : (tensor<4x2000xf32>) -> tensor<4x1x2000xf32>
  %5 = gv.broadcast_to %4 {shape = array<i64: 4, 3, 2000>} : (tensor<4x1x2000xf32>) -> tensor<4x3x2000xf32>
  %6 = gv.reshape %5 {shape = array<i64: 4, 6000>} : (tensor<4x3x2000xf32>) -> tensor<4x6000xf32>
  %7 = gv.relu %6 : (tensor<4x6000xf32>) -> tensor<4x6000xf32>
  %8 = gv.reshape %y {shape = array<i64: 4, 1, 8>} : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
  %9 = gv.broadcast_to %8 {shape = array<i64: 4, 3, 8>} : (tensor<4x1x8xf32>) -> tensor<4x3x8xf32>
  %10 = gv.reshape %9 {shape = array<i64: 4, 24>} : (tensor<4x3x8xf32>) -> tensor<4x24xf32>
  %11 = gv.slice %10 {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>, stops = array<i64: 4, 24>} : (tensor<4x24xf32>) -> tensor<4x23xf32>
  func.return %3, %7, %11 : tensor<4x5999xf32>, tensor<4x6000xf32>, tensor<4x23xf32>
}

// -----
// What is read on two ways is where both find it.
// count: gv.kernel 1
func.func @two_ways(%x: tensor<4x16x128xf32>) -> tensor<8192xf32> {
  %0 = gv.reshape %x {shape = array<i64: 64, 128>} : (tensor<4x16x128xf32>) -> tensor<64x128xf32>
  %1 = gv.relu %0 : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %2 = gv.neg %0 : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %3 = gv.add %1, %2 : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %4 = gv.reshape %3 {shape = array<i64: 8192>} : (tensor<64x128xf32>) -> tensor<8192xf32>
  %5 = gv.abs %4 : (tensor<8192xf32>) -> tensor<8192xf32>
  func.return %5 : tensor<8192xf32>
}

// -----
// Not where few are moved, where rows stay rows, where a part is taken, or where a product walks it.
// count: gv.kernel 4
func.func @not_across_memory(%x: tensor<8x8xf32>, %h: tensor<64x4x32xf32>, %s: tensor<64x128xf32>, %w: tensor<64x64xf32>) -> (tensor<8x8xf32>, tensor<4x64x32xf32>, tensor<2x64xf32>, tensor<128x64xf32>) {
  %0 = gv.transpose %x {order = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = gv.add %0, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = gv.transpose %h {order = array<i64: 1, 0, 2>} : (tensor<64x4x32xf32>) -> tensor<4x64x32xf32>
  %3 = gv.relu %2 : (tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %4 = gv.transpose %s {order = array<i64: 1, 0>} : (tensor<64x128xf32>) -> tensor<128x64xf32>
  %5 = gv.slice %4 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = array<i64: 2, 64>} : (tensor<128x64xf32>) -> tensor<2x64xf32>
  %6 = gv.relu %5 : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %7 = gv.matmul %4, %w : (tensor<128x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
  func.return %1, %3, %6, %7 : tensor<8x8xf32>, tensor<4x64x32xf32>, tensor<2x64xf32>, tensor<128x64xf32>
}

// -----
// A sum for each row is no sum for each column, though there are as many.
// count: gv.kernel 2
func.func @rows_as_columns(%x: tensor<6x6xf32>, %w: tensor<6x6xf32>) -> tensor<6xf32> {
  %s = gv.sum %x {axes = array<i64: 1>} : (tensor<6x6xf32>) -> tensor<6xf32>
  %r = gv.reshape %s {shape = array<i64: 1, 6>} : (tensor<6xf32>) -> tensor<1x6xf32>
  %p = gv.mul %r, %w : (tensor<1x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %y = gv.sum %p {axes = array<i64: 1>} : (tensor<6x6xf32>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// -----
// Where rows stay rows, or nothing of them is left, one kernel walks them.
// count: gv.kernel 2
func.func @rows_as_rows(%x: tensor<6x6xf32>, %w: tensor<6x6xf32>, %b: tensor<1x6xf32>) -> (tensor<6x6xf32>, tensor<1x6xf32>) {
  %s = gv.sum %x {axes = array<i64: 1>} : (tensor<6x6xf32>) -> tensor<6xf32>
  %r = gv.reshape %s {shape = array<i64: 6, 1>} : (tensor<6xf32>) -> tensor<6x1xf32>
  %y = gv.mul %r, %x : (tensor<6x1xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %m = gv.max %w {axes = array<i64: 1>} : (tensor<6x6xf32>) -> tensor<6xf32>
  %t = gv.reshape %m {shape = array<i64: 1, 6>} : (tensor<6xf32>) -> tensor<1x6xf32>
  %z = gv.add %t, %b : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
  func.return %y, %z : tensor<6x6xf32>, tensor<1x6xf32>
}

// -----
// What is one for each channel is divided, and its root taken, once and not for each pixel.
// count: gv.kernel 2
builtin.module {
  func.func @channels(%x: tensor<4x32x32x8xf32>, %v: tensor<8xf32>) -> tensor<4x32x32x8xf32> {
    %0 = gv.rsqrt %v : (tensor<8xf32>) -> tensor<8xf32>
    %1 = gv.mul %x, %0 : (tensor<4x32x32x8xf32>, tensor<8xf32>) -> tensor<4x32x32x8xf32>
    func.return %1 : tensor<4x32x32x8xf32>
  }
}
