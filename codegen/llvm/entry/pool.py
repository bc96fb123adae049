"""Emit a pool of threads that needs nothing: the caller gives the threads and the memory.

    void    TAG_pool_init(pool, threads)        before anything else
    void    TAG_pool_worker(pool)               what each of the other threads runs
    void    TAG_pool_scope(pool, begins)        a run begins (1) or ends (0)
    void    TAG_pool_parallel_for(pool, task, context, count)
    void    TAG_pool_stop(pool)                 makes the workers return
    int64_t TAG_pool_bytes(threads)             fewer threads than one are one

The memory is cut into lines of 64 bytes, so that no two threads write to the same one:

    line 0    threads 0 | workers that came 4 | stop 8 | open runs 12
    line 1    whether a launch has taken the pool
    line 2    mailbox of worker 1: epoch 0 | asleep 4 | task 8 | context 16 | begin 24 | end 32 |
              waited for 40
    line 3    the epoch of the last work that worker 1 has done
    line 4    the epoch of the last work for worker 1 that was begun, by anyone
    line 5    mailbox of worker 2 ...

Note [Waiting]. A worker is given work by raising the epoch of its mailbox. While a run is open it
watches the epoch: first with `pause`, then it lets other threads run (`sched_yield`), then it
sleeps (`futex`) until it is woken. When no run is open it sleeps after a moment, so an idle program
burns nothing. The thread that called waits for the others in the same way. Waiting forever with
`pause` is the one thing that must not be done: where there are more threads than processors
the one that is waited for would not get to run.

Note [Who takes part]. Only workers that have come get work: a pool without workers, or with
fewer than it was made for (after a fork, or before they start), is slower and not stuck. If the
pool is taken by another run, the caller does all the parts by itself. And when it is done with its
own part it does those too that nobody has begun: a worker that sleeps may need 100 us to come, and
on a busy machine one that is awake may not be let to run. Who begins a part is who raises its epoch
in the third line; all else about a part stays as it is until it is done.

Note [Stopping]. A pool may be stopped while its workers are still on their way. Who stops it says
so first (8) and then takes the number of those that came, to wake them; a worker adds itself to
the number and then looks once more whether the pool was stopped. So one of the two sees the other:
a worker that looked only before it came would sleep for ever, and who joins it with it.

Note [Falling asleep]. A worker says that it sleeps (asleep is 1), looks for work once more, and
sleeps only for as long as it still says so. Who has given it work takes the word back and wakes
it, in this order. So the word that is taken back is always one that the worker still goes by: if
it slept by its epoch instead, the word for its next sleep could be taken back while it is about to
fall asleep, and nobody would wake it any more.
"""

from __future__ import annotations

WAIT_PRIVATE, WAKE_PRIVATE = 128, 129
SYS_FUTEX, SYS_SCHED_YIELD = 202, 24

SPIN = 2000
"""How often to `pause` before letting others run, while a run is open."""
YIELDS = 60
"""How often to let others run before going to sleep."""
MOMENT = 100
"""How often to `pause` before going to sleep when no run is open."""
GRACE = 16
"""How often to `pause` before beginning a part that was meant for a worker."""

_CLOBBERS = "~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"
_FUTEX = f'asm sideeffect "syscall", "={{ax}},{{ax}},{{di}},{{si}},{{dx}},{{r10}},{_CLOBBERS}"'
_YIELD = f'asm sideeffect "syscall", "={{ax}},{{ax}},{_CLOBBERS}"'

