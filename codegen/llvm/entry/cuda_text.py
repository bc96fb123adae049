"""What talks to CUDA's driver in a library for GPUs: the same for all models, but for some numbers.

    TAG.cuda.find(state)                              finds the driver's functions
    TAG.cuda.load(state, place, cubin, ptx)           loads a module: assembled, or else as text
    TAG.cuda.put, get(state, to, come, size)          copy to the device, and back
    TAG.cuda.settle(state, slot, room, size, copied, wrong)
    TAG.cuda.launch(state, kernel, grid, block, shared, parameters)
    TAG.cuda.replay(state, frame, run)                launches, records, or runs what is recorded
    TAG.cuda.finish(outputs, frame, state)            a whole run; waits also where it fails

`settle` leaves an address on the device where it is, and gives any other the model's own room
there, with a copy where it is an input. Words between two @ are filled in by `cuda_calls`.
"""

from __future__ import annotations

TEXT = """
@TAG.cuda.library = internal constant [@SIZE@ x i8] @LIBRARY@
@TAG.cuda.names = internal constant [@COUNT@ x [32 x i8]] [@NAMES@]
declare ptr @dlopen(ptr, i32)
declare ptr @dlsym(ptr, ptr)
define internal void @TAG.cuda.clear(ptr %state) nounwind {
entry:
  br label %next
next:
  %number = phi i64 [ 0, %entry ], [ %after, %next ]
  %place = getelementptr i64, ptr %state, i64 %number
  store i64 0, ptr %place
  %after = add i64 %number, 1
  %more = icmp ult i64 %after, @WORDS@
  br i1 %more, label %next, label %end
end:
  ret void
}
define internal i32 @TAG.cuda.find(ptr %state) nounwind {
entry:
  %library = call ptr @dlopen(ptr @TAG.cuda.library, i32 2)
  %none = icmp eq ptr %library, null
  br i1 %none, label %missing, label %next
next:
  %number = phi i64 [ 0, %entry ], [ %after, %found ]
  %name = getelementptr [32 x i8], ptr @TAG.cuda.names, i64 %number
  %function = call ptr @dlsym(ptr %library, ptr %name)
  %gone = icmp eq ptr %function, null
  br i1 %gone, label %old, label %found
found:
  %first = getelementptr i8, ptr %state, i64 @FIRST@
  %place = getelementptr ptr, ptr %first, i64 %number
  store ptr %function, ptr %place
  %after = add i64 %number, 1
  %more = icmp ult i64 %after, @COUNT@
  br i1 %more, label %next, label %end
end:
  ret i32 0
missing:
  ret i32 @NO_GPU@
old:
  ret i32 @TOO_OLD@
}
define internal i32 @TAG.cuda.status(i32 %result) nounwind {
entry:
  %good = icmp eq i32 %result, 0
  %high = shl i32 %result, 8
  %status = or i32 %high, @CUDA@
  %found = select i1 %good, i32 0, i32 %status
  ret i32 %found
}
define internal i32 @TAG.cuda.load(ptr %state, ptr %place, ptr %cubin, ptr %ptx) nounwind {
entry:
  %load.at = getelementptr i8, ptr %state, i64 @CUMODULELOADDATA@
  %load = load ptr, ptr %load.at
  %none = icmp eq ptr %cubin, null
  br i1 %none, label %text, label %binary
binary:
  %fits = call i32 %load(ptr %place, ptr %cubin)
  %loaded = icmp eq i32 %fits, 0
  br i1 %loaded, label %end, label %text
text:
  %result = call i32 %load(ptr %place, ptr %ptx)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
end:
  ret i32 0
}
define internal i32 @TAG.cuda.wait(ptr %state) nounwind {
entry:
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %wait.at = getelementptr i8, ptr %state, i64 @CUSTREAMSYNCHRONIZE@
  %wait = load ptr, ptr %wait.at
  %result = call i32 %wait(ptr %stream)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
}
define internal i32 @TAG.cuda.put(ptr %state, ptr %to, ptr %come, i64 %size) nounwind {
entry:
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %copy.at = getelementptr i8, ptr %state, i64 @CUMEMCPYHTODASYNC_V2@
  %copy = load ptr, ptr %copy.at
  %result = call i32 %copy(ptr %to, ptr %come, i64 %size, ptr %stream)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
}
define internal i32 @TAG.cuda.get(ptr %state, ptr %to, ptr %come, i64 %size) nounwind {
entry:
  %same = icmp eq ptr %to, %come
  %empty = icmp eq i64 %size, 0
  %nothing = or i1 %same, %empty
  br i1 %nothing, label %end, label %some
some:
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %copy.at = getelementptr i8, ptr %state, i64 @CUMEMCPYDTOHASYNC_V2@
  %copy = load ptr, ptr %copy.at
  %result = call i32 %copy(ptr %to, ptr %come, i64 %size, ptr %stream)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
end:
  ret i32 0
}
define internal i32 @TAG.cuda.settle(ptr %state, ptr %slot, ptr %room, i64 %size, i32 %copied,
    i32 %wrong) nounwind {
entry:
  %kind = alloca i32
  %given = load ptr, ptr %slot
  store i32 0, ptr %kind
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %inside, label %some
some:
  %ask.at = getelementptr i8, ptr %state, i64 @CUPOINTERGETATTRIBUTE@
  %ask = load ptr, ptr %ask.at
  %result = call i32 %ask(ptr %kind, i32 2, ptr %given)
  %known = icmp eq i32 %result, 0
  %where = load i32, ptr %kind
  %there = icmp eq i32 %where, 2
  %device = and i1 %known, %there
  br i1 %device, label %outside, label %inside
outside:
  %number = ptrtoint ptr %given to i64
  %low = and i64 %number, 15
  %aligned = icmp eq i64 %low, 0
  %bad = select i1 %aligned, i32 0, i32 %wrong
  ret i32 %bad
inside:
  store ptr %room, ptr %slot
  %fill = icmp ne i32 %copied, 0
  %full = xor i1 %empty, true
  %move = and i1 %fill, %full
  br i1 %move, label %put, label %end
put:
  %status = call i32 @TAG.cuda.put(ptr %state, ptr %room, ptr %given, i64 %size)
  ret i32 %status
end:
  ret i32 0
}
define internal i32 @TAG.cuda.launch(ptr %state, ptr %kernel, ptr %grid, ptr %block, i32 %shared,
    ptr %parameters) nounwind {
entry:
  %gy.at = getelementptr i8, ptr %grid, i64 8
  %gz.at = getelementptr i8, ptr %grid, i64 16
  %gx.wide = load i64, ptr %grid
  %gy.wide = load i64, ptr %gy.at
  %gz.wide = load i64, ptr %gz.at
  %plane = mul i64 %gx.wide, %gy.wide
  %blocks = mul i64 %plane, %gz.wide
  %none = icmp eq i64 %blocks, 0
  br i1 %none, label %end, label %some
some:
  %gx = trunc i64 %gx.wide to i32
  %gy = trunc i64 %gy.wide to i32
  %gz = trunc i64 %gz.wide to i32
  %by.at = getelementptr i8, ptr %block, i64 4
  %bz.at = getelementptr i8, ptr %block, i64 8
  %bx = load i32, ptr %block
  %by = load i32, ptr %by.at
  %bz = load i32, ptr %bz.at
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %launch.at = getelementptr i8, ptr %state, i64 @CULAUNCHKERNEL@
  %launch = load ptr, ptr %launch.at
  %result = call i32 %launch(ptr %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz,
    i32 %shared, ptr %stream, ptr %parameters, ptr null)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
end:
  ret i32 0
}
define internal i1 @TAG.cuda.same(ptr %state, ptr %run) nounwind {
entry:
  %known = getelementptr i8, ptr %state, i64 @KNOWN@
  br label %test
test:
  %number = phi i64 [ 0, %entry ], [ %after, %next ]
  %same = phi i1 [ true, %entry ], [ %still, %next ]
  %more = icmp ult i64 %number, @RUN_WORDS@
  br i1 %more, label %next, label %end
next:
  %old.at = getelementptr i64, ptr %known, i64 %number
  %new.at = getelementptr i64, ptr %run, i64 %number
  %old = load i64, ptr %old.at
  %new = load i64, ptr %new.at
  store i64 %new, ptr %old.at
  %equal = icmp eq i64 %old, %new
  %still = and i1 %same, %equal
  %after = add i64 %number, 1
  br label %test
end:
  ret i1 %same
}
define internal void @TAG.cuda.forget(ptr %state) nounwind {
entry:
  %graph.at = getelementptr i8, ptr %state, i64 40
  %graph = load ptr, ptr %graph.at
  %none = icmp eq ptr %graph, null
  br i1 %none, label %end, label %some
some:
  %drop.at = getelementptr i8, ptr %state, i64 @CUGRAPHEXECDESTROY@
  %drop = load ptr, ptr %drop.at
  %dropped = call i32 %drop(ptr %graph)
  store ptr null, ptr %graph.at
  br label %end
end:
  ret void
}
define internal i32 @TAG.cuda.replay(ptr %state, ptr %frame, ptr %run) nounwind {
entry:
  %recorded = alloca ptr
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %graph.at = getelementptr i8, ptr %state, i64 40
  %same = call i1 @TAG.cuda.same(ptr %state, ptr %run)
  br i1 %same, label %again, label %other
other:
  call void @TAG.cuda.forget(ptr %state)
  %plain = call i32 @TAG.steps(ptr %frame)
  ret i32 %plain
again:
  %graph = load ptr, ptr %graph.at
  %none = icmp eq ptr %graph, null
  br i1 %none, label %record, label %launch
record:
  %begin.at = getelementptr i8, ptr %state, i64 @CUSTREAMBEGINCAPTURE_V2@
  %begin = load ptr, ptr %begin.at
  %begun = call i32 %begin(ptr %stream, i32 1)
  %begun.status = call i32 @TAG.cuda.status(i32 %begun)
  %may = icmp eq i32 %begun, 0
  br i1 %may, label %steps, label %refused
refused:
  ret i32 %begun.status
steps:
  store ptr null, ptr %recorded
  %made = call i32 @TAG.steps(ptr %frame)
  %end.at = getelementptr i8, ptr %state, i64 @CUSTREAMENDCAPTURE@
  %end = load ptr, ptr %end.at
  %ended = call i32 %end(ptr %stream, ptr %recorded)
  %ended.status = call i32 @TAG.cuda.status(i32 %ended)
  %well = icmp eq i32 %made, 0
  %first = select i1 %well, i32 %ended.status, i32 %made
  %whole = icmp eq i32 %first, 0
  br i1 %whole, label %instantiate, label %failed
failed:
  %some = load ptr, ptr %recorded
  %nothing = icmp eq ptr %some, null
  br i1 %nothing, label %over, label %lose
lose:
  %lose.at = getelementptr i8, ptr %state, i64 @CUGRAPHDESTROY@
  %lose.call = load ptr, ptr %lose.at
  %lost = call i32 %lose.call(ptr %some)
  br label %over
over:
  ret i32 %first
instantiate:
  %make.at = getelementptr i8, ptr %state, i64 @CUGRAPHINSTANTIATEWITHFLAGS@
  %make = load ptr, ptr %make.at
  %drop.at = getelementptr i8, ptr %state, i64 @CUGRAPHDESTROY@
  %drop = load ptr, ptr %drop.at
  %draft = load ptr, ptr %recorded
  %ready = call i32 %make(ptr %graph.at, ptr %draft, i64 0)
  %dropped = call i32 %drop(ptr %draft)
  %ready.status = call i32 @TAG.cuda.status(i32 %ready)
  %good = icmp eq i32 %ready, 0
  br i1 %good, label %launch, label %bad
bad:
  store ptr null, ptr %graph.at
  ret i32 %ready.status
launch:
  %final = load ptr, ptr %graph.at
  %go.at = getelementptr i8, ptr %state, i64 @CUGRAPHLAUNCH@
  %go = load ptr, ptr %go.at
  %went = call i32 %go(ptr %final, ptr %stream)
  %status = call i32 @TAG.cuda.status(i32 %went)
  ret i32 %status
}
define internal i32 @TAG.cuda.finish(ptr %outputs, ptr %frame, ptr %state) nounwind {
entry:
  %made = call i32 @TAG.cuda.run(ptr %outputs, ptr %frame, ptr %state)
  %waited = call i32 @TAG.cuda.wait(ptr %state)
  %good = icmp eq i32 %made, 0
  %status = select i1 %good, i32 %waited, i32 %made
  ret i32 %status
}
define void @TAG_destroy(ptr %state) nounwind {
entry:
  %old = alloca ptr
  store i64 0, ptr %state
  %context.at = getelementptr i8, ptr %state, i64 8
  %context = load ptr, ptr %context.at
  %none = icmp eq ptr %context, null
  br i1 %none, label %end, label %push
push:
  %push.at = getelementptr i8, ptr %state, i64 @CUCTXPUSHCURRENT_V2@
  %pop.at = getelementptr i8, ptr %state, i64 @CUCTXPOPCURRENT_V2@
  %unload.at = getelementptr i8, ptr %state, i64 @CUMODULEUNLOAD@
  %free.at = getelementptr i8, ptr %state, i64 @CUMEMFREE_V2@
  %stop.at = getelementptr i8, ptr %state, i64 @CUSTREAMDESTROY_V2@
  %release.at = getelementptr i8, ptr %state, i64 @CUDEVICEPRIMARYCTXRELEASE_V2@
  %push.call = load ptr, ptr %push.at
  %pop.call = load ptr, ptr %pop.at
  %unload = load ptr, ptr %unload.at
  %free = load ptr, ptr %free.at
  %stop = load ptr, ptr %stop.at
  %release = load ptr, ptr %release.at
  %pushed = call i32 %push.call(ptr %context)
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %never = icmp eq ptr %stream, null
  br i1 %never, label %test, label %streams
streams:
  %waited = call i32 @TAG.cuda.wait(ptr %state)
  call void @TAG.cuda.forget(ptr %state)
  %stopped = call i32 %stop(ptr %stream)
  br label %test
test:
  %number = phi i64 [ 0, %push ], [ 0, %streams ], [ %after, %again ]
  %more = icmp ult i64 %number, @MODULE_COUNT@
  br i1 %more, label %one, label %memory
one:
  %first = getelementptr i8, ptr %state, i64 @MODULES@
  %place = getelementptr ptr, ptr %first, i64 %number
  %module = load ptr, ptr %place
  %unloaded = icmp eq ptr %module, null
  br i1 %unloaded, label %again, label %loaded
loaded:
  %gone = call i32 %unload(ptr %module)
  br label %again
again:
  %after = add i64 %number, 1
  br label %test
memory:
  %memory.at = getelementptr i8, ptr %state, i64 32
  %memory.is = load ptr, ptr %memory.at
  %no.memory = icmp eq ptr %memory.is, null
  br i1 %no.memory, label %leave, label %give
give:
  %given = call i32 %free(ptr %memory.is)
  br label %leave
leave:
  %popped = call i32 %pop.call(ptr %old)
  %device.at = getelementptr i8, ptr %state, i64 16
  %device = load i32, ptr %device.at
  %released = call i32 %release(i32 %device)
  store ptr null, ptr %context.at
  br label %end
end:
  ret void
}
"""
