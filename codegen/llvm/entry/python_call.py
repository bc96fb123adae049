"""Emit functions that Python calls directly, with no ctypes between, and nothing imported.

    PyObject *TAG_python_again(PyObject *self, PyObject *nothing)
    PyObject *TAG_python_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)

are the C functions of two builtins: one repeats a run on the same arrays, one takes numpy arrays
and makes new ones, but for outputs that are to be written over an argument. Their `self` is a
capsule, whose pointer leads to a block of addresses: tables to work in, and the functions of
Python and numpy that are needed. The library knows nothing of Python but where the fields of a
capsule and of an array are, and the runtime looks that up before it relies on it. An element type
is known by its address, or by what it says of itself, for arrays that were unpickled have copies of
it. Whatever is not as expected, an argument or a status, is left to the block's `slow` function,
which is Python's and can say what is wrong.
"""

from __future__ import annotations

RUN = """  %release = load ptr, ptr %release.at
  %keep = icmp eq ptr %release, null
  br i1 %keep, label %locked, label %unlocked
locked:
  %first = call i32 @TAG_run(ptr %inputs, ptr %outputs, ptr %workspace, ptr %context)
  br label %end
unlocked:
  %thread = call ptr %release()
  %second = call i32 @TAG_run(ptr %inputs, ptr %outputs, ptr %workspace, ptr %context)
  %acquire = load ptr, ptr %acquire.at
  call void %acquire(ptr %thread)
  br label %end
end:
  %status = phi i32 [ %first, %locked ], [ %second, %unlocked ]
"""
"""Run the model; where there is a function to release Python's lock, without it."""
AGAIN = (
    """
declare i32 @TAG_run(ptr, ptr, ptr, ptr)
declare i32 @TAG_output_shapes(ptr, ptr)
define ptr @TAG_python_again(ptr %self, ptr %nothing) nounwind {
entry:
  %pointer.at = getelementptr i8, ptr %self, i64 16
  %block = load ptr, ptr %pointer.at
  %outputs.at = getelementptr i8, ptr %block, i64 8
  %workspace.at = getelementptr i8, ptr %block, i64 16
  %context.at = getelementptr i8, ptr %block, i64 24
  %busy.at = getelementptr i8, ptr %block, i64 32
  %result.at = getelementptr i8, ptr %block, i64 40
  %increment.at = getelementptr i8, ptr %block, i64 48
  %release.at = getelementptr i8, ptr %block, i64 56
  %acquire.at = getelementptr i8, ptr %block, i64 64
  %call.at = getelementptr i8, ptr %block, i64 72
  %slow.at = getelementptr i8, ptr %block, i64 80
  %busy = load i64, ptr %busy.at
  %free = icmp eq i64 %busy, 0
  br i1 %free, label %begin, label %failed
begin:
  store i64 1, ptr %busy.at
  %inputs = load ptr, ptr %block
  %outputs = load ptr, ptr %outputs.at
  %workspace = load ptr, ptr %workspace.at
  %context = load ptr, ptr %context.at
"""
    + RUN
    + """  store i64 0, ptr %busy.at
  %good = icmp eq i32 %status, 0
  br i1 %good, label %success, label %failed
success:
  %result = load ptr, ptr %result.at
  %increment = load ptr, ptr %increment.at
  call void %increment(ptr %result)
  ret ptr %result
failed:
  %call = load ptr, ptr %call.at
  %slow = load ptr, ptr %slow.at
  %answer = call ptr %call(ptr %slow)
  ret ptr %answer
}
"""
)

