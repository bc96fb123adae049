// test: split-tensors{ranks=2 rank=1},dce
// differs: it is the part of one rank
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %a = gv.constant {value = #gv.array<f32, "4, 2", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>} : () -> tensor<4x2xf32>
  %b = gv.constant {value = #gv.array<f32, "2, 2", [1.0, 2.0, 3.0, 4.0]>} : () -> tensor<2x2xf32>
  %h = gv.matmul %x, %a : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %g = gv.relu %h : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = gv.matmul %g, %b : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// ->
// func.func @main(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "4, 1", [2.0, 4.0, 6.0, 8.0]>} : () -> tensor<4x1xf32>
//   %1 = gv.matmul %x, %0 : (tensor<3x4xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>
//   %2 = gv.relu %1 : (tensor<3x1xf32>) -> tensor<3x1xf32>
//   %3 = gv.constant {value = #gv.array<f32, "1, 2", [3.0, 4.0]>} : () -> tensor<1x2xf32>
//   %4 = gv.matmul %2, %3 : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
//   %y = gv.all_reduce %4 : (tensor<3x2xf32>) -> tensor<3x2xf32>
//   func.return %y : tensor<3x2xf32>
// }

// -----
// differs: it is the part of one rank
// What is no operation on elements reads the columns of all ranks; an offset is shared out.
func.func @main(%x: tensor<3x4xf32>, %z: tensor<3x2xf32>) -> tensor<3xf32> {
  %a = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 2>, weight = @a} : () -> tensor<4x2xf32>
  %b = gv.constant {value = #gv.array<f32, "2", [1.0, 2.0]>} : () -> tensor<2xf32>
  %h = gv.matmul %x, %a : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %i = gv.add %h, %b : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %j = gv.add %i, %z : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = gv.max %j {axes = array<i64: 1>, keepdims = false} : (tensor<3x2xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// ->
// func.func @main(%x: tensor<3x4xf32>, %z: tensor<3x2xf32>) -> tensor<3xf32> {
//   %0 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 4, 1>, weight = @a.1.1of2} : () -> tensor<4x1xf32>
//   %1 = gv.matmul %x, %0 : (tensor<3x4xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>
//   %2 = gv.constant {value = #gv.array<f32, "1", [2.0]>} : () -> tensor<1xf32>
//   %3 = gv.add %1, %2 : (tensor<3x1xf32>, tensor<1xf32>) -> tensor<3x1xf32>
//   %4 = gv.slice %z {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>, stops = array<i64: 3, 2>} : (tensor<3x2xf32>) -> tensor<3x1xf32>
//   %5 = gv.add %3, %4 : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
//   %6 = gv.reshape %5 {shape = array<i64: 1, 3, 1>} : (tensor<3x1xf32>) -> tensor<1x3x1xf32>
//   %7 = gv.all_gather %6 {rank = 1 : i64, ranks = 2 : i64} : (tensor<1x3x1xf32>) -> tensor<2x3x1xf32>
//   %8 = gv.transpose %7 {order = array<i64: 1, 0, 2>} : (tensor<2x3x1xf32>) -> tensor<3x2x1xf32>
//   %j = gv.reshape %8 {shape = array<i64: 3, 2>} : (tensor<3x2x1xf32>) -> tensor<3x2xf32>
//   %y = gv.max %j {axes = array<i64: 1>, keepdims = false} : (tensor<3x2xf32>) -> tensor<3xf32>
//   func.return %y : tensor<3xf32>
// }

// -----
// Columns that the ranks do not divide stay.
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %a = gv.constant {value = #gv.array<f32, "4, 1", [1.0, 2.0, 3.0, 4.0]>} : () -> tensor<4x1xf32>
  %h = gv.matmul %x, %a : (tensor<3x4xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>
  func.return %h : tensor<3x1xf32>
}

// ->
// func.func @main(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
//   %a = gv.constant {value = #gv.array<f32, "4, 1", [1.0, 2.0, 3.0, 4.0]>} : () -> tensor<4x1xf32>
//   %h = gv.matmul %x, %a : (tensor<3x4xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>
//   func.return %h : tensor<3x1xf32>
// }

// -----
// differs: it is the part of one rank
// Each rank has a direction of a recurrent layer, of which the states are gathered.
func.func @main(%x: tensor<3x1x2xf32>, %h0: tensor<2x1x1xf32>) -> tensor<2x1x1xf32> {
  %w = gv.constant {value = #gv.array<f32, "2, 1, 2", [1.0, 2.0, 3.0, 4.0]>} : () -> tensor<2x1x2xf32>
  %r = gv.constant {value = #gv.array<f32, "2, 1, 1", [1.0, 2.0]>} : () -> tensor<2x1x1xf32>
  %b = gv.constant {value = #gv.array<f32, "2, 2", [1.0, 2.0, 3.0, 4.0]>} : () -> tensor<2x2xf32>
  %y, %last = gv.rnn %x, %w, %r, %b, %h0 {activation = "tanh", direction = "bidirectional"} : (tensor<3x1x2xf32>, tensor<2x1x2xf32>, tensor<2x1x1xf32>, tensor<2x2xf32>, tensor<2x1x1xf32>) -> (tensor<3x2x1x1xf32>, tensor<2x1x1xf32>)
  func.return %last : tensor<2x1x1xf32>
}

// ->
// func.func @main(%x: tensor<3x1x2xf32>, %h0: tensor<2x1x1xf32>) -> tensor<2x1x1xf32> {
//   %0 = gv.constant {value = #gv.array<f32, "1, 1, 2", [3.0, 4.0]>} : () -> tensor<1x1x2xf32>
//   %1 = gv.constant {value = #gv.array<f32, "1, 1, 1", [2.0]>} : () -> tensor<1x1x1xf32>
//   %2 = gv.constant {value = #gv.array<f32, "1, 2", [3.0, 4.0]>} : () -> tensor<1x2xf32>
//   %3 = gv.slice %h0 {starts = array<i64: 1, 0, 0>, steps = array<i64: 1, 1, 1>, stops = array<i64: 2, 1, 1>} : (tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
//   %4, %5 = gv.rnn %x, %0, %1, %2, %3 {direction = "reverse"} : (tensor<3x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1x2xf32>, tensor<1x1x1xf32>) -> (tensor<3x1x1x1xf32>, tensor<1x1x1xf32>)
//   %6 = gv.reshape %5 {shape = array<i64: 1, 1, 1, 1>} : (tensor<1x1x1xf32>) -> tensor<1x1x1x1xf32>
//   %7 = gv.all_gather %6 {rank = 1 : i64, ranks = 2 : i64} : (tensor<1x1x1x1xf32>) -> tensor<2x1x1x1xf32>
//   %8 = gv.transpose %7 {order = array<i64: 0, 1, 2, 3>} : (tensor<2x1x1x1xf32>) -> tensor<2x1x1x1xf32>
//   %last = gv.reshape %8 {shape = array<i64: 2, 1, 1>} : (tensor<2x1x1x1xf32>) -> tensor<2x1x1xf32>
//   func.return %last : tensor<2x1x1xf32>
// }

// -----
// differs: it is the part of one rank
// Of one direction each rank has some of the units, and gets the state of all behind each step.
func.func @main(%x: tensor<2x1x2xf32>) -> tensor<2x1x1x2xf32> {
  %w = gv.constant {value = #gv.array<f32, "1, 2, 2", [1.0, 2.0, 3.0, 4.0]>} : () -> tensor<1x2x2xf32>
  %r = gv.constant {value = #gv.array<f32, "1, 2, 2", [5.0, 6.0, 7.0, 8.0]>} : () -> tensor<1x2x2xf32>
  %b = gv.constant {value = #gv.array<f32, "1, 4", [0.5, 1.5, 0.25, 0.75]>} : () -> tensor<1x4xf32>
  %h = gv.constant {value = #gv.array<f32, "1, 1, 2", [0.0, 0.0]>} : () -> tensor<1x1x2xf32>
  %y, %last = gv.rnn %x, %w, %r, %b, %h {activation = "tanh", direction = "forward"} : (tensor<2x1x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x4xf32>, tensor<1x1x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>)
  func.return %y : tensor<2x1x1x2xf32>
}

// ->
// func.func @main(%x: tensor<2x1x2xf32>) -> tensor<2x1x1x2xf32> {
//   %h = gv.constant {value = #gv.array<f32, "1, 1, 2", [0.0, 0.0]>} : () -> tensor<1x1x2xf32>
//   %0 = gv.reshape %x {shape = array<i64: 2, 2>} : (tensor<2x1x2xf32>) -> tensor<2x2xf32>
//   %1 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 1>, weight = @gv.rnn0.w.1of2} : () -> tensor<2x1xf32>
//   %2 = gv.matmul %0, %1 : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
//   %3 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 1>, weight = @gv.rnn1.b.1of2} : () -> tensor<1xf32>
//   %4 = gv.add %2, %3 : (tensor<2x1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
//   %5 = gv.reshape %4 {shape = array<i64: 2, 1, 1>} : (tensor<2x1xf32>) -> tensor<2x1x1xf32>
//   %6 = gv.slice %5 {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>, stops = array<i64: 1, 1, 1>} : (tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
//   %7 = gv.reshape %6 {shape = array<i64: 1, 1>} : (tensor<1x1x1xf32>) -> tensor<1x1xf32>
//   %8 = gv.slice %5 {starts = array<i64: 1, 0, 0>, steps = array<i64: 1, 1, 1>, stops = array<i64: 2, 1, 1>} : (tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
//   %9 = gv.reshape %8 {shape = array<i64: 1, 1>} : (tensor<1x1x1xf32>) -> tensor<1x1xf32>
//   %10 = gv.weight {dtype = #gv.dtype<f32>, shape = array<i64: 2, 1>, weight = @gv.rnn2.r.1of2} : () -> tensor<2x1xf32>
//   %11 = gv.reshape %h {shape = array<i64: 1, 2>} : (tensor<1x1x2xf32>) -> tensor<1x2xf32>
//   %12 = gv.matmul %11, %10 : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
//   %13 = gv.add %7, %12 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
//   %14 = gv.tanh %13 : (tensor<1x1xf32>) -> tensor<1x1xf32>
//   %15 = gv.reshape %14 {shape = array<i64: 1, 1, 1>} : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
//   %16 = gv.all_gather %15 {rank = 1 : i64, ranks = 2 : i64} : (tensor<1x1x1xf32>) -> tensor<2x1x1xf32>
//   %17 = gv.transpose %16 {order = array<i64: 1, 0, 2>} : (tensor<2x1x1xf32>) -> tensor<1x2x1xf32>
//   %18 = gv.reshape %17 {shape = array<i64: 1, 2>} : (tensor<1x2x1xf32>) -> tensor<1x2xf32>
//   %19 = gv.matmul %18, %10 : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
//   %20 = gv.add %9, %19 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
//   %21 = gv.tanh %20 : (tensor<1x1xf32>) -> tensor<1x1xf32>
//   %22 = gv.reshape %21 {shape = array<i64: 1, 1, 1>} : (tensor<1x1xf32>) -> tensor<1x1x1xf32>
//   %23 = gv.all_gather %22 {rank = 1 : i64, ranks = 2 : i64} : (tensor<1x1x1xf32>) -> tensor<2x1x1xf32>
//   %24 = gv.transpose %23 {order = array<i64: 1, 0, 2>} : (tensor<2x1x1xf32>) -> tensor<1x2x1xf32>
//   %25 = gv.reshape %24 {shape = array<i64: 1, 2>} : (tensor<1x2x1xf32>) -> tensor<1x2xf32>
//   %26 = gv.reshape %18 {shape = array<i64: 1, 1, 1, 2>} : (tensor<1x2xf32>) -> tensor<1x1x1x2xf32>
//   %27 = gv.reshape %25 {shape = array<i64: 1, 1, 1, 2>} : (tensor<1x2xf32>) -> tensor<1x1x1x2xf32>
//   %y = gv.concat %26, %27 {axis = 0 : i64} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<2x1x1x2xf32>
//   func.return %y : tensor<2x1x1x2xf32>
// }
