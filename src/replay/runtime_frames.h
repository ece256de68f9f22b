// SPDX-License-Identifier: Apache-2.0
// Frames of code that a runtime generated or interprets: their callers and their functions, read
// from the memory of the running process.

#ifndef REPLAY_RUNTIME_FRAMES_H
#define REPLAY_RUNTIME_FRAMES_H

#include "replay/modules.h"
#include "runtimes/python.h"
#include "wire/python_capture.h"

typedef struct JavaRuntime JavaRuntime;
typedef struct ScriptRuntime ScriptRuntime;
typedef struct PythonRuntime PythonRuntime;

// The runtimes in one process. When all fields but the first five are zero, the frames are not
// known yet; they are found when generated code first appears in a stack.
typedef struct RuntimeFrames {
    ModuleSet *modules;
    Profile *profile;
    UnwindSpace *space;
    CaptureTarget *targets; // consumer_use_programs
    uint32_t pid;
    int64_t now_ns;    // time of the sample: memory that was read a second ago is read again
    uint32_t searches; // for a runtime, so far
    JavaRuntime *java; // NULL: none found
    ScriptRuntime *script;
    PythonRuntime *python;
    uint32_t lua_file;        // 1 + the module that contains LuaJIT; 0: none found
    uint64_t seen_generation; // of the space, when Python was last looked for
} RuntimeFrames;

void runtime_frames_deinit(RuntimeFrames *r); // may be called again

// Whether a runtime was found.
bool runtime_frames_found(const RuntimeFrames *r);
// Whether one was found whose frames must be read soon after each sample: those of Python may be
// read at the sample.
bool runtime_frames_change(const RuntimeFrames *r);

// UnwindSpace.generated, with the RuntimeFrames as its context.
UnwindGeneratedEnd runtime_frames_step(void *ctx, UnwindGenerated *frame);

// Prepares the Python frames of a sample. `captured` was read when the sample was taken; NULL:
// they are read now, and used only where they fit the walked frames.
void runtime_frames_begin(RuntimeFrames *r, uint32_t tid, const CaptureStack *captured,
                          const UnwindFrame *walked, uint32_t count);
// The Python frames that a walked frame of the interpreter stands for, innermost first. Walked
// frames are given in their order. 0: the frame is not one of the interpreter, or its Python frames
// are unknown.
uint32_t runtime_frames_python(RuntimeFrames *r, const UnwindFrame *frame, FrameId *ret,
                               uint32_t max);

// Whether a runtime may know the code at an address: it was generated, or is the runtime's own
// without unwind rules. The answer holds as long as the space is the same.
bool runtime_frames_may_name(RuntimeFrames *r, uint64_t pc);

// The frame of the profile for a walked one. `stack` is the copied stack. False when no runtime
// knows it. `ret_below` becomes true when it is the caller of the walked one, as a function that an
// interpreter runs: both are frames then.
bool runtime_frames_name(RuntimeFrames *r, const UnwindFrame *frame, const UnwindMemory *stack,
                         FrameId *ret, bool *ret_below);

#endif // REPLAY_RUNTIME_FRAMES_H
