// test: check-bounds

// A loop over whole vectors and a masked rest, of any length.
// differs: no function runs the kernel
// count: vector.load 1
module attributes {gv.level = "loops"} {
  func.func @whole_and_rest(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.symbols = ["N"], gv.sizes = ["N", "N"], gv.units = "1"} {
    %zero = arith.constant 0 : index
    %eight = arith.constant 8 : index
    %left = arith.remui %n, %eight : index
    %whole = arith.subi %n, %left : index
    scf.for %i = %zero to %whole step %eight {
      %v = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
      vector.store %v, %y[%i] : memref<?xf32>, vector<8xf32>
    }
    %mask = vector.create_mask %left : vector<8xi1>
    %nothing = arith.constant dense<0.0> : vector<8xf32>
    %r = vector.maskedload %x[%whole], %mask, %nothing : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.maskedstore %y[%whole], %mask, %r : memref<?xf32>, vector<8xi1>, vector<8xf32>
    func.return
  }
}

// -----
module attributes {gv.level = "loops"} {
  func.func @one_too_far(%x: memref<?xf32>, %n: index, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.symbols = ["N"], gv.sizes = ["N"], gv.units = "N"} {
    %one = arith.constant 1 : index
    scf.for %i = %lo to %hi step %one {
      %next = arith.addi %i, %one : index
      %v = memref.load %x[%next] : memref<?xf32> // error: kernel @one_too_far: i4 + 1 < N is not shown
    }
    func.return
  }
}

// -----
// Rows and columns of a unit, by quotient and remainder.
// differs: no function runs the kernel
// count: memref.load 1
module attributes {gv.level = "loops"} {
  func.func @rows_and_columns(%x: memref<?xf32>, %m: index, %n: index, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.symbols = ["M", "N"], gv.sizes = ["M*N"], gv.units = "M*N"} {
    %one = arith.constant 1 : index
    scf.for %i = %lo to %hi step %one {
      %row = arith.divui %i, %n : index
      %column = arith.remui %i, %n : index
      %last = arith.subi %m, %one : index
      %turned = arith.subi %last, %row : index
      %begin = arith.muli %turned, %n : index
      %at = arith.addi %begin, %column : index
      %v = memref.load %x[%at] : memref<?xf32>
    }
    func.return
  }
}

// -----
// What is data is clamped, and there is an element to read.
// differs: no function runs the kernel
// count: memref.load 2
module attributes {gv.level = "loops"} {
  func.func @clamped(%x: memref<?xf32>, %i: memref<?xi64>, %n: index, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.symbols = ["N"], gv.sizes = ["N", "4"], gv.units = "4", gv.demands = ["N - 1"]} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %last = arith.subi %n, %one : index
    scf.for %u = %lo to %hi step %one {
      %d = memref.load %i[%u] : memref<?xi64>
      %at = arith.index_cast %d : i64 to index
      %low = arith.minsi %at, %last : index
      %in = arith.maxsi %low, %zero : index
      %v = memref.load %x[%in] : memref<?xf32>
    }
    func.return
  }
}

// -----
// Without the demand the axis may be empty.
module attributes {gv.level = "loops"} {
  func.func @clamped_to_nothing(%x: memref<?xf32>, %i: memref<?xi64>, %n: index, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.symbols = ["N"], gv.sizes = ["N", "4"], gv.units = "4"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %last = arith.subi %n, %one : index
    scf.for %u = %lo to %hi step %one {
      %d = memref.load %i[%u] : memref<?xi64>
      %at = arith.index_cast %d : i64 to index
      %low = arith.minsi %at, %last : index
      %in = arith.maxsi %low, %zero : index
      %v = memref.load %x[%in] : memref<?xf32> // error: max7 < N is not shown
    }
    func.return
  }
}

// -----
// A comparison guards what stands behind it, and nothing else.
module attributes {gv.level = "loops"} {
  func.func @guarded(%x: memref<?xf32>, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.sizes = ["5"], gv.units = "9"} {
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    scf.for %i = %lo to %hi step %one {
      %inside = arith.cmpi slt, %i, %five : index
      scf.if %inside {
        %v = memref.load %x[%i] : memref<?xf32>
      } else {
        %w = memref.load %x[%i] : memref<?xf32> // error: i3 < 5 is not shown
      }
    }
    func.return
  }
}

// -----
// What is carried from turn to turn moves by one at the most, and is shown to stay as far behind.
module attributes {gv.level = "loops"} {
  func.func @two_fingers(%x: memref<?xi64>, %n: index, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.symbols = ["N"], gv.sizes = ["N"], gv.units = "1"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %least = arith.constant 0 : i64
    %end = scf.for %i = %zero to %n step %one iter_args(%at = %zero) -> (index) {
      %v = memref.load %x[%at] : memref<?xi64>
      %above = arith.addi %at, %one : index
      %w = memref.load %x[%above] : memref<?xi64> // error: kernel @two_fingers: carried7 + 1 < N is not shown
      %moves = arith.cmpi sgt, %v, %least : i64
      %step = arith.extui %moves : i1 to i64
      %by = arith.index_cast %step : i64 to index
      %next = arith.addi %at, %by : index
      scf.yield %next : index
    }
    func.return
  }
}

