// test: infer-shapes{dims=N=4}

// differs: the shapes are others
func.func @symbol(%x: tensor<?x3xf32, #gv.dims<"N, 3">>) -> tensor<?xf32, #gv.dims<"3*N">> {
  %0 = gv.exp %x : (tensor<?x3xf32, #gv.dims<"N, 3">>) -> tensor<?x3xf32, #gv.dims<"N, 3">>
  %1 = gv.reshape %0 {shape = #gv.dims<"3*N">} : (tensor<?x3xf32, #gv.dims<"N, 3">>) -> tensor<?xf32, #gv.dims<"3*N">>
  func.return %1 : tensor<?xf32, #gv.dims<"3*N">>
}

// ->
// func.func @symbol(%x: tensor<4x3xf32>) -> tensor<12xf32> {
//   %0 = gv.exp %x : (tensor<4x3xf32>) -> tensor<4x3xf32>
//   %1 = gv.reshape %0 {shape = array<i64: 12>} : (tensor<4x3xf32>) -> tensor<12xf32>
//   func.return %1 : tensor<12xf32>
// }

// -----
// The range of N is gone with it; M stays.
// differs: the shapes are others
module attributes {gv.ranges = {N = array<i64: 1, 8>, M = array<i64: 1, 9>}} {
  func.func @range(%x: tensor<?x?xf32, #gv.dims<"N, M">>) -> tensor<?x?xf32, #gv.dims<"N, M">> {
    %0 = gv.pad %x {pads = [#gv.dims<"0, N">, #gv.dims<"0, M">]} : (tensor<?x?xf32, #gv.dims<"N, M">>) -> tensor<?x?xf32, #gv.dims<"2*N, 2*M">>
    %1 = gv.slice %0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = #gv.dims<"N, M">} : (tensor<?x?xf32, #gv.dims<"2*N, 2*M">>) -> tensor<?x?xf32, #gv.dims<"N, M">>
    func.return %1 : tensor<?x?xf32, #gv.dims<"N, M">>
  }
}

// ->
// builtin.module attributes {gv.ranges = {M = array<i64: 1, 9>}} {
//   func.func @range(%x: tensor<4x?xf32, #gv.dims<"4, M">>) -> tensor<4x?xf32, #gv.dims<"4, M">> {
//     %0 = gv.pad %x {pads = [array<i64: 0, 4>, #gv.dims<"0, M">]} : (tensor<4x?xf32, #gv.dims<"4, M">>) -> tensor<8x?xf32, #gv.dims<"8, 2*M">>
//     %1 = gv.slice %0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = #gv.dims<"4, M">} : (tensor<8x?xf32, #gv.dims<"8, 2*M">>) -> tensor<4x?xf32, #gv.dims<"4, M">>
//     func.return %1 : tensor<4x?xf32, #gv.dims<"4, M">>
//   }
// }

// -----
// Nothing to change.
func.func @static(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// ->
// func.func @static(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %0 : tensor<2xf32>
// }

// -----
// All that does not fit is reported.
func.func @misfits(%x: tensor<?xf32, #gv.dims<"N">>, %y: tensor<?xf32, #gv.dims<"N + 1">>) -> (tensor<?x2xf32, #gv.dims<"(N + 1) // 2, 2">>, tensor<6xf32>) {
  %0 = gv.slice %x {starts = array<i64: 0>, steps = array<i64: 1>, stops = array<i64: 6>} : (tensor<?xf32, #gv.dims<"N">>) -> tensor<6xf32> // error: stop 6, expected 0 to 4
  %1 = gv.reshape %y {shape = #gv.dims<"(N + 1) // 2, 2">} : (tensor<?xf32, #gv.dims<"N + 1">>) -> tensor<?x2xf32, #gv.dims<"(N + 1) // 2, 2">> // error: expected 5
  func.return %1, %0 : tensor<?x2xf32, #gv.dims<"(N + 1) // 2, 2">>, tensor<6xf32>
}
