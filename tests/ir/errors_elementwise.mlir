// test:
func.func @element_types_differ(%x: tensor<2xf32>, %y: tensor<2xi32>) -> tensor<2xf32> {
  %0 = gv.add %x, %y : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32> // error: gv.add: element types differ: f32 and i32
  func.return %0 : tensor<2xf32>
}
// -----
func.func @shapes_do_not_broadcast(%x: tensor<2x3xf32>, %y: tensor<2xf32>) -> tensor<2x3xf32> {
  %0 = gv.mul %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32> // error: gv.mul: shapes (2, 3) and (2,) do not broadcast: 3 against 2
  func.return %0 : tensor<2x3xf32>
}
// -----
func.func @a_symbol_does_not_broadcast_to_another(%x: tensor<?xf32, #gv.dims<"N">>, %y: tensor<?xf32, #gv.dims<"M">>) -> tensor<?xf32, #gv.dims<"N">> {
  %0 = gv.sub %x, %y : (tensor<?xf32, #gv.dims<"N">>, tensor<?xf32, #gv.dims<"M">>) -> tensor<?xf32, #gv.dims<"N">> // error: do not broadcast: N against M
  func.return %0 : tensor<?xf32, #gv.dims<"N">>
}
// -----
func.func @every_fault_is_reported(%x: tensor<2xi32>, %y: tensor<2xf32>) -> tensor<2xi32> {
  %0 = gv.sqrt %x : (tensor<2xi32>) -> tensor<2xi32> // error: gv.sqrt: element type i32, expected a float
  %1 = gv.logical_not %y : (tensor<2xf32>) -> tensor<2xf32> // error: gv.logical_not: element type f32, expected bool
  %2 = gv.bitwise_not %y : (tensor<2xf32>) -> tensor<2xf32> // error: gv.bitwise_not: element type f32, expected an integer
  func.return %0 : tensor<2xi32>
}
// -----
func.func @result_type_is_another(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.less %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> // error: result type is tensor<2xf32>, but the operands give tensor<2xi1>
  func.return %0 : tensor<2xf32>
}
// -----
func.func @operands_are_counted(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.exp %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> // error: gv.exp: 2 operands, expected 1
  func.return %0 : tensor<2xf32>
}
// -----
func.func @attributes_are_known(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.elu %x {beta = 1.0 : f64} : (tensor<2xf32>) -> tensor<2xf32> // error: gv.elu: attribute beta is unknown
  %1 = gv.sum %x : (tensor<2xf32>) -> tensor<f32> // error: gv.sum: attribute axes is missing
  func.return %0 : tensor<2xf32>
}
// -----
func.func @attributes_have_values(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.gelu %x {approximate = "erf"} : (tensor<2xf32>) -> tensor<2xf32> // error: gv.gelu: approximate is 'erf', expected 'none' or 'tanh'
  func.return %0 : tensor<2xf32>
}
// -----
func.func @condition_is_bool(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.select %x, %x, %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> // error: gv.select: element type f32, expected bool
  func.return %0 : tensor<2xf32>
}
// -----
func.func @complex_numbers_lose_no_half(%x: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0 = gv.cast %x {dtype = #gv.dtype<f32>} : (tensor<2xcomplex<f32>>) -> tensor<2xf32> // error: gv.cast: element type c64 does not become f32
  func.return %0 : tensor<2xf32>
}
