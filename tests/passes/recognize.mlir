// test: recognize

func.func @gelu_of_torch(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = gv.mul %x, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %7 = gv.mul %5, %6 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %7 : tensor<2x3xf32>
}

// ->
// func.func @gelu_of_torch(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.gelu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @gelu_with_half_first(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [0.7071067690849304]>} : () -> tensor<f32>
  %3 = gv.mul %x, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = gv.erf %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %6 = gv.add %5, %4 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = gv.mul %1, %6 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %7 : tensor<2x3xf32>
}

// ->
// func.func @gelu_with_half_first(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.gelu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @gelu_multiplied_out(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %1 = gv.mul %0, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [0.7071067690849304]>} : () -> tensor<f32>
  %3 = gv.mul %x, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = gv.erf %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = gv.mul %1, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = gv.add %1, %5 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %6 : tensor<2x3xf32>
}

// ->
// func.func @gelu_multiplied_out(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.gelu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @gelu_of_a_sum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
  %2 = gv.div %0, %1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = gv.erf %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %5 = gv.add %3, %4 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %6 = gv.mul %0, %5 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %8 = gv.mul %6, %7 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %8 : tensor<2x3xf32>
}

// ->
// func.func @gelu_of_a_sum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   %1 = gv.gelu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @gelu_with_wrong_constant(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.4199999570846558]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = gv.mul %x, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %7 = gv.mul %5, %6 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %7 : tensor<2x3xf32>
}

// ->
// func.func @gelu_with_wrong_constant(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.4199999570846558]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %5 = gv.mul %x, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   %6 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %7 = gv.mul %5, %6 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %7 : tensor<2x3xf32>
// }

// -----
func.func @gelu_without_half(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = gv.mul %x, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %5 : tensor<2x3xf32>
}

// ->
// func.func @gelu_without_half(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %5 = gv.mul %x, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %5 : tensor<2x3xf32>
// }

// -----
// The factor is another tensor.
func.func @gelu_of_two(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = gv.mul %y, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %7 = gv.mul %5, %6 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %7 : tensor<2x3xf32>
}

// ->
// func.func @gelu_of_two(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %5 = gv.mul %y, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   %6 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %7 = gv.mul %5, %6 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %7 : tensor<2x3xf32>
// }