STAY = """  %long = icmp uge i32 %tries, SPIN
  br i1 %long, label %let, label %pause
pause:
  call void asm sideeffect "pause", "~{dirflag},~{fpsr},~{flags}"()
  br label %again
let:
  %yielded = call i64 YIELD(i64 24)
  br label %again
again:
  br label %watch
"""
"""Let a moment go by: `pause`, and after many of them let others run; then `watch` again."""
POOL = (
    """
define i64 @TAG_pool_bytes(i32 %threads) nounwind {
entry:
  %none = icmp slt i32 %threads, 1
  %some = select i1 %none, i32 1, i32 %threads
  %many = zext i32 %some to i64
  %bytes = mul i64 %many, 192
  ret i64 %bytes
}
define void @TAG_pool_init(ptr %pool, i32 %threads) nounwind {
entry:
  %bytes = call i64 @TAG_pool_bytes(i32 %threads)
  br label %clear
clear:
  %at = phi i64 [ 0, %entry ], [ %next, %clear ]
  %word = getelementptr i8, ptr %pool, i64 %at
  store i64 0, ptr %word, align 8
  %next = add i64 %at, 8
  %more = icmp ult i64 %next, %bytes
  br i1 %more, label %clear, label %end
end:
  %none = icmp slt i32 %threads, 1
  %some = select i1 %none, i32 1, i32 %threads
  store atomic i32 %some, ptr %pool seq_cst, align 4
  ret void
}
define void @TAG_pool_scope(ptr %pool, i32 %begins) nounwind {
entry:
  %open = getelementptr i8, ptr %pool, i64 12
  %twice = shl i32 %begins, 1
  %change = sub i32 %twice, 1
  %before = atomicrmw add ptr %open, i32 %change seq_cst
  ret void
}
define internal void @TAG.pool.wake(ptr %word) nounwind {
entry:
  %result = call i64 FUTEX(i64 202, ptr %word, i64 129, i64 1, i64 0)
  ret void
}
define internal void @TAG.pool.sleep(ptr %word, i32 %value) nounwind {
entry:
  %wide = zext i32 %value to i64
  %result = call i64 FUTEX(i64 202, ptr %word, i64 128, i64 %wide, i64 0)
  ret void
}
define void @TAG_pool_stop(ptr %pool) nounwind {
entry:
  %stop = getelementptr i8, ptr %pool, i64 8
  store atomic i32 1, ptr %stop seq_cst, align 4
  %came.at = getelementptr i8, ptr %pool, i64 4
  %came = atomicrmw xchg ptr %came.at, i32 0 seq_cst
  br label %test
test:
  %number = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i32 %number, %came
  br i1 %more, label %body, label %end
body:
  %wide = zext i32 %number to i64
  %before = mul i64 %wide, 192
  %offset = add i64 %before, 128
  %box = getelementptr i8, ptr %pool, i64 %offset
  %asleep.at = getelementptr i8, ptr %box, i64 4
  %old = atomicrmw add ptr %box, i32 1 seq_cst
  %slept = atomicrmw xchg ptr %asleep.at, i32 0 seq_cst
  call void @TAG.pool.wake(ptr %asleep.at)
  %next = add i32 %number, 1
  br label %test
end:
  ret void
}
define void @TAG_pool_worker(ptr %pool) nounwind {
entry:
  %came.at = getelementptr i8, ptr %pool, i64 4
  %stop.at = getelementptr i8, ptr %pool, i64 8
  %open.at = getelementptr i8, ptr %pool, i64 12
  br label %come
come:
  %here = load atomic i32, ptr %came.at seq_cst, align 4
  %number = add i32 %here, 1
  %threads = load i32, ptr %pool
  %stopped = load atomic i32, ptr %stop.at seq_cst, align 4
  %full = icmp uge i32 %number, %threads
  %over = icmp ne i32 %stopped, 0
  %late = or i1 %full, %over
  br i1 %late, label %leave, label %claim
claim:
  %claimed = cmpxchg ptr %came.at, i32 %here, i32 %number seq_cst seq_cst
  %mine = extractvalue { i32, i1 } %claimed, 1
  br i1 %mine, label %look.again, label %come
look.again:
  %ended = load atomic i32, ptr %stop.at seq_cst, align 4
  %goes.on = icmp eq i32 %ended, 0
  br i1 %goes.on, label %ready, label %leave
ready:
  %wide = zext i32 %number to i64
  %after = mul i64 %wide, 192
  %offset = sub i64 %after, 64
  %box = getelementptr i8, ptr %pool, i64 %offset
  %done.at = getelementptr i8, ptr %box, i64 64
  %begun.at = getelementptr i8, ptr %box, i64 128
  %waited.at = getelementptr i8, ptr %box, i64 40
  %asleep.at = getelementptr i8, ptr %box, i64 4
  %task.at = getelementptr i8, ptr %box, i64 8
  %context.at = getelementptr i8, ptr %box, i64 16
  %begin.at = getelementptr i8, ptr %box, i64 24
  %end.at = getelementptr i8, ptr %box, i64 32
  br label %wait
wait:
  %known = phi i32 [ 0, %ready ], [ %epoch, %begin.it ], [ %epoch, %do ], [ %epoch, %last ]
  br label %watch
watch:
  %tries = phi i32 [ 0, %wait ], [ %more.tries, %again ], [ 0, %awake ]
  %epoch = load atomic i32, ptr %box acquire, align 4
  %news = icmp ne i32 %epoch, %known
  br i1 %news, label %look, label %idle
idle:
  %open = load atomic i32, ptr %open.at monotonic, align 4
  %closed = icmp eq i32 %open, 0
  %limit = select i1 %closed, i32 MOMENT, i32 LIMIT
  %tired = icmp uge i32 %tries, %limit
  br i1 %tired, label %rest, label %stay
stay:
  %more.tries = add i32 %tries, 1
"""
    + STAY
    + """rest:
  %slept = atomicrmw xchg ptr %asleep.at, i32 1 seq_cst
  %latest = load atomic i32, ptr %box seq_cst, align 4
  %no.news = icmp eq i32 %latest, %known
  br i1 %no.news, label %sleep, label %awake
sleep:
  call void @TAG.pool.sleep(ptr %asleep.at, i32 1)
  br label %awake
awake:
  %woke = atomicrmw xchg ptr %asleep.at, i32 0 seq_cst
  br label %watch
look:
  %stopping = load atomic i32, ptr %stop.at seq_cst, align 4
  %stays = icmp eq i32 %stopping, 0
  br i1 %stays, label %begin.it, label %leave
begin.it:
  %earlier = sub i32 %epoch, 1
  %begun = cmpxchg ptr %begun.at, i32 %earlier, i32 %epoch seq_cst seq_cst
  %is.mine = extractvalue { i32, i1 } %begun, 1
  br i1 %is.mine, label %do, label %wait
do:
  %task = load ptr, ptr %task.at
  %context = load ptr, ptr %context.at
  %begin = load i64, ptr %begin.at
  %end = load i64, ptr %end.at
  call void %task(ptr %context, i64 %begin, i64 %end, i64 %wide)
  %before = atomicrmw xchg ptr %done.at, i32 %epoch seq_cst
  %waiter = load atomic i32, ptr %waited.at seq_cst, align 4
  %waited = icmp ne i32 %waiter, 0
  br i1 %waited, label %last, label %wait
last:
  call void @TAG.pool.wake(ptr %done.at)
  br label %wait
leave:
  ret void
}
define internal void @TAG.pool.join(ptr %box, i64 %slot) nounwind {
entry:
  %done.at = getelementptr i8, ptr %box, i64 64
  %waited.at = getelementptr i8, ptr %box, i64 40
  %begun.at = getelementptr i8, ptr %box, i64 128
  %epoch = load i32, ptr %box
  %earlier = sub i32 %epoch, 1
  br label %glance
glance:
  %glances = phi i32 [ 0, %entry ], [ %more.glances, %patience ]
  %first = load atomic i32, ptr %done.at acquire, align 4
  %quick = icmp eq i32 %first, %epoch
  br i1 %quick, label %leave, label %patience
patience:
  call void asm sideeffect "pause", "~{dirflag},~{fpsr},~{flags}"()
  %more.glances = add i32 %glances, 1
  %patient = icmp ult i32 %more.glances, GRACE
  br i1 %patient, label %glance, label %begin.it
begin.it:
  %begun = cmpxchg ptr %begun.at, i32 %earlier, i32 %epoch seq_cst seq_cst
  %is.mine = extractvalue { i32, i1 } %begun, 1
  br i1 %is.mine, label %do, label %watch
do:
  %task.at = getelementptr i8, ptr %box, i64 8
  %context.at = getelementptr i8, ptr %box, i64 16
  %begin.at = getelementptr i8, ptr %box, i64 24
  %end.at = getelementptr i8, ptr %box, i64 32
  %task = load ptr, ptr %task.at
  %context = load ptr, ptr %context.at
  %begin = load i64, ptr %begin.at
  %finish = load i64, ptr %end.at
  call void %task(ptr %context, i64 %begin, i64 %finish, i64 %slot)
  ret void
watch:
  %tries = phi i32 [ 0, %begin.it ], [ %more.tries, %again ], [ %tries, %rest ]
  %done = load atomic i32, ptr %done.at acquire, align 4
  %is.done = icmp eq i32 %done, %epoch
  br i1 %is.done, label %end, label %idle
idle:
  %more.tries = add i32 %tries, 1
  %tired = icmp uge i32 %tries, LIMIT
  br i1 %tired, label %mark, label %stay
stay:
"""
    + STAY
    + """mark:
  %marked = atomicrmw xchg ptr %waited.at, i32 1 seq_cst
  %now = load atomic i32, ptr %done.at seq_cst, align 4
  %still = icmp ne i32 %now, %epoch
  br i1 %still, label %rest, label %unmark
rest:
  call void @TAG.pool.sleep(ptr %done.at, i32 %now)
  br label %watch
end:
  %slept = icmp uge i32 %tries, LIMIT
  br i1 %slept, label %unmark, label %leave
unmark:
  store atomic i32 0, ptr %waited.at monotonic, align 4
  br label %leave
leave:
  ret void
}
define void @TAG_pool_parallel_for(ptr %pool, ptr %task, ptr %context, i64 %count) nounwind {
entry:
  %came.at = getelementptr i8, ptr %pool, i64 4
  %taken.at = getelementptr i8, ptr %pool, i64 64
  %came = load atomic i32, ptr %came.at acquire, align 4
  %threads = add i32 %came, 1
  %most = zext i32 %threads to i64
  %fewer = icmp slt i64 %count, %most
  %parts = select i1 %fewer, i64 %count, i64 %most
  %several = icmp sgt i64 %parts, 1
  br i1 %several, label %take, label %alone
take:
  %taken = cmpxchg ptr %taken.at, i32 0, i32 1 acquire monotonic
  %mine = extractvalue { i32, i1 } %taken, 1
  br i1 %mine, label %share, label %alone
share:
  %size = udiv i64 %count, %parts
  %whole = mul i64 %size, %parts
  %rest = sub i64 %count, %whole
  %longer = icmp ne i64 %rest, 0
  %one = zext i1 %longer to i64
  %first = add i64 %size, %one
  br label %give
give:
  %number = phi i64 [ 1, %share ], [ %number.next, %given ]
  %begin = phi i64 [ %first, %share ], [ %end, %given ]
  %has.more = icmp ult i64 %number, %rest
  %more = zext i1 %has.more to i64
  %length = add i64 %size, %more
  %end = add i64 %begin, %length
  %behind = mul i64 %number, 192
  %offset = sub i64 %behind, 64
  %box = getelementptr i8, ptr %pool, i64 %offset
  %asleep.at = getelementptr i8, ptr %box, i64 4
  %task.at = getelementptr i8, ptr %box, i64 8
  %context.at = getelementptr i8, ptr %box, i64 16
  %begin.at = getelementptr i8, ptr %box, i64 24
  %end.at = getelementptr i8, ptr %box, i64 32
  store ptr %task, ptr %task.at
  store ptr %context, ptr %context.at
  store i64 %begin, ptr %begin.at
  store i64 %end, ptr %end.at
  %epoch = atomicrmw add ptr %box, i32 1 seq_cst
  %asleep = load atomic i32, ptr %asleep.at seq_cst, align 4
  %sleeps = icmp ne i32 %asleep, 0
  br i1 %sleeps, label %rouse, label %given
rouse:
  %slept = atomicrmw xchg ptr %asleep.at, i32 0 seq_cst
  %still = icmp ne i32 %slept, 0
  br i1 %still, label %wake, label %given
wake:
  call void @TAG.pool.wake(ptr %asleep.at)
  br label %given
given:
  %number.next = add i64 %number, 1
  %again = icmp ult i64 %number.next, %parts
  br i1 %again, label %give, label %own
own:
  call void %task(ptr %context, i64 0, i64 %first, i64 0)
  br label %join
join:
  %other = phi i64 [ 1, %own ], [ %other.next, %join ]
  %other.behind = mul i64 %other, 192
  %other.offset = sub i64 %other.behind, 64
  %other.box = getelementptr i8, ptr %pool, i64 %other.offset
  call void @TAG.pool.join(ptr %other.box, i64 %other)
  %other.next = add i64 %other, 1
  %others = icmp ult i64 %other.next, %parts
  br i1 %others, label %join, label %joined
joined:
  store atomic i32 0, ptr %taken.at release, align 4
  ret void
alone:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %do, label %end.alone
do:
  call void %task(ptr %context, i64 0, i64 %count, i64 0)
  br label %end.alone
end.alone:
  ret void
}
"""
)


def emit_pool(tag: str) -> str:
    """Return the text of the pool's functions, for Linux on x86-64."""
    text = POOL.replace("LIMIT", str(SPIN + YIELDS)).replace("SPIN", str(SPIN))
    text = text.replace("GRACE", str(GRACE)).replace("MOMENT", str(MOMENT))
    return text.replace("FUTEX", _FUTEX).replace("YIELD", _YIELD).replace("TAG", tag)
