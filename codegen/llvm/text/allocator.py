"""An allocator that counts, for what takes one as a table of functions (numpy, by NEP 49).

    counted_malloc(context, size)      counted_calloc(context, count, size)
    counted_realloc(context, data, size)      counted_free(context, data, size)

The context is a table of words: the functions `malloc`, `calloc`, `realloc` and `free`, then what
was counted (`COUNTED`). The size of each piece stands in 16 bytes before it, so that what is freed
is counted as what was allocated. Several threads may count at a time.
"""

from __future__ import annotations

FUNCTIONS = ("malloc", "calloc", "realloc", "free")
"""What the first words of a context are the addresses of."""
COUNTED = ("allocations", "frees", "allocated_bytes", "freed_bytes", "live_bytes", "peak_bytes")
"""What the words behind them count. A piece that grows is one that is freed and one allocated."""

ALLOCATOR = """
@TAG_manifest = constant [3 x i8] c"{}\\00"

define internal ptr @begun(ptr %context, ptr %piece, i64 %size) nounwind noinline {
  %none = icmp eq ptr %piece, null
  br i1 %none, label %failed, label %made
failed:
  ret ptr null
made:
  store i64 %size, ptr %piece, align 16
  %allocations = getelementptr i64, ptr %context, i64 4
  %a = atomicrmw add ptr %allocations, i64 1 monotonic
  %allocated = getelementptr i64, ptr %context, i64 6
  %b = atomicrmw add ptr %allocated, i64 %size monotonic
  %live = getelementptr i64, ptr %context, i64 8
  %before = atomicrmw add ptr %live, i64 %size monotonic
  %now = add i64 %before, %size
  %peak = getelementptr i64, ptr %context, i64 9
  %c = atomicrmw max ptr %peak, i64 %now monotonic
  %data = getelementptr i8, ptr %piece, i64 16
  ret ptr %data
}

define internal void @ended(ptr %context, i64 %size) nounwind noinline {
  %frees = getelementptr i64, ptr %context, i64 5
  %a = atomicrmw add ptr %frees, i64 1 monotonic
  %freed = getelementptr i64, ptr %context, i64 7
  %b = atomicrmw add ptr %freed, i64 %size monotonic
  %live = getelementptr i64, ptr %context, i64 8
  %c = atomicrmw sub ptr %live, i64 %size monotonic
  ret void
}

define ptr @TAG_malloc(ptr %context, i64 %size) nounwind {
  %room = add i64 %size, 16
  %over = icmp ult i64 %room, %size
  br i1 %over, label %failed, label %fits
failed:
  ret ptr null
fits:
  %malloc = load ptr, ptr %context
  %piece = call ptr %malloc(i64 %room)
  %data = call ptr @begun(ptr %context, ptr %piece, i64 %size)
  ret ptr %data
}

define ptr @TAG_calloc(ptr %context, i64 %count, i64 %each) nounwind {
  %product = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %count, i64 %each)
  %size = extractvalue { i64, i1 } %product, 0
  %wraps = extractvalue { i64, i1 } %product, 1
  %room = add i64 %size, 16
  %beyond = icmp ult i64 %room, %size
  %over = or i1 %wraps, %beyond
  br i1 %over, label %failed, label %fits
failed:
  ret ptr null
fits:
  %calloc.at = getelementptr ptr, ptr %context, i64 1
  %calloc = load ptr, ptr %calloc.at
  %piece = call ptr %calloc(i64 1, i64 %room)
  %data = call ptr @begun(ptr %context, ptr %piece, i64 %size)
  ret ptr %data
}
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)

define ptr @TAG_realloc(ptr %context, ptr %data, i64 %size) nounwind {
  %none = icmp eq ptr %data, null
  br i1 %none, label %new, label %old
new:
  %fresh = call ptr @TAG_malloc(ptr %context, i64 %size)
  ret ptr %fresh
old:
  %room = add i64 %size, 16
  %over = icmp ult i64 %room, %size
  br i1 %over, label %failed, label %fits
failed:
  ret ptr null
fits:
  %piece = getelementptr i8, ptr %data, i64 -16
  %before = load i64, ptr %piece, align 16
  %realloc.at = getelementptr ptr, ptr %context, i64 2
  %realloc = load ptr, ptr %realloc.at
  %moved = call ptr %realloc(ptr %piece, i64 %room)
  %kept = icmp eq ptr %moved, null
  br i1 %kept, label %failed, label %grown
grown:
  call void @ended(ptr %context, i64 %before)
  %now = call ptr @begun(ptr %context, ptr %moved, i64 %size)
  ret ptr %now
}

define void @TAG_free(ptr %context, ptr %data, i64 %size) nounwind {
  %none = icmp eq ptr %data, null
  br i1 %none, label %done, label %some
some:
  %piece = getelementptr i8, ptr %data, i64 -16
  %was = load i64, ptr %piece, align 16
  call void @ended(ptr %context, i64 %was)
  %free.at = getelementptr ptr, ptr %context, i64 3
  %free = load ptr, ptr %free.at
  call void %free(ptr %piece)
  br label %done
done:
  ret void
}
"""
"""The functions as LLVM text; their names begin with `TAG`."""