// -----
func.func @gelu_of_which_a_part_is_used(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
  %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = gv.mul %x, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %7 = gv.mul %5, %6 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %7, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// ->
// func.func @gelu_of_which_a_part_is_used(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.4142135381698608]>} : () -> tensor<f32>
//   %1 = gv.div %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %2 = gv.erf %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %4 = gv.add %2, %3 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %5 = gv.mul %x, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   %6 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
//   %7 = gv.mul %5, %6 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %7, %2 : tensor<2x3xf32>, tensor<2x3xf32>
// }

// -----
func.func @gelu_tanh_of_torch(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [0.044714998453855515]>} : () -> tensor<f32>
  %3 = gv.mul %2, %1 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = gv.add %x, %3 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = gv.constant {value = #gv.array<f32, "", [0.7978845834732056]>} : () -> tensor<f32>
  %6 = gv.mul %5, %4 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = gv.tanh %6 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %9 = gv.add %8, %7 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = gv.mul %x, %9 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %12 = gv.mul %11, %10 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %12 : tensor<2x3xf32>
}

// ->
// func.func @gelu_tanh_of_torch(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.gelu %x {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @gelu_tanh_factored(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [0.7978845834732056]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %3 = gv.pow %x, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [0.044714998453855515]>} : () -> tensor<f32>
  %5 = gv.mul %4, %3 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %7 = gv.add %6, %5 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = gv.mul %1, %7 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = gv.constant {value = #gv.array<f32, "", [0.5]>} : () -> tensor<f32>
  %10 = gv.mul %x, %9 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %11 = gv.tanh %8 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %13 = gv.add %12, %11 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = gv.mul %10, %13 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %14 : tensor<2x3xf32>
}

// ->
// func.func @gelu_tanh_factored(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.gelu %x {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @gelu_tanh_in_half_precision(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %0 = gv.mul %x, %x : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = gv.mul %x, %0 : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %2 = gv.constant {value = #gv.array<f16, "", [0.7978515625]>} : () -> tensor<f16>
  %3 = gv.constant {value = #gv.array<f16, "", [0.044708251953125]>} : () -> tensor<f16>
  %4 = gv.mul %3, %1 : (tensor<f16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %5 = gv.add %x, %4 : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %6 = gv.mul %2, %5 : (tensor<f16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %7 = gv.constant {value = #gv.array<f16, "", [0.5]>} : () -> tensor<f16>
  %8 = gv.constant {value = #gv.array<f16, "", [1.0]>} : () -> tensor<f16>
  %9 = gv.tanh %6 : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %10 = gv.add %8, %9 : (tensor<f16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %11 = gv.mul %x, %10 : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %12 = gv.mul %7, %11 : (tensor<f16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %12 : tensor<2x3xf16>
}

// ->
// func.func @gelu_tanh_in_half_precision(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
//   %0 = gv.gelu %x {approximate = "tanh"} : (tensor<2x3xf16>) -> tensor<2x3xf16>
//   func.return %0 : tensor<2x3xf16>
// }

// -----
func.func @sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %3 = gv.add %2, %1 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %5 = gv.div %4, %3 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %5 : tensor<2x3xf32>
}

// ->
// func.func @sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @sigmoid_by_reciprocal(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %3 = gv.add %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = gv.reciprocal %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %4 : tensor<2x3xf32>
}

// ->
// func.func @sigmoid_by_reciprocal(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @silu_as_quotient(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %3 = gv.add %2, %1 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = gv.div %x, %3 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %4 : tensor<2x3xf32>
}

// ->
// func.func @silu_as_quotient(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.silu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @silu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.sigmoid %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @silu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.silu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
// Not a silu.
func.func @quick_gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [1.7020000219345093]>} : () -> tensor<f32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.sigmoid %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.mul %x, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @quick_gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.7020000219345093]>} : () -> tensor<f32>
//   %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %2 = gv.sigmoid %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.mul %x, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %3 : tensor<2x3xf32>
// }

// -----
func.func @hard_swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [3.0]>} : () -> tensor<f32>
  %1 = gv.add %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
  %3 = gv.constant {value = #gv.array<f32, "", [6.0]>} : () -> tensor<f32>
  %4 = gv.clip %1, %2, %3 : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = gv.mul %x, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [6.0]>} : () -> tensor<f32>
  %7 = gv.div %5, %6 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %7 : tensor<2x3xf32>
}

// ->
// func.func @hard_swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.hard_swish %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @hard_swish_by_hard_sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.hard_sigmoid %x {alpha = 0.16666666666666666 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.mul %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @hard_swish_by_hard_sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.hard_swish %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @mish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.softplus %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.tanh %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.mul %x, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// ->
// func.func @mish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.mish %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @softplus(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %2 = gv.add %0, %1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = gv.log %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// ->
// func.func @softplus(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.softplus %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
func.func @layer_norm_of_torch(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %3 = gv.pow %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = gv.mean %3 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %5 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %6 = gv.add %4, %5 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = gv.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = gv.div %1, %7 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %9 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
  %10 = gv.mul %8, %9 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %11 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
  %12 = gv.add %10, %11 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %12 : tensor<2x3xf32>
}

// ->
// func.func @layer_norm_of_torch(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
//   %2 = gv.layer_norm %x, %0, %1 {axis = 1 : i64, epsilon = 9.9999997473787516e-06 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
func.func @layer_norm_by_rsqrt(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.mul %1, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.mean %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %5 = gv.add %3, %4 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = gv.rsqrt %5 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %7 = gv.mul %1, %6 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %8 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
  %9 = gv.mul %7, %8 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %10 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
  %11 = gv.add %9, %10 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %11 : tensor<2x3xf32>
}

// ->
// func.func @layer_norm_by_rsqrt(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
//   %2 = gv.layer_norm %x, %0, %1 {axis = 1 : i64, epsilon = 9.9999997473787516e-06 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
func.func @layer_norm_by_reciprocal(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.mul %1, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.mean %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %5 = gv.add %3, %4 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = gv.sqrt %5 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %7 = gv.reciprocal %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = gv.mul %1, %7 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %9 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
  %10 = gv.mul %8, %9 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %11 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
  %12 = gv.add %10, %11 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %12 : tensor<2x3xf32>
}

