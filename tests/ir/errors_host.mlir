// test:
func.func @size_that_is_not_named(%x: tensor<2x3xf32>) -> tensor<2x6xi64> {
  %0 = gv.non_zero %x {sizes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x6xi64> // error: gv.non_zero: 0 sizes, expected 1
  func.return %0 : tensor<2x6xi64>
}
// -----
func.func @result_of_other_sizes(%x: tensor<2x3xf32>) -> tensor<2x?xi64, #gv.dims<"2, v">> {
  %0 = gv.non_zero %x {sizes = #gv.dims<"u">} : (tensor<2x3xf32>) -> tensor<2x?xi64, #gv.dims<"2, v">> // error: result type is tensor<2x?xi64, #gv.dims<"2, v">>, but the operands give
  func.return %0 : tensor<2x?xi64, #gv.dims<"2, v">>
}
// -----
func.func @shape_is_no_vector(%x: tensor<6xf32>, %s: tensor<1x2xi64>) -> tensor<?x?xf32, #gv.dims<"u, v">> {
  %0 = gv.reshape_to %x, %s {sizes = #gv.dims<"u, v">} : (tensor<6xf32>, tensor<1x2xi64>) -> tensor<?x?xf32, #gv.dims<"u, v">> // error: gv.reshape_to: i64[1,2] is no vector of a known number of sizes
  func.return %0 : tensor<?x?xf32, #gv.dims<"u, v">>
}
// -----
func.func @axis_that_is_cut_twice(%x: tensor<6xf32>, %s: tensor<2xi64>) -> tensor<?xf32, #gv.dims<"u">> {
  %0 = gv.slice_by %x, %s, %s, %s {axes = array<i64: 0, 0>, sizes = #gv.dims<"u, u">} : (tensor<6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?xf32, #gv.dims<"u">> // error: gv.slice_by: starts i64[2], stops i64[2], steps i64[2], axes [0, 0]
  func.return %0 : tensor<?xf32, #gv.dims<"u">>
}
// -----
func.func @kinds_without_anything_in_common(%x: tensor<6xf32>, %y: tensor<6xi64>) -> !gv.sequence<tensor<6xf32>> {
  %0 = gv.sequence %x, %y : (tensor<6xf32>, tensor<6xi64>) -> !gv.sequence<tensor<6xf32>> // error: gv.sequence: f32[6] and i64[6] have no kind in common
  func.return %0 : !gv.sequence<tensor<6xf32>>
}
// -----
func.func @tensor_is_no_sequence(%x: tensor<6xf32>) -> tensor<i64> {
  %0 = gv.sequence_length %x : (tensor<6xf32>) -> tensor<i64> // error: gv.sequence_length: f32[6], expected a sequence
  func.return %0 : tensor<i64>
}
// -----
func.func @numbers_are_no_texts(%x: tensor<6xf32>) -> tensor<6xi1> {
  %0 = gv.text_match %x {pattern = "a*"} : (tensor<6xf32>) -> tensor<6xi1> // error: gv.text_match: element type f32, expected string
  func.return %0 : tensor<6xi1>
}
// -----
func.func @pattern_that_is_none(%x: tensor<6x!gv.string>) -> tensor<6xi1> {
  %0 = gv.text_match %x {pattern = "(a"} : (tensor<6x!gv.string>) -> tensor<6xi1> // error: gv.text_match: pattern '(a' is no regular expression
  func.return %0 : tensor<6xi1>
}
// -----
func.func @texts_are_not_added(%x: tensor<6x!gv.string>) -> tensor<6x!gv.string> {
  %0 = gv.add %x, %x : (tensor<6x!gv.string>, tensor<6x!gv.string>) -> tensor<6x!gv.string> // error: gv.add: element type string, expected
  func.return %0 : tensor<6x!gv.string>
}
// -----
func.func @states_must_fit_in_every_trip(%n: tensor<i64>, %go: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.host_loop %n, %go, %x ({ // error: the states of a trip: found f32[2,1], expected f32[2]
  ^bb0(%i: tensor<i64>, %on: tensor<i1>, %s: tensor<2xf32>):
    %1 = gv.reshape %s {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
    gv.yield %on, %1 : (tensor<i1>, tensor<2x1xf32>) -> ()
  }) {states = 1 : i64} : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// -----
func.func @branches_must_fit_the_result(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.host_if %c, %x ({ // error: region 1: found sequence(f32[2]), expected f32[any]
  ^bb0(%a: tensor<2xf32>):
    gv.yield %a : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    %1 = gv.sequence %a : (tensor<2xf32>) -> !gv.sequence<tensor<2xf32>>
    gv.yield %1 : (!gv.sequence<tensor<2xf32>>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
// -----
func.func @numbers_are_not_pairs(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = gv.transform_rows %x : (tensor<4x3xf32>) -> tensor<4x3xf32> // error: gv.transform_rows: f32[4,3], expected pairs of f32 or f64
  func.return %0 : tensor<4x3xf32>
}
