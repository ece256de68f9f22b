// SPDX-License-Identifier: Apache-2.0
// How threads spent their time: classes, locks with their holders, places.

#ifndef ANALYSE_WAITS_H
#define ANALYSE_WAITS_H

#include "base/strbuf.h"
#include "model/profile.h"

// A place in a program.
typedef struct WaitPlace {
    FrameId frame; // 0: not known
    StrId file;
    uint32_t line;
} WaitPlace;

// The part of a stack that ends in the innermost frame of a program, not of the C library or the
// kernel; 0: it has none.
StackId wait_program_stack(const Profile *p, StackId stack);
// The innermost place of a stack in a program.
WaitPlace wait_place(const Profile *p, StackId stack);
// The same in the program's own source: not in a header of the C++ or Rust library whose code the
// program took in, unless there is no other. Of a program in Java, JavaScript or Python its own
// function, not the interpreter's.
WaitPlace wait_own_place(const Profile *p, StackId stack);
// Whether a source file is one of those libraries.
bool wait_is_library_file(Str file);
// Appends "flush (store.c:210)"; "[unknown]" without a place.
void wait_place_add(const Profile *p, WaitPlace place, StrBuf *out);

// Whether a wait is that of a thread without work: of an event loop, of a worker of a pool for its
// next work, of a process for a signal, of one thread for the end of another.
bool wait_is_idle(const Profile *p, WaitClass state, StackId stack);

// Whether a wait is that of one thread for the end of another.
bool wait_is_join(const Profile *p, StackId stack);

// The object of waits for the lock of Python's interpreter.
#define WAIT_PYTHON_LOCK "Python's GIL"
// Gives waits for that lock this object, by the functions of the interpreter that take it and by
// the interpreter's own object in memory. Other waits keep theirs.
void waits_name_python_lock(Profile *p);

// Time by class, in ns.
typedef struct WaitTotals {
    uint64_t of[WAIT_CLASS_COUNT];
    uint64_t idle; // left out of the classes
    uint64_t all;
    uint32_t threads;
} WaitTotals;

// The totals of all threads.
WaitTotals wait_totals(const Profile *p);

// The meaning of a row of a table of waits.
typedef enum WaitBy {
    WAIT_BY_CLASS,
    WAIT_BY_LOCK,  // the object of a lock, or the place where it is waited for
    WAIT_BY_FILE,  // the object of another wait
    WAIT_BY_WAKER, // the place at which others ended the wait
} WaitBy;

typedef struct WaitLine {
    WaitClass state;
    StrId object;
    WaitPlace place;    // where most of the time is waited
    WaitPlace other;    // where the threads that ended these waits were; the one with most time
    double other_share; // of the time of waits whose end is known
    uint64_t count, total_ns, longest_ns;
    uint64_t p50_ns, p99_ns; // lower bounds of buckets: 25 % exact
    uint64_t place_ns;
} WaitLine;
typedef Vec(WaitLine) WaitLineVec;

// The rows of a table, by falling time; heap memory. `with_idle` keeps threads without work.
WaitLineVec wait_lines(const Profile *p, WaitBy by, bool with_idle);

// The longest wait of one thread for one lock, for the first screen.
typedef struct WaitHeadline {
    ThreadId thread;
    double share; // of the thread's time
    WaitClass state;
    StrId object;
    WaitPlace place, holder;
} WaitHeadline;

// False when no thread waits for a tenth of its time for anything that is not idle.
bool wait_headline(const Profile *p, WaitHeadline *ret);

#endif // ANALYSE_WAITS_H