// ->
// func.func @layer_norm_by_reciprocal(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
//   %2 = gv.layer_norm %x, %0, %1 {axis = 1 : i64, epsilon = 9.9999997473787516e-06 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
func.func @layer_norm_by_power(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.mul %1, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.mean %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %5 = gv.add %3, %4 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [-0.5]>} : () -> tensor<f32>
  %7 = gv.pow %5, %6 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %8 = gv.mul %1, %7 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %9 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
  %10 = gv.mul %8, %9 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %11 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
  %12 = gv.add %10, %11 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %12 : tensor<2x3xf32>
}

// ->
// func.func @layer_norm_by_power(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @b} : () -> tensor<3xf32>
//   %2 = gv.layer_norm %x, %0, %1 {axis = 1 : i64, epsilon = 9.9999997473787516e-06 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
func.func @layer_norm_without_scale(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %3 = gv.pow %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = gv.mean %3 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %5 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %6 = gv.add %4, %5 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = gv.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = gv.div %1, %7 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %8 : tensor<2x3xf32>
}

// ->
// func.func @layer_norm_without_scale(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %2 = gv.layer_norm %x, %0, %1 {axis = 1 : i64, epsilon = 9.9999997473787516e-06 : f64} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
// A layer_norm runs over trailing axes.
func.func @layer_norm_over_leading_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %3 = gv.pow %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = gv.mean %3 {axes = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %5 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %6 = gv.add %4, %5 : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  %7 = gv.sqrt %6 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %8 = gv.div %1, %7 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return %8 : tensor<2x3xf32>
}

// ->
// func.func @layer_norm_over_leading_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.mean %x {axes = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
//   %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %3 = gv.pow %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   %4 = gv.mean %3 {axes = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
//   %5 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
//   %6 = gv.add %4, %5 : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
//   %7 = gv.sqrt %6 : (tensor<1x3xf32>) -> tensor<1x3xf32>
//   %8 = gv.div %1, %7 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
//   func.return %8 : tensor<2x3xf32>
// }

// -----
// The scale runs along the rows: it stays behind.
func.func @layer_norm_of_rows_with_other_scale(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %3 = gv.pow %1, %2 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = gv.mean %3 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %5 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %6 = gv.add %4, %5 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = gv.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = gv.div %1, %7 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %9 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 1>, weight = @s} : () -> tensor<2x1xf32>
  %10 = gv.mul %8, %9 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %10 : tensor<2x3xf32>
}

// ->
// func.func @layer_norm_of_rows_with_other_scale(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %2 = gv.layer_norm %x, %0, %1 {axis = 1 : i64, epsilon = 9.9999997473787516e-06 : f64} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 1>, weight = @s} : () -> tensor<2x1xf32>
//   %4 = gv.mul %2, %3 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
//   func.return %4 : tensor<2x3xf32>
// }

// -----
func.func @layer_norm_with_reshapes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  %1 = gv.reshape %0 {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
  %2 = gv.sub %x, %1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %3 = gv.mul %2, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = gv.mean %3 {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  %5 = gv.reshape %4 {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %7 = gv.add %5, %6 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %8 = gv.sqrt %7 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %9 = gv.div %2, %8 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %9 : tensor<2x3xf32>
}

// ->
// func.func @layer_norm_with_reshapes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %1 = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>
//   %2 = gv.layer_norm %x, %0, %1 {axis = 1 : i64, epsilon = 9.9999997473787516e-06 : f64} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
// The difference is not from the mean of the rows: a rms_norm of it.
func.func @centred_over_another_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = gv.mul %1, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.mean %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [9.999999747378752e-06]>} : () -> tensor<f32>
  %5 = gv.add %3, %4 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = gv.sqrt %5 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %7 = gv.div %1, %6 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %7 : tensor<2x3xf32>
}

// ->
// func.func @centred_over_another_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.mean %x {axes = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
//   %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
//   %2 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %3 = gv.rms_norm %1, %2 {axis = 1 : i64, epsilon = 9.9999997473787516e-06 : f64} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %3 : tensor<2x3xf32>
// }

