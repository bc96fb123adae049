// test: pack-recurrent
// One product for all steps; weights of the state in panels.
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @forward(%x: tensor<3x2x4xf32>, %w: tensor<1x20x4xf32>, %r: tensor<1x20x5xf32>, %b: tensor<1x40xf32>, %h: tensor<1x2x5xf32>, %c: tensor<1x2x5xf32>) -> (tensor<3x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>) {
    %0, %1, %2 = gv.lstm %x, %w, %r, %b, %h, %c : (tensor<3x2x4xf32>, tensor<1x20x4xf32>, tensor<1x20x5xf32>, tensor<1x40xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>) -> (tensor<3x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
    func.return %0, %1, %2 : tensor<3x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v3"} {
//   func.func @forward(%x: tensor<3x2x4xf32>, %w: tensor<1x20x4xf32>, %r: tensor<1x20x5xf32>, %b: tensor<1x40xf32>, %h: tensor<1x2x5xf32>, %c: tensor<1x2x5xf32>) -> (tensor<3x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>) {
//     %0 = gv.reshape %w {shape = array<i64: 20, 4>} : (tensor<1x20x4xf32>) -> tensor<20x4xf32>
//     %1 = gv.reshape %r {shape = array<i64: 20, 5>} : (tensor<1x20x5xf32>) -> tensor<20x5xf32>
//     %2 = gv.reshape %b {shape = array<i64: 40>} : (tensor<1x40xf32>) -> tensor<40xf32>
//     %3 = gv.reshape %h {shape = array<i64: 2, 5>} : (tensor<1x2x5xf32>) -> tensor<2x5xf32>
//     %4 = gv.reshape %c {shape = array<i64: 2, 5>} : (tensor<1x2x5xf32>) -> tensor<2x5xf32>
//     %5 = gv.reshape %x {shape = array<i64: 6, 4>} : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
//     %6 = gv.matmul %5, %0 {transpose_rhs = true} : (tensor<6x4xf32>, tensor<20x4xf32>) -> tensor<6x20xf32>
//     %7 = gv.slice %2 {starts = array<i64: 0>, steps = array<i64: 1>, stops = array<i64: 20>} : (tensor<40xf32>) -> tensor<20xf32>
//     %8 = gv.slice %2 {starts = array<i64: 20>, steps = array<i64: 1>, stops = array<i64: 40>} : (tensor<40xf32>) -> tensor<20xf32>
//     %9 = gv.add %7, %8 : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
//     %10 = gv.add %6, %9 : (tensor<6x20xf32>, tensor<20xf32>) -> tensor<6x20xf32>
//     %11 = gv.reshape %10 {shape = array<i64: 3, 2, 20>} : (tensor<6x20xf32>) -> tensor<3x2x20xf32>
//     %12 = gv.transpose %1 {order = array<i64: 1, 0>} : (tensor<20x5xf32>) -> tensor<5x20xf32>
//     %13 = gv.pad %12 {pads = [array<i64: 0, 0>, array<i64: 0, 4>]} : (tensor<5x20xf32>) -> tensor<5x24xf32>
//     %14 = gv.reshape %13 {shape = array<i64: 5, 1, 24>} : (tensor<5x24xf32>) -> tensor<5x1x24xf32>
//     %15 = gv.transpose %14 {order = array<i64: 1, 0, 2>} : (tensor<5x1x24xf32>) -> tensor<1x5x24xf32>
//     %16, %17, %18 = gv.lstm_packed %11, %15, %3, %4 : (tensor<3x2x20xf32>, tensor<1x5x24xf32>, tensor<2x5xf32>, tensor<2x5xf32>) -> (tensor<3x2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>)
//     %19 = gv.reshape %16 {shape = array<i64: 3, 1, 2, 5>} : (tensor<3x2x5xf32>) -> tensor<3x1x2x5xf32>
//     %20 = gv.reshape %17 {shape = array<i64: 1, 2, 5>} : (tensor<2x5xf32>) -> tensor<1x2x5xf32>
//     %21 = gv.reshape %18 {shape = array<i64: 1, 2, 5>} : (tensor<2x5xf32>) -> tensor<1x2x5xf32>
//     func.return %19, %20, %21 : tensor<3x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>
//   }
// }

// -----
// Each direction by itself; elements of 16 bits are computed in f32.
// count: gv.rnn_packed 2
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @both(%x: tensor<3x2x4xf16>, %w: tensor<2x5x4xf16>, %r: tensor<2x5x5xf16>, %b: tensor<2x10xf16>, %h: tensor<2x2x5xf16>) -> (tensor<3x2x2x5xf16>, tensor<2x2x5xf16>) {
    %0, %1 = gv.rnn %x, %w, %r, %b, %h {activation = "relu", direction = "bidirectional"} : (tensor<3x2x4xf16>, tensor<2x5x4xf16>, tensor<2x5x5xf16>, tensor<2x10xf16>, tensor<2x2x5xf16>) -> (tensor<3x2x2x5xf16>, tensor<2x2x5xf16>)
    func.return %0, %1 : tensor<3x2x2x5xf16>, tensor<2x2x5xf16>
  }
}

// -----
// The state's part of the new state has weights and a bias of its own.
// count: gv.gru_packed 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @gated(%x: tensor<3x2x4xf32>, %w: tensor<1x15x4xf32>, %r: tensor<1x15x5xf32>, %b: tensor<1x30xf32>, %h: tensor<1x2x5xf32>) -> (tensor<3x1x2x5xf32>, tensor<1x2x5xf32>) {
    %0, %1 = gv.gru %x, %w, %r, %b, %h {direction = "reverse", linear_before_reset = true} : (tensor<3x2x4xf32>, tensor<1x15x4xf32>, tensor<1x15x5xf32>, tensor<1x30xf32>, tensor<1x2x5xf32>) -> (tensor<3x1x2x5xf32>, tensor<1x2x5xf32>)
    func.return %0, %1 : tensor<3x1x2x5xf32>, tensor<1x2x5xf32>
  }
}
