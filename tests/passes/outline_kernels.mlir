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