// -----
// Every turn of fixed sizes is tried, where no bound fits: 3 * (i % 4 // 2) + i % 2 is 4 at the most.
module attributes {gv.level = "loops"} {
  func.func @counted_out(%x: memref<?xf32>, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.sizes = ["4"], gv.units = "9"} {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %four = arith.constant 4 : index
    scf.for %i = %lo to %hi step %one {
      %low = arith.remui %i, %two : index
      %four_of = arith.remui %i, %four : index
      %high = arith.divui %four_of, %two : index
      %wide = arith.muli %high, %three : index
      %at = arith.addi %wide, %low : index
      %twice = arith.muli %high, %two : index
      %fits = arith.addi %twice, %low : index
      %v = memref.load %x[%fits] : memref<?xf32>
      %w = memref.load %x[%at] : memref<?xf32> // error: kernel @counted_out
    }
    func.return
  }
}

// -----
// A thread's number is below the threads of its block; so is what has other bits of as many.
module attributes {gv.level = "loops"} {
  func.func @threads(%x: memref<?xf32>, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.sizes = ["32"], gv.units = "9", gv.threads = 32 : i64} {
    %five = arith.constant 5 : index
    %block = gvk.shared : memref<16xf32>
    %v = memref.load %x[%slot] : memref<?xf32>
    %swapped = arith.xori %slot, %five : index
    %w = memref.load %x[%swapped] : memref<?xf32>
    %u = memref.load %block[%swapped] : memref<16xf32> // error: xor3 < 16 is not shown
    func.return
  }
}

// -----
// A copy reads nothing where it is given no bytes; it writes 16 bytes all the same.
module attributes {gv.level = "loops"} {
  func.func @copies(%x: memref<?xf32>, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.sizes = ["100"], gv.units = "9", gv.threads = 32 : i64} {
    %zero = arith.constant 0 : index
    %four = arith.constant 4 : index
    %some = arith.constant 16 : index
    %all = arith.constant 100 : index
    %block = gvk.shared : memref<128xf32>
    %few = gvk.shared : memref<127xf32>
    %at = arith.muli %slot, %four : index
    %there = arith.cmpi slt, %at, %all : index
    %given = arith.select %there, %some, %zero : index
    gvk.copy_async %x[%at], %block[%at], %given : memref<?xf32>, memref<128xf32>
    gvk.copy_async %x[%at], %block[%at], %some : memref<?xf32>, memref<128xf32> // error: 4*slot2 + 3 < 100 is not shown
    gvk.copy_async %x[%at], %few[%at], %given : memref<?xf32>, memref<127xf32> // error: 4*slot2 + 3 < 127 is not shown
    func.return
  }
}

// -----
// A guess about one index that a loop carries is not given up for that of another.
module attributes {gv.level = "loops"} {
  func.func @one_of_two(%x: memref<?xi64>, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.sizes = ["9"], gv.units = "1"} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %nine = arith.constant 9 : index
    %least = arith.constant 0 : i64
    %found, %sum = scf.for %i = %zero to %nine step %one iter_args(%last = %zero, %total = %zero) -> (index, index) {
      %v = memref.load %x[%last] : memref<?xi64>
      %is = arith.cmpi sgt, %v, %least : i64
      %next = arith.select %is, %i, %last : index
      %wide = arith.index_cast %v : i64 to index
      %more = arith.addi %total, %wide : index
      scf.yield %next, %more : index, index
    }
    %v = memref.load %x[%found] : memref<?xi64>
    %w = memref.load %x[%sum] : memref<?xi64> // error: is not shown
    func.return
  }
}

// -----
// A place that memory is only fetched ahead from may lie anywhere; one that is read, too, may not.
module attributes {gv.level = "loops"} {
  func.func @ahead(%x: memref<?xf32>, %n: index, %lo: index, %hi: index, %slot: index) attributes {gv.kind = "map", gv.symbols = ["N"], gv.sizes = ["N"], gv.units = "N"} {
    %one = arith.constant 1 : index
    scf.for %i = %lo to %hi step %one {
      %next = arith.addi %i, %one : index
      %far = arith.maxsi %next, %n : index
      gvk.prefetch %x[%far] {write = false, locality = 3 : i64} : memref<?xf32>
      %most = arith.minsi %next, %n : index
      gvk.prefetch %x[%most] {write = false, locality = 3 : i64} : memref<?xf32>
      %v = memref.load %x[%most] : memref<?xf32> // error: kernel @ahead: i4 + 1 < N is not shown
    }
    func.return
  }
}