// -----
func.func @rms_norm(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
  %1 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %2 = gv.pow %x, %1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = gv.mean %2 {axes = array<i64: -1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [9.999999974752427e-07]>} : () -> tensor<f32>
  %5 = gv.add %3, %4 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = gv.rsqrt %5 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %7 = gv.mul %x, %6 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %8 = gv.mul %0, %7 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %8 : tensor<2x3xf32>
}

// ->
// func.func @rms_norm(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 3>, weight = @s} : () -> tensor<3xf32>
//   %1 = gv.rms_norm %x, %0 {axis = 1 : i64, epsilon = 9.9999999747524271e-07 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @rms_norm_of_llama(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %1 = gv.pow %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = gv.mean %1 {axes = array<i64: -1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %3 = gv.constant {value = #gv.array<f32, "", [9.999999974752427e-07]>} : () -> tensor<f32>
  %4 = gv.add %2, %3 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %5 = gv.sqrt %4 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %6 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
  %7 = gv.div %6, %5 : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = gv.mul %x, %7 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %8 : tensor<2x3xf32>
}

// ->
// func.func @rms_norm_of_llama(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "", [1.0]>} : () -> tensor<f32>
//   %1 = gv.rms_norm %x, %0 {axis = 1 : i64, epsilon = 9.9999999747524271e-07 : f64} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
//   func.return %1 : tensor<2x3xf32>
// }

// -----
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.sum %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = gv.div %2, %3 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %4 : tensor<2x3xf32>
}

// ->
// func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
// The sum runs along another axis than the largest element.
func.func @softmax_over_two_axes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.sum %2 {axes = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %4 = gv.div %2, %3 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return %4 : tensor<2x3xf32>
}

// ->
// func.func @softmax_over_two_axes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
//   %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
//   %2 = gv.exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.sum %2 {axes = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
//   %4 = gv.div %2, %3 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
//   func.return %4 : tensor<2x3xf32>
// }

// -----
// This overflows where softmax does not.
func.func @softmax_without_largest(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %2 = gv.div %0, %1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// ->
// func.func @softmax_without_largest(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %1 = gv.sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
//   %2 = gv.div %0, %1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
//   func.return %2 : tensor<2x3xf32>
// }

// -----
func.func @log_softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.log %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// ->
// func.func @log_softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.log_softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   func.return %0 : tensor<2x3xf32>
// }

// -----
// Shares of all elements are no softmax along one axis.
func.func @softmax_of_all(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.max %x {axes = array<i64: 0, 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %2 = gv.exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.sum %2 {axes = array<i64: 0, 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  %4 = gv.div %2, %3 : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  func.return %4 : tensor<2x3xf32>
}

// ->
// func.func @softmax_of_all(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.max %x {axes = array<i64: 0, 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x1xf32>
//   %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
//   %2 = gv.exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.sum %2 {axes = array<i64: 0, 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x1xf32>
//   %4 = gv.div %2, %3 : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
//   func.return %4 : tensor<2x3xf32>
// }

// -----
// Two over the root is not its inverse.
func.func @twice_the_inverse_of_a_root(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = gv.mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = gv.mul %1, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = gv.mean %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = gv.constant {value = #gv.array<f32, "", [1.0e-3]>} : () -> tensor<f32>
  %5 = gv.add %3, %4 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = gv.sqrt %5 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %7 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
  %8 = gv.div %7, %6 : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %9 = gv.mul %1, %8 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %10 = gv.mul %9, %s : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %10 : tensor<2x3xf32>
}

// ->
// func.func @twice_the_inverse_of_a_root(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
//   %0 = gv.mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
//   %1 = gv.sub %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
//   %2 = gv.mul %1, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//   %3 = gv.mean %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
//   %4 = gv.constant {value = #gv.array<f32, "", [0.0010000000474974513]>} : () -> tensor<f32>
//   %5 = gv.add %3, %4 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
//   %6 = gv.sqrt %5 : (tensor<2x1xf32>) -> tensor<2x1xf32>
//   %7 = gv.constant {value = #gv.array<f32, "", [2.0]>} : () -> tensor<f32>
//   %8 = gv.div %7, %6 : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
//   %9 = gv.mul %1, %8 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
//   %10 = gv.mul %9, %s : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   func.return %10 : tensor<2x3xf32>
// }