CALL = (
    """
define ptr @TAG_python_call(ptr %self, ptr %arguments, i64 %count) nounwind {
entry:
  %pointer.at = getelementptr i8, ptr %self, i64 16
  %block = load ptr, ptr %pointer.at
  %inputs.at = getelementptr i8, ptr %block, i64 8
  %outputs.at = getelementptr i8, ptr %block, i64 16
  %workspace.at = getelementptr i8, ptr %block, i64 24
  %context.at = getelementptr i8, ptr %block, i64 32
  %busy.at = getelementptr i8, ptr %block, i64 40
  %array.type.at = getelementptr i8, ptr %block, i64 48
  %types.at = getelementptr i8, ptr %block, i64 56
  %made.count.at = getelementptr i8, ptr %block, i64 64
  %made.at = getelementptr i8, ptr %block, i64 72
  %shapes.at = getelementptr i8, ptr %block, i64 80
  %release.at = getelementptr i8, ptr %block, i64 88
  %acquire.at = getelementptr i8, ptr %block, i64 96
  %slow.at = getelementptr i8, ptr %block, i64 104
  %vectorcall.at = getelementptr i8, ptr %block, i64 112
  %decrement.at = getelementptr i8, ptr %block, i64 120
  %array.new.at = getelementptr i8, ptr %block, i64 128
  %set.base.at = getelementptr i8, ptr %block, i64 136
  %tuple.new.at = getelementptr i8, ptr %block, i64 144
  %tuple.set.at = getelementptr i8, ptr %block, i64 152
  %increment.at = getelementptr i8, ptr %block, i64 160
  %room = alloca i64, align 8
  %array.new = load ptr, ptr %array.new.at
  %expected = load i64, ptr %block
  %inputs = load ptr, ptr %inputs.at
  %outputs = load ptr, ptr %outputs.at
  %array.type = load ptr, ptr %array.type.at
  %types = load ptr, ptr %types.at
  %makings = load i64, ptr %made.count.at
  %made = load ptr, ptr %made.at
  %decrement = load ptr, ptr %decrement.at
  %busy = load i64, ptr %busy.at
  %same.count = icmp eq i64 %count, %expected
  %free = icmp eq i64 %busy, 0
  %fit = and i1 %same.count, %free
  br i1 %fit, label %begin, label %slow
begin:
  store i64 1, ptr %busy.at
  br label %look
look:
  %i = phi i64 [ 0, %begin ], [ %i.next, %take ]
  %i.more = icmp ult i64 %i, %expected
  br i1 %i.more, label %type, label %shapes
type:
  %argument.at = getelementptr ptr, ptr %arguments, i64 %i
  %argument = load ptr, ptr %argument.at
  %type.at = getelementptr i8, ptr %argument, i64 8
  %its.type = load ptr, ptr %type.at
  %is.array = icmp eq ptr %its.type, %array.type
  br i1 %is.array, label %fields, label %other
fields:
  %element.at = getelementptr i8, ptr %argument, i64 56
  %element = load ptr, ptr %element.at
  %wanted.at = getelementptr ptr, ptr %types, i64 %i
  %wanted = load ptr, ptr %wanted.at
  %same.type = icmp eq ptr %element, %wanted
  br i1 %same.type, label %layout, label %copied
copied:
  %its.head.at = getelementptr i8, ptr %element, i64 24
  %its.head = load i64, ptr %its.head.at
  %wanted.head.at = getelementptr i8, ptr %wanted, i64 24
  %wanted.head = load i64, ptr %wanted.head.at
  %unlike = xor i64 %its.head, %wanted.head
  %told = and i64 %unlike, -4278190081
  %alike = icmp eq i64 %told, 0
  br i1 %alike, label %layout, label %other
layout:
  %flags.at = getelementptr i8, ptr %argument, i64 64
  %flags = load i32, ptr %flags.at
  %plain = and i32 %flags, 257
  %is.plain = icmp eq i32 %plain, 257
  br i1 %is.plain, label %take, label %other
take:
  %offset = mul i64 %i, 24
  %tensor = getelementptr i8, ptr %inputs, i64 %offset
  %data.at = getelementptr i8, ptr %argument, i64 16
  %data = load ptr, ptr %data.at
  store ptr %data, ptr %tensor
  %sizes.at = getelementptr i8, ptr %argument, i64 32
  %sizes = load ptr, ptr %sizes.at
  %tensor.shape = getelementptr i8, ptr %tensor, i64 8
  store ptr %sizes, ptr %tensor.shape
  %rank.at = getelementptr i8, ptr %argument, i64 24
  %rank = load i32, ptr %rank.at
  %tensor.rank = getelementptr i8, ptr %tensor, i64 16
  store i32 %rank, ptr %tensor.rank
  %i.next = add i64 %i, 1
  br label %look
shapes:
  %places = load ptr, ptr %shapes.at
  %static = icmp eq ptr %places, null
  br i1 %static, label %make, label %compute
compute:
  %computed = call i32 @TAG_output_shapes(ptr %inputs, ptr %places)
  %known = icmp eq i32 %computed, 0
  br i1 %known, label %make, label %other
make:
  %j = phi i64 [ 0, %shapes ], [ 0, %compute ], [ %j.next, %finished ]
  %j.more = icmp ult i64 %j, %makings
  br i1 %j.more, label %measure, label %run
measure:
  %out.offset = mul i64 %j, 24
  %out = getelementptr i8, ptr %outputs, i64 %out.offset
  %out.shape.at = getelementptr i8, ptr %out, i64 8
  %out.shape = load ptr, ptr %out.shape.at
  %out.rank.at = getelementptr i8, ptr %out, i64 16
  %out.rank = load i32, ptr %out.rank.at
  %row.offset = mul i64 %j, 24
  %row = getelementptr i8, ptr %made, i64 %row.offset
  %number.at = getelementptr i8, ptr %row, i64 8
  %number = load i64, ptr %number.at
  %number.int = trunc i64 %number to i32
  %size.at = getelementptr i8, ptr %row, i64 16
  %element.size = load i64, ptr %size.at
  %wide.rank = zext i32 %out.rank to i64
  %given = icmp slt i64 %number, 0
  br i1 %given, label %reuse, label %multiply
reuse:
  %which = xor i64 %number, -1
  %reused.at = getelementptr ptr, ptr %arguments, i64 %which
  %reused = load ptr, ptr %reused.at
  %increment = load ptr, ptr %increment.at
  call void %increment(ptr %reused)
  %reused.data.at = getelementptr i8, ptr %reused, i64 16
  %reused.data = load ptr, ptr %reused.data.at
  store ptr %reused, ptr %row
  store ptr %reused.data, ptr %out
  br label %finished
multiply:
  %k = phi i64 [ 0, %measure ], [ %k.next, %factor ]
  %size = phi i64 [ %element.size, %measure ], [ %product, %factor ]
  %k.more = icmp ult i64 %k, %wide.rank
  br i1 %k.more, label %factor, label %allocate
factor:
  %dim.at = getelementptr i64, ptr %out.shape, i64 %k
  %dim = load i64, ptr %dim.at
  %product = mul i64 %size, %dim
  %k.next = add i64 %k, 1
  %no.dim = icmp slt i64 %dim, 0
  br i1 %no.dim, label %undo, label %multiply
allocate:
  %more.room = add i64 %size, 64
  store i64 %more.room, ptr %room
  %memory = call ptr %array.new(ptr %array.type, i32 1, ptr %room, i32 2,
      ptr null, ptr null, i32 0, i32 0, ptr null)
  %no.memory = icmp eq ptr %memory, null
  br i1 %no.memory, label %undo, label %wrap
wrap:
  %start.at = getelementptr i8, ptr %memory, i64 16
  %start = load ptr, ptr %start.at
  %start.number = ptrtoint ptr %start to i64
  %start.up = add i64 %start.number, 63
  %start.aligned = and i64 %start.up, -64
  %start.there = inttoptr i64 %start.aligned to ptr
  %array = call ptr %array.new(ptr %array.type, i32 %out.rank, ptr %out.shape, i32 %number.int,
      ptr null, ptr %start.there, i32 0, i32 1281, ptr null)
  %no.array = icmp eq ptr %array, null
  br i1 %no.array, label %drop, label %finish
drop:
  call void %decrement(ptr %memory)
  br label %undo
finish:
  %set.base = load ptr, ptr %set.base.at
  %ignored = call i32 %set.base(ptr %array, ptr %memory)
  store ptr %array, ptr %row
  store ptr %start.there, ptr %out
  br label %finished
finished:
  %j.next = add i64 %j, 1
  br label %make
run:
  %workspace = load ptr, ptr %workspace.at
  %context = load ptr, ptr %context.at
"""
    + RUN
    + """  %good = icmp eq i32 %status, 0
  br i1 %good, label %success, label %undo
success:
  %single = icmp eq i64 %makings, 1
  br i1 %single, label %one, label %several
one:
  %only = load ptr, ptr %made
  store i64 0, ptr %busy.at
  ret ptr %only
several:
  %tuple.new = load ptr, ptr %tuple.new.at
  %tuple.set = load ptr, ptr %tuple.set.at
  %tuple = call ptr %tuple.new(i64 %makings)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %undo, label %put
put:
  %t = phi i64 [ 0, %several ], [ %t.next, %put.one ]
  %t.more = icmp ult i64 %t, %makings
  br i1 %t.more, label %put.one, label %give
put.one:
  %t.offset = mul i64 %t, 24
  %t.row = getelementptr i8, ptr %made, i64 %t.offset
  %t.array = load ptr, ptr %t.row
  %t.ignored = call i32 %tuple.set(ptr %tuple, i64 %t, ptr %t.array)
  %t.next = add i64 %t, 1
  br label %put
give:
  store i64 0, ptr %busy.at
  ret ptr %tuple
undo:
  %made.now = phi i64 [ %j, %factor ], [ %j, %allocate ], [ %j, %drop ],
      [ %makings, %end ], [ %makings, %several ]
  %wrong = phi i1 [ true, %factor ], [ false, %allocate ], [ false, %drop ],
      [ true, %end ], [ false, %several ]
  br label %undo.next
undo.next:
  %u = phi i64 [ 0, %undo ], [ %u.next, %undo.one ]
  %u.more = icmp ult i64 %u, %made.now
  br i1 %u.more, label %undo.one, label %undone
undo.one:
  %u.offset = mul i64 %u, 24
  %u.row = getelementptr i8, ptr %made, i64 %u.offset
  %u.array = load ptr, ptr %u.row
  call void %decrement(ptr %u.array)
  %u.next = add i64 %u, 1
  br label %undo.next
undone:
  store i64 0, ptr %busy.at
  br i1 %wrong, label %slow, label %error
error:
  ret ptr null
other:
  store i64 0, ptr %busy.at
  br label %slow
slow:
  %vectorcall = load ptr, ptr %vectorcall.at
  %function = load ptr, ptr %slow.at
  %answer = call ptr %vectorcall(ptr %function, ptr %arguments, i64 %count, ptr null)
  ret ptr %answer
}
"""
)


def emit_python_call(tag: str) -> str:
    """Return the text of both functions."""
    return (AGAIN + CALL).replace("TAG", tag)
