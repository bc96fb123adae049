// test: split-reductions
// A row is cut into parts that are rows of their own.
builtin.module attributes {gv.target = "cuda:sm_80"} {
  func.func @long(%x: tensor<2x64x1024xf32>) -> tensor<2xf32> {
    %0 = gv.sum %x {axes = array<i64: 1, 2>} : (tensor<2x64x1024xf32>) -> tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "cuda:sm_80"} {
//   func.func @long(%x: tensor<2x64x1024xf32>) -> tensor<2xf32> {
//     %0 = gv.reshape %x {shape = array<i64: 2, 128, 512>} : (tensor<2x64x1024xf32>) -> tensor<2x128x512xf32>
//     %1 = gv.sum %0 {axes = array<i64: 2>} : (tensor<2x128x512xf32>) -> tensor<2x128xf32>
//     %2 = gv.sum %1 {axes = array<i64: 1>} : (tensor<2x128xf32>) -> tensor<2xf32>
//     %3 = gv.reshape %2 {shape = array<i64: 2>} : (tensor<2xf32>) -> tensor<2xf32>
//     func.return %3 : tensor<2xf32>
//   }
// }

// -----
// Rows that are many, short, or not trailing are walked as they are.
// count: gv.max 3
// count: gv.reshape 0
builtin.module attributes {gv.target = "cuda:sm_80"} {
  func.func @plain(%x: tensor<256x4xf32>) -> (tensor<256xf32>, tensor<f32>, tensor<4xf32>) {
    %0 = gv.max %x {axes = array<i64: 1>} : (tensor<256x4xf32>) -> tensor<256xf32>
    %1 = gv.max %x {axes = array<i64: 0, 1>} : (tensor<256x4xf32>) -> tensor<f32>
    %2 = gv.max %x {axes = array<i64: 0>} : (tensor<256x4xf32>) -> tensor<4xf32>
    func.return %0, %1, %2 : tensor<256xf32>, tensor<f32>, tensor<4xf32>
  }
}

// -----
// Processors walk long rows well.
// count: gv.sum 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @processor(%x: tensor<65536xf32>) -> tensor<f32> {
    %0 = gv.sum %x {axes = array<i64: 0>} : (tensor<65536xf32>) -> tensor<f32>
    func.return %0 : tensor<f32>
  }
}
