// test: fuse,outline-kernels

// Equal kernels are one function.
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = gv.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = gv.matmul %0, %0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %1 : tensor<2x2xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
//     %0 = func.call @k0(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
//     %1 = func.call @k0(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
//     func.return %1 : tensor<2x2xf32>
//   }
//   func.func private @k0(%x: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {gv.kind = "gemm"} {
//     %0 = gv.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//     func.return %0 : tensor<2x2xf32>
//   }
// }

// -----
// Kernels that differ in an attribute are two.
// count: func.func 3
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = gv.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = gv.matmul %0, %0 {transpose_rhs = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %1 : tensor<2x2xf32>
}

// -----
// A kernel has symbols of its own.
func.func @main(%x: tensor<?xf32, #gv.dims<"N">>) -> tensor<?xf32, #gv.dims<"N">> {
  %0 = gv.exp %x : (tensor<?xf32, #gv.dims<"N">>) -> tensor<?xf32, #gv.dims<"N">>
  func.return %0 : tensor<?xf32, #gv.dims<"N">>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @main(%x: tensor<?xf32, #gv.dims<"N">>) -> tensor<?xf32, #gv.dims<"N">> {
//     %0 = func.call @k0(%x) : (tensor<?xf32, #gv.dims<"N">>) -> tensor<?xf32, #gv.dims<"N">>
//     func.return %0 : tensor<?xf32, #gv.dims<"N">>
//   }
//   func.func private @k0(%x: tensor<?xf32, #gv.dims<"N">>) -> tensor<?xf32, #gv.dims<"N">> attributes {gv.kind = "map", gv.symbols = ["N"]} {
//     %0 = gv.exp %x : (tensor<?xf32, #gv.dims<"N">>) -> tensor<?xf32, #gv.dims<"N">>
//     func.return %0 : tensor<?xf32, #gv.dims<"N">>
//   }
// }

// -----
// A large result that only the caller reads is written past the caches; one that is read is not.
func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = gv.cumsum %x {axis = 0 : i64} : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %1 = gv.neg %0 : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  func.return %1 : tensor<4096x1024xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
//     %0 = func.call @k0(%x) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
//     %1 = func.call @k1(%0) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
//     func.return %1 : tensor<4096x1024xf32>
//   }
//   func.func private @k0(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes {gv.kind = "scan"} {
//     %0 = gv.cumsum %x {axis = 0 : i64} : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
//     func.return %0 : tensor<4096x1024xf32>
//   }
//   func.func private @k1(%0: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes {gv.streamed, gv.kind = "map"} {
//     %1 = gv.neg %0 : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
//     func.return %1 : tensor<4096x1024xf32>
//   }
// }

// -----
// A product of weights is told how many bytes of weights are read next, up to the next product.
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %u = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 1, 16, 16>, weight = @u} : () -> tensor<1x16x16xf32>
  %b = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 16>, weight = @b} : () -> tensor<16xf32>
  %w = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 1, 16, 16>, weight = @w} : () -> tensor<1x16x16xf32>
  %0 = gv.matmul_packed %x, %u {columns = 16 : i64} : (tensor<4x16xf32>, tensor<1x16x16xf32>) -> tensor<4x16xf32>
  %1 = gv.cumsum %0 {axis = 0 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = gv.sub %1, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %3 = gv.matmul_packed %2, %w {columns = 16 : i64} : (tensor<4x16xf32>, tensor<1x16x16xf32>) -> tensor<4x16xf32>
  func.return %3 : tensor<4x16xf32>
}

// ->
// builtin.module attributes {gv.level = "fused"} {
//   func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
//     %u = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 1, 16, 16>, weight = @u} : () -> tensor<1x16x16xf32>
//     %b = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 16>, weight = @b} : () -> tensor<16xf32>
//     %w = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 1, 16, 16>, weight = @w} : () -> tensor<1x16x16xf32>
//     %0 = func.call @k0(%x, %u) : (tensor<4x16xf32>, tensor<1x16x16xf32>) -> tensor<4x16xf32>
//     %1 = func.call @k1(%0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
//     %2 = func.call @k2(%1, %b) : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
//     %3 = func.call @k3(%2, %w) : (tensor<4x16xf32>, tensor<1x16x16xf32>) -> tensor<4x16xf32>
//     func.return %3 : tensor<4x16xf32>
//   }
//   func.func private @k0(%x: tensor<4x16xf32>, %u: tensor<1x16x16xf32>) -> tensor<4x16xf32> attributes {gv.behind = 1088 : i64, gv.kind = "gemm"} {
//     %0 = gv.matmul_packed %x, %u {columns = 16 : i64} : (tensor<4x16xf32>, tensor<1x16x16xf32>) -> tensor<4x16xf32>
//     func.return %0 : tensor<4x16xf32>
//   }
//   func.func private @k1(%0: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {gv.kind = "scan"} {
//     %1 = gv.cumsum %0 {axis = 0 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
//     func.return %1 : tensor<4x16xf32>
//   }
//   func.func private @k2(%0: tensor<4x16xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> attributes {gv.kind = "map"} {
//     %1 = gv.sub %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
//     func.return %1 : tensor<4x16xf32>
//   }
//   func.func private @k3(%0: tensor<4x16xf32>, %w: tensor<1x16x16xf32>) -> tensor<4x16xf32> attributes {gv.kind = "gemm"} {
//     %1 = gv.matmul_packed %0, %w {columns = 16 : i64} : (tensor<4x16xf32>, tensor<1x16x16xf32>) -> tensor<4x16xf32>
//     func.return %1 : tensor<4x16xf32>
//   }
// }
