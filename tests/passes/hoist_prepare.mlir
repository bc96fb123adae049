// test: hoist-prepare

func.func @chain(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3>, weight = @w} : () -> tensor<4x3xf32>
  %1 = gv.transpose %0 {order = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %2 = gv.neg %1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = gv.matmul %x, %2 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %3 : tensor<2x4xf32>
}

// ->
// func.func @chain(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3, 4>, weight = @prepared.0} : () -> tensor<3x4xf32>
//   %1 = gv.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
//   func.return %1 : tensor<2x4xf32>
// }
// func.func @prepare() -> (tensor<3x4xf32> {gv.name = "prepared.0"}) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 3>, weight = @w} : () -> tensor<4x3xf32>
//   %1 = gv.transpose %0 {order = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
//   %2 = gv.neg %1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
//   func.return %2 : tensor<3x4xf32>
// }

// -----
func.func @with_constants(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %2 = gv.mul %0, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = gv.add %x, %2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @with_constants(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @prepared.0} : () -> tensor<3xf32>
//   %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }
// func.func @prepare() -> (tensor<3xf32> {gv.name = "prepared.0"}) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
//   %1 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %2 = gv.mul %0, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
//   func.return %2 : tensor<3xf32>
// }

// -----
// Without a weight, this is the matter of constant-fold.
func.func @constants_alone(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "3", [1.0, 2.0, 3.0]>} : () -> tensor<3xf32>
  %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = gv.add %x, %1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// ->
// func.func @constants_alone(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "3", [1.0, 2.0, 3.0]>} : () -> tensor<3xf32>
//   %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
//   %2 = gv.add %x, %1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
// A weight is stored already.
func.func @weight_alone(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
  %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @weight_alone(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
//   %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
// The broadcast would be stored at twice the size.
func.func @broadcast_stays(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
  %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = gv.broadcast_to %1 {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %3 = gv.add %x, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @broadcast_stays(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @prepared.0} : () -> tensor<3xf32>
//   %1 = gv.broadcast_to %0 {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
//   %2 = gv.add %x, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }
// func.func @prepare() -> (tensor<3xf32> {gv.name = "prepared.0"}) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
//   %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
//   func.return %1 : tensor<3xf32>
// }

// -----
// Both values are needed, and computed from the weight once.
func.func @used_in_the_middle(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
  %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = gv.exp %1 : (tensor<3xf32>) -> tensor<3xf32>
  %3 = gv.add %x, %1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4 = gv.add %3, %2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %4 : tensor<2x3xf32>
}

// ->
// func.func @used_in_the_middle(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @prepared.0} : () -> tensor<3xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @prepared.1} : () -> tensor<3xf32>
//   %2 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   %3 = gv.add %2, %1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %3 : tensor<2x3xf32>
// }
// func.func @prepare() -> (tensor<3xf32> {gv.name = "prepared.0"}, tensor<3xf32> {gv.name = "prepared.1"}) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
//   %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
//   %2 = gv.exp %1 : (tensor<3xf32>) -> tensor<3xf32>
//   func.return %1, %2 : tensor<3xf32>, tensor<3xf32>
// }

// -----
func.func @returned() -> tensor<3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
  %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
  func.return %1 : tensor<3xf32>
}

// ->
// func.func @returned() -> tensor<3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @prepared.0} : () -> tensor<3xf32>
//   func.return %0 : tensor<3xf32>
// }
// func.func @prepare() -> (tensor<3xf32> {gv.name = "prepared.0"}) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
//   %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
//   func.return %1 : tensor<3xf32>
// }

// -----
// How much is taken differs from call to call.
builtin.module attributes {gv.ranges = {N = array<i64: 1, 8>}} {
  func.func @symbolic(%x: tensor<?x3xf32, #gv.dims<"N, 3">>) -> tensor<?x3xf32, #gv.dims<"N, 3">> {
    %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 3>, weight = @w} : () -> tensor<8x3xf32>
    %1 = gv.neg %0 : (tensor<8x3xf32>) -> tensor<8x3xf32>
    %2 = gv.slice %1 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = #gv.dims<"N, 3">} : (tensor<8x3xf32>) -> tensor<?x3xf32, #gv.dims<"N, 3">>
    %3 = gv.add %x, %2 : (tensor<?x3xf32, #gv.dims<"N, 3">>, tensor<?x3xf32, #gv.dims<"N, 3">>) -> tensor<?x3xf32, #gv.dims<"N, 3">>
    func.return %3 : tensor<?x3xf32, #gv.dims<"N, 3">>
  }
}

// ->
// builtin.module attributes {gv.ranges = {N = array<i64: 1, 8>}} {
//   func.func @symbolic(%x: tensor<?x3xf32, #gv.dims<"N, 3">>) -> tensor<?x3xf32, #gv.dims<"N, 3">> {
//     %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 3>, weight = @prepared.0} : () -> tensor<8x3xf32>
//     %1 = gv.slice %0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, stops = #gv.dims<"N, 3">} : (tensor<8x3xf32>) -> tensor<?x3xf32, #gv.dims<"N, 3">>
//     %2 = gv.add %x, %1 : (tensor<?x3xf32, #gv.dims<"N, 3">>, tensor<?x3xf32, #gv.dims<"N, 3">>) -> tensor<?x3xf32, #gv.dims<"N, 3">>
//     func.return %2 : tensor<?x3xf32, #gv.dims<"N, 3">>
//   }
//   func.func @prepare() -> (tensor<8x3xf32> {gv.name = "prepared.0"}) {
//     %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 8, 3>, weight = @w} : () -> tensor<8x3xf32>
//     %1 = gv.neg %0 : (tensor<8x3xf32>) -> tensor<8x3xf32>
//     func.return %1 : tensor<8x3xf32>
//   }
// }

// -----
// What is made of prepared weights moves behind them; @prepared.0 is not used any more.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @prepared.0} : () -> tensor<3xf32>
  %1 = gv.exp %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = gv.add %x, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %2 : tensor<3xf32>
}
func.func @prepare() -> (tensor<3xf32> {gv.name = "prepared.0"}) {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
  %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
  func.return %1 : tensor<3xf32>
}

// ->
// func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @prepared.1} : () -> tensor<3xf32>
//   %1 = gv.add %x, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
//   func.return %1 : tensor<3xf32>
// }
// func.func @prepare() -> (tensor<3xf32> {gv.name = "prepared.1"}) {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @w} : () -> tensor<3xf32>
//   %1 = gv.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
//   %2 = gv.exp %1 : (tensor<3xf32>) -> tensor<3xf32>
//   func.return %2 : tensor<3xf32>
// }

// -----
// What a value that stays needs stays too, though only what moves uses it directly.
func.func @shared(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %w = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @w} : () -> tensor<2xf32>
  %c = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
  %0 = gv.exp %c : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.mul %w, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.add %x, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = gv.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %2, %3 : tensor<2xf32>, tensor<2xf32>
}

// ->
// func.func @shared(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
//   %c = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
//   %0 = gv.exp %c : (tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @prepared.0} : () -> tensor<2xf32>
//   %2 = gv.add %x, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   %3 = gv.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %2, %3 : tensor<2xf32>, tensor<2xf32>
// }
// func.func @prepare() -> (tensor<2xf32> {gv.name = "prepared.0"}) {
//   %w = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @w} : () -> tensor<2xf32>
//   %c = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
//   %0 = gv.exp %c : (tensor<2xf32>) -> tensor<2xf32>
//   %1 = gv.mul %w, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//   func.return %1 : tensor<2xf32>
// }
