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

// -----
// The keys of few queries are shared by blocks, whose parts are put together.
builtin.module attributes {gv.target = "cuda:sm_80"} {
  func.func @decode(%q: tensor<2x4x1x8xf16>, %k: tensor<2x1x600x8xf16>, %v: tensor<2x1x600x4xf16>) -> tensor<2x4x1x4xf16> {
    %0 = gv.attention %q, %k, %v {scale = 0.5 : f64, softcap = 0.0 : f64, causal = false, zeros = true} : (tensor<2x4x1x8xf16>, tensor<2x1x600x8xf16>, tensor<2x1x600x4xf16>) -> tensor<2x4x1x4xf16>
    func.return %0 : tensor<2x4x1x4xf16>
  }
}

// ->
// builtin.module attributes {gv.target = "cuda:sm_80"} {
//   func.func @decode(%q: tensor<2x4x1x8xf16>, %k: tensor<2x1x600x8xf16>, %v: tensor<2x1x600x4xf16>) -> tensor<2x4x1x4xf16> {
//     %0 = gv.attention_parts %q, %k, %v {scale = 5.000000e-01 : f64, step = 256 : i64} : (tensor<2x4x1x8xf16>, tensor<2x1x600x8xf16>, tensor<2x1x600x4xf16>) -> tensor<3x2x4x1x6xf32>
//     %1 = gv.slice %0 {starts = array<i64: 0, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>, stops = array<i64: 3, 2, 4, 1, 4>} : (tensor<3x2x4x1x6xf32>) -> tensor<3x2x4x1x4xf32>
//     %2 = gv.slice %0 {starts = array<i64: 0, 0, 0, 0, 4>, steps = array<i64: 1, 1, 1, 1, 1>, stops = array<i64: 3, 2, 4, 1, 5>} : (tensor<3x2x4x1x6xf32>) -> tensor<3x2x4x1x1xf32>
//     %3 = gv.slice %0 {starts = array<i64: 0, 0, 0, 0, 5>, steps = array<i64: 1, 1, 1, 1, 1>, stops = array<i64: 3, 2, 4, 1, 6>} : (tensor<3x2x4x1x6xf32>) -> tensor<3x2x4x1x1xf32>
//     %4 = gv.broadcast_to %1 {shape = array<i64: 3, 2, 4, 1, 4>} : (tensor<3x2x4x1x4xf32>) -> tensor<3x2x4x1x4xf32>
//     %5 = gv.broadcast_to %2 {shape = array<i64: 3, 2, 4, 1, 4>} : (tensor<3x2x4x1x1xf32>) -> tensor<3x2x4x1x4xf32>
//     %6 = gv.broadcast_to %3 {shape = array<i64: 3, 2, 4, 1, 4>} : (tensor<3x2x4x1x1xf32>) -> tensor<3x2x4x1x4xf32>
//     %7 = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>
//     %8 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//     %9 = gv.max %5 {axes = array<i64: 0>, keepdims = true} : (tensor<3x2x4x1x4xf32>) -> tensor<1x2x4x1x4xf32>
//     %10 = gv.equal %9, %7 : (tensor<1x2x4x1x4xf32>, tensor<f32>) -> tensor<1x2x4x1x4xi1>
//     %11 = gv.select %10, %8, %9 : (tensor<1x2x4x1x4xi1>, tensor<f32>, tensor<1x2x4x1x4xf32>) -> tensor<1x2x4x1x4xf32>
//     %12 = gv.sub %5, %11 : (tensor<3x2x4x1x4xf32>, tensor<1x2x4x1x4xf32>) -> tensor<3x2x4x1x4xf32>
//     %13 = gv.exp %12 : (tensor<3x2x4x1x4xf32>) -> tensor<3x2x4x1x4xf32>
//     %14 = gv.mul %6, %13 : (tensor<3x2x4x1x4xf32>, tensor<3x2x4x1x4xf32>) -> tensor<3x2x4x1x4xf32>
//     %15 = gv.sum %14 {axes = array<i64: 0>, keepdims = true} : (tensor<3x2x4x1x4xf32>) -> tensor<1x2x4x1x4xf32>
//     %16 = gv.mul %4, %13 : (tensor<3x2x4x1x4xf32>, tensor<3x2x4x1x4xf32>) -> tensor<3x2x4x1x4xf32>
//     %17 = gv.sum %16 {axes = array<i64: 0>, keepdims = true} : (tensor<3x2x4x1x4xf32>) -> tensor<1x2x4x1x4xf32>
//     %18 = gv.div %17, %15 : (tensor<1x2x4x1x4xf32>, tensor<1x2x4x1x4xf32>) -> tensor<1x2x4x1x4xf32>
//     %19 = gv.equal %15, %8 : (tensor<1x2x4x1x4xf32>, tensor<f32>) -> tensor<1x2x4x1x4xi1>
//     %20 = gv.select %19, %8, %18 : (tensor<1x2x4x1x4xi1>, tensor<f32>, tensor<1x2x4x1x4xf32>) -> tensor<1x2x4x1x4xf32>
//     %21 = gv.reshape %20 {shape = array<i64: 2, 4, 1, 4>} : (tensor<1x2x4x1x4xf32>) -> tensor<2x4x1x4xf32>
//     %22 = gv.cast %21 {dtype = #gv.dtype<f16>} : (tensor<2x4x1x4xf32>) -> tensor<2x4x1x4xf16>
//     func.return %22 : tensor<2x4x1x4xf16>
//   }
// }

