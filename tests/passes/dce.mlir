// test: dce

func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}

// ->
// func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = gv.neg %x : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %0 : tensor<2xf32>
// }

// -----
func.func @weight(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2>, weight = @w} : () -> tensor<2xf32>
  %1 = gv.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %x : tensor<2xf32>
}

// ->
// func.func @weight(%x: tensor<2xf32>) -> tensor<2xf32> {
//   func.return %x : tensor<2xf32>
// }

// -----
// A private function that nothing calls goes; the one that is called stays.
func.func private @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
func.func private @used(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @used(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// ->
// func.func private @used(%x: tensor<2xf32>) -> tensor<2xf32> {
//   func.return %x : tensor<2xf32>
// }
// func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = func.call @used(%x) : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %0 : tensor<2xf32>
// }

// -----
// A call counts as having an effect: it stays.
func.func private @used(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @used(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %x : tensor<2xf32>
}

// ->
// func.func private @used(%x: tensor<2xf32>) -> tensor<2xf32> {
//   func.return %x : tensor<2xf32>
// }
// func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//   %0 = func.call @used(%x) : (tensor<2xf32>) -> tensor<2xf32>
//   func.return %x : tensor<2xf32>
// }
