// test: fuse, merge-recurrent

// Steps for one row: eight vectors a panel, whose rounds compute gates of the eight steps after.
builtin.module attributes {gv.target = "x86-64-v4"} {
  func.func @one(%x: tensor<20x1x80xf32>, %w: tensor<8x80x64xf32>, %b: tensor<512xf32>, %r: tensor<4x128x128xf32>, %h: tensor<1x128xf32>, %c: tensor<1x128xf32>) -> tensor<20x1x128xf32> {
    %0 = gv.reshape %x {shape = array<i64: 20, 80>} : (tensor<20x1x80xf32>) -> tensor<20x80xf32>
    %1 = gv.matmul_packed %0, %w {columns = 512 : i64} : (tensor<20x80xf32>, tensor<8x80x64xf32>) -> tensor<20x512xf32>
    %2 = gv.add %1, %b : (tensor<20x512xf32>, tensor<512xf32>) -> tensor<20x512xf32>
    %3 = gv.reshape %2 {shape = array<i64: 20, 1, 512>} : (tensor<20x512xf32>) -> tensor<20x1x512xf32>
    %4, %5, %6 = gv.lstm_packed %3, %r, %h, %c : (tensor<20x1x512xf32>, tensor<4x128x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) -> (tensor<20x1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>)
    func.return %4 : tensor<20x1x128xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v4", gv.level = "fused"} {
//   func.func @one(%x: tensor<20x1x80xf32>, %w: tensor<8x80x64xf32>, %b: tensor<512xf32>, %r: tensor<4x128x128xf32>, %h: tensor<1x128xf32>, %c: tensor<1x128xf32>) -> tensor<20x1x128xf32> {
//     %0, %1, %2, %3 = gv.kernel %x, %w, %b, %r, %h, %c ({
//     ^bb0(%x_1: tensor<20x1x80xf32>, %w_1: tensor<8x80x64xf32>, %b_1: tensor<512xf32>, %r_1: tensor<4x128x128xf32>, %h_1: tensor<1x128xf32>, %c_1: tensor<1x128xf32>):
//       %4 = gv.reshape %x_1 {shape = array<i64: 20, 80>} : (tensor<20x1x80xf32>) -> tensor<20x80xf32>
//       %5 = gv.matmul_packed %4, %w_1 {columns = 512 : i64} : (tensor<20x80xf32>, tensor<8x80x64xf32>) -> tensor<20x512xf32>
//       %6 = gv.add %5, %b_1 : (tensor<20x512xf32>, tensor<512xf32>) -> tensor<20x512xf32>
//       %7 = gv.reshape %6 {shape = array<i64: 20, 1, 512>} : (tensor<20x512xf32>) -> tensor<20x1x512xf32>
//       %8, %9, %10 = gv.lstm_packed %7, %r_1, %h_1, %c_1 : (tensor<20x1x512xf32>, tensor<4x128x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) -> (tensor<20x1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>)
//       gv.yield %6, %8, %9, %10 : (tensor<20x512xf32>, tensor<20x1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) -> ()
//     }) {kind = "rnn"} : (tensor<20x1x80xf32>, tensor<8x80x64xf32>, tensor<512xf32>, tensor<4x128x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) -> (tensor<20x512xf32>, tensor<20x1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>)
//     func.return %1 : tensor<20x1x128xf32>
//   }
// }

// -----
// A product of two rows has sums enough, and one whose result something else needs is made at once.
// count: gv.kernel 4
builtin.module attributes {gv.target = "x86-64-v4"} {
  func.func @two(%p: tensor<40x80xf32>, %w: tensor<8x80x64xf32>, %b: tensor<512xf32>, %r: tensor<4x128x128xf32>, %h: tensor<2x128xf32>, %c: tensor<2x128xf32>) -> tensor<20x2x128xf32> {
    %1 = gv.matmul_packed %p, %w {columns = 512 : i64} : (tensor<40x80xf32>, tensor<8x80x64xf32>) -> tensor<40x512xf32>
    %2 = gv.add %1, %b : (tensor<40x512xf32>, tensor<512xf32>) -> tensor<40x512xf32>
    %3 = gv.reshape %2 {shape = array<i64: 20, 2, 512>} : (tensor<40x512xf32>) -> tensor<20x2x512xf32>
    %4, %5, %6 = gv.lstm_packed %3, %r, %h, %c : (tensor<20x2x512xf32>, tensor<4x128x128xf32>, tensor<2x128xf32>, tensor<2x128xf32>) -> (tensor<20x2x128xf32>, tensor<2x128xf32>, tensor<2x128xf32>)
    func.return %4 : tensor<20x2x128xf32>
  }
  func.func @used(%p: tensor<20x80xf32>, %w: tensor<8x80x64xf32>, %b: tensor<512xf32>, %r: tensor<4x128x128xf32>, %h: tensor<1x128xf32>, %c: tensor<1x128xf32>) -> (tensor<20x1x128xf32>, tensor<20x512xf32>) {
    %1 = gv.matmul_packed %p, %w {columns = 512 : i64} : (tensor<20x80xf32>, tensor<8x80x64xf32>) -> tensor<20x512xf32>
    %2 = gv.add %1, %b : (tensor<20x512xf32>, tensor<512xf32>) -> tensor<20x512xf32>
    %3 = gv.reshape %2 {shape = array<i64: 20, 1, 512>} : (tensor<20x512xf32>) -> tensor<20x1x512xf32>
    %4, %5, %6 = gv.lstm_packed %3, %r, %h, %c : (tensor<20x1x512xf32>, tensor<4x128x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) -> (tensor<20x1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>)
    func.return %4, %2 : tensor<20x1x128xf32>, tensor<20x512xf32>
  }
}

// -----
// Sixteen registers do not have room for both.
// count: gv.kernel 2
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @narrow(%p: tensor<20x80xf32>, %w: tensor<5x80x24xf32>, %b: tensor<112xf32>, %r: tensor<2x112x56xf32>, %h: tensor<1x112xf32>) -> tensor<20x1x112xf32> {
    %1 = gv.matmul_packed %p, %w {columns = 112 : i64} : (tensor<20x80xf32>, tensor<5x80x24xf32>) -> tensor<20x112xf32>
    %2 = gv.add %1, %b : (tensor<20x112xf32>, tensor<112xf32>) -> tensor<20x112xf32>
    %3 = gv.reshape %2 {shape = array<i64: 20, 1, 112>} : (tensor<20x112xf32>) -> tensor<20x1x112xf32>
    %4, %5 = gv.rnn_packed %3, %r, %h : (tensor<20x1x112xf32>, tensor<2x112x56xf32>, tensor<1x112xf32>) -> (tensor<20x1x112xf32>, tensor<1x112xf32>)
    func.return %4 : tensor<20x1x112xf32>
  }
}

// -----
// Weights that do not stay in L2 are waited for with those of the inputs, and few inputs are no work.
// count: gv.kernel 4
builtin.module attributes {gv.target = "x86-64-v4"} {
  func.func @large(%p: tensor<20x512xf32>, %w: tensor<32x512x64xf32>, %b: tensor<2048xf32>, %r: tensor<16x512x128xf32>, %h: tensor<1x512xf32>, %c: tensor<1x512xf32>) -> tensor<20x1x512xf32> {
    %1 = gv.matmul_packed %p, %w {columns = 2048 : i64} : (tensor<20x512xf32>, tensor<32x512x64xf32>) -> tensor<20x2048xf32>
    %2 = gv.add %1, %b : (tensor<20x2048xf32>, tensor<2048xf32>) -> tensor<20x2048xf32>
    %3 = gv.reshape %2 {shape = array<i64: 20, 1, 2048>} : (tensor<20x2048xf32>) -> tensor<20x1x2048xf32>
    %4, %5, %6 = gv.lstm_packed %3, %r, %h, %c : (tensor<20x1x2048xf32>, tensor<16x512x128xf32>, tensor<1x512xf32>, tensor<1x512xf32>) -> (tensor<20x1x512xf32>, tensor<1x512xf32>, tensor<1x512xf32>)
    func.return %4 : tensor<20x1x512xf32>
  }
  func.func @few(%p: tensor<20x32xf32>, %w: tensor<8x32x64xf32>, %b: tensor<512xf32>, %r: tensor<4x128x128xf32>, %h: tensor<1x128xf32>, %c: tensor<1x128xf32>) -> tensor<20x1x128xf32> {
    %1 = gv.matmul_packed %p, %w {columns = 512 : i64} : (tensor<20x32xf32>, tensor<8x32x64xf32>) -> tensor<20x512xf32>
    %2 = gv.add %1, %b : (tensor<20x512xf32>, tensor<512xf32>) -> tensor<20x512xf32>
    %3 = gv.reshape %2 {shape = array<i64: 20, 1, 512>} : (tensor<20x512xf32>) -> tensor<20x1x512xf32>
    %4, %5, %6 = gv.lstm_packed %3, %r, %h, %c : (tensor<20x1x512xf32>, tensor<4x128x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) -> (tensor<20x1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>)
    func.return %4 : tensor<20x1x128xf32>
  }
}
// -----
// Beside a kernel without operands.
// count: gv.kernel 2
builtin.module attributes {gv.target = "x86-64-v4"} {
  func.func @alone(%x: tensor<2x1x16xf32>, %r: tensor<1x4x16xf32>, %h: tensor<1x4xf32>, %c: tensor<1x4xf32>) -> (tensor<2x1x4xf32>, tensor<1xf32>) {
    %0 = gv.constant {value = #gv.array<f32, "1", [0.5]>} : () -> tensor<1xf32>
    %1 = gv.exp %0 : (tensor<1xf32>) -> tensor<1xf32>
    %2, %3, %4 = gv.lstm_packed %x, %r, %h, %c : (tensor<2x1x16xf32>, tensor<1x4x16xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> (tensor<2x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
    func.return %2, %1 : tensor<2x1x4xf32>, tensor<1xf32>
  }
}