// -----
// Many queries, or many batches, keep all processors busy.
// count: gv.attention 2
builtin.module attributes {gv.target = "cuda:sm_80"} {
  func.func @many(%q: tensor<64x8xf16>, %k: tensor<600x8xf16>, %p: tensor<300x1x8xf16>, %l: tensor<300x600x8xf16>) -> (tensor<64x8xf16>, tensor<300x1x8xf16>) {
    %0 = gv.attention %q, %k, %k {scale = 0.5 : f64, softcap = 0.0 : f64, causal = false, zeros = false} : (tensor<64x8xf16>, tensor<600x8xf16>, tensor<600x8xf16>) -> tensor<64x8xf16>
    %1 = gv.attention %p, %l, %l {scale = 0.5 : f64, softcap = 0.0 : f64, causal = false, zeros = false} : (tensor<300x1x8xf16>, tensor<300x600x8xf16>, tensor<300x600x8xf16>) -> tensor<300x1x8xf16>
    func.return %0, %1 : tensor<64x8xf16>, tensor<300x1x8xf16>
  }
}

// -----
// Threads share rows that are added up.
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @rows(%x: tensor<8x512x64xf32>) -> tensor<1x1x64xf32> {
    %0 = gv.sum %x {axes = array<i64: 0, 1>, keepdims = true} : (tensor<8x512x64xf32>) -> tensor<1x1x64xf32>
    func.return %0 : tensor<1x1x64xf32>
  }
}

// ->
// builtin.module attributes {gv.target = "x86-64-v3"} {
//   func.func @rows(%x: tensor<8x512x64xf32>) -> tensor<1x1x64xf32> {
//     %0 = gv.reshape %x {shape = array<i64: 4, 2, 512, 64>} : (tensor<8x512x64xf32>) -> tensor<4x2x512x64xf32>
//     %1 = gv.sum %0 {axes = array<i64: 1, 2>} : (tensor<4x2x512x64xf32>) -> tensor<4x64xf32>
//     %2 = gv.sum %1 {axes = array<i64: 0>} : (tensor<4x64xf32>) -> tensor<64xf32>
//     %3 = gv.reshape %2 {shape = array<i64: 1, 1, 64>} : (tensor<64xf32>) -> tensor<1x1x64xf32>
//     func.return %3 : tensor<1x1x64xf32>
//   }
// }

// -----
// Few rows, and sums along rows, stay as they are.
// count: gv.sum 2
// count: gv.reshape 0
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @few(%x: tensor<512x64xf32>, %y: tensor<8x512x64xf32>) -> (tensor<64xf32>, tensor<8xf32>) {
    %0 = gv.sum %x {axes = array<i64: 0>} : (tensor<512x64xf32>) -> tensor<64xf32>
    %1 = gv.sum %y {axes = array<i64: 1, 2>} : (tensor<8x512x64xf32>) -> tensor<8xf32>
    func.return %0, %1 : tensor<64xf32>, tensor<8xf32>
  }
}

// -----
// Threads share the keys of a single head.
// count: gv.attention 0
// count: gv.attention_parts 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @a_head(%q: tensor<1x1x8xf32>, %k: tensor<1x3000x8xf32>) -> tensor<1x1x8xf32> {
    %0 = gv.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x1x8xf32>, tensor<1x3000x8xf32>, tensor<1x3000x8xf32>) -> tensor<1x1x8xf32>
    func.return %0 : tensor<1x1x8xf32>
  }
}

// -----
// Of many heads each thread has some.
// count: gv.attention 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @eight_heads(%q: tensor<8x1x8xf32>, %k: tensor<8x3000x8xf32>) -> tensor<8x1x8xf32> {
    %0 = gv.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<8x1x8xf32>, tensor<8x3000x8xf32>, tensor<8x3000x8xf32>) -> tensor<8x1x8xf32>
    func.return %0 : tensor<8x1x8xf32>
  }
}

// -----
// Rows are so long that what their parts come to would be as much again.
// count: gv.sum 1
builtin.module attributes {gv.target = "x86-64-v3"} {
  func.func @wide(%x: tensor<64x65536xf32>) -> tensor<65536xf32> {
    %0 = gv.sum %x {axes = array<i64: 0>} : (tensor<64x65536xf32>) -> tensor<65536xf32>
    func.return %0 : tensor<65536xf32>
  }
}

// -----
// Rows are reduced before what lies across them, of open sizes, too.
func.func @ends(%x: tensor<?x8x30x30xf32, #gv.dims<"n, 8, 30, 30">>) -> tensor<8xf32> {
  %0 = gv.max %x {axes = array<i64: 0, 2, 3>} : (tensor<?x8x30x30xf32, #gv.dims<"n, 8, 30, 30">>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// ->
// func.func @ends(%x: tensor<?x8x30x30xf32, #gv.dims<"n, 8, 30, 30">>) -> tensor<8xf32> {
//   %0 = gv.reshape %x {shape = #gv.dims<"n, 8, 30, 30">} : (tensor<?x8x30x30xf32, #gv.dims<"n, 8, 30, 30">>) -> tensor<?x8x30x30xf32, #gv.dims<"n, 8, 30, 30">>
//   %1 = gv.max %0 {axes = array<i64: 2, 3>} : (tensor<?x8x30x30xf32, #gv.dims<"n, 8, 30, 30">>) -> tensor<?x8xf32, #gv.dims<"n, 8">>
//   %2 = gv.max %1 {axes = array<i64: 0>} : (tensor<?x8xf32, #gv.dims<"n, 8">>) -> tensor<8xf32>
//   %3 = gv.reshape %2 {shape = array<i64: 8>} : (tensor<8xf32>) -> tensor<8xf32>
//   func.return %3 : tensor<8xf32>
// }

// -----
// Short rows are not worth it.
// count: gv.sum 1
func.func @short_ends(%x: tensor<100x8x3xf32>) -> tensor<8xf32> {
  %0 = gv.sum %x {axes = array<i64: 0, 2>} : (tensor<100x8x3xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
