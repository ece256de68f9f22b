// SPDX-License-Identifier: Apache-2.0
// Passing instructions under breakpoints.

#include "collect/breakpoints/step.h"

#ifdef __x86_64__

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "collect/breakpoints/code.h"
#include "disasm/x86_length.h"
#include "os/tracing.h"

typedef struct user_regs_struct UserRegs;

// ---- The parts of an instruction --------------------------------------------------------------

typedef enum OpcodeMap { MAP_ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A } OpcodeMap;

typedef struct Instruction {
    OpcodeMap map;
    uint8_t opcode;
    uint8_t rex;    // 0: none
    uint8_t vex;    // offset of a VEX or EVEX prefix + 1; 0: none
    uint8_t rex_at; // offset of `rex`
    uint8_t at;     // offset of the opcode
    uint8_t vvvv;   // another register that a VEX instruction uses; 0xff: none
    bool has_66;    // operands have 16 bits
    bool is_known;  // false: not an instruction of a known form
} Instruction;

static Instruction read_vex(const uint8_t *code, size_t at)
{
    Instruction in = {.vex = (uint8_t)(at + 1), .is_known = true};
    if (code[at] == 0xc5) {
        in.map = MAP_0F;
        in.vvvv = (uint8_t)(~code[at + 1] >> 3 & 15);
        in.at = (uint8_t)(at + 2);
    } else {
        unsigned map = code[at + 1] & (code[at] == 0x62 ? 7 : 31);
        in.is_known = map >= 1 && map <= 3;
        in.map = (OpcodeMap)map;
        in.vvvv = (uint8_t)(~code[at + 2] >> 3 & 15);
        in.at = (uint8_t)(at + (code[at] == 0x62 ? 4 : 3));
    }
    in.opcode = code[in.at];
    return in;
}

static Instruction read_instruction(const uint8_t *code)
{
    enum { PREFIXES_MAX = 5 };
    Instruction in = {.vvvv = 0xff, .is_known = true};
    size_t i = 0;
    for (; i < PREFIXES_MAX; i++) {
        uint8_t b = code[i];
        bool is_prefix = b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 ||
                         b == 0x2e || b == 0x36 || b == 0x3e || b == 0x26 || b == 0x64 || b == 0x65;
        if (!is_prefix)
            break;
        in.has_66 |= b == 0x66;
    }
    if (code[i] == 0xc4 || code[i] == 0xc5 || code[i] == 0x62)
        return read_vex(code, i);
    if ((code[i] & 0xf0) == 0x40) {
        in.rex_at = (uint8_t)i;
        in.rex = code[i++];
    }
    if (code[i] == 0x0f) {
        i++;
        in.map = code[i] == 0x38 ? MAP_0F38 : code[i] == 0x3a ? MAP_0F3A : MAP_0F;
        i += in.map != MAP_0F;
    }
    in.at = (uint8_t)i;
    in.opcode = code[i];
    return in;
}

static bool has_modrm(const Instruction *in)
{
    uint8_t op = in->opcode;
    if (in->map == MAP_0F)
        return !((op >= 0x80 && op <= 0x8f) || (op >= 0xc8 && op <= 0xcf) || op == 0x05 ||
                 op == 0x0b || op == 0x31 || op == 0x34 || op == 0x77 || op == 0xa2);
    if (in->map != MAP_ONE_BYTE)
        return true;
    return (op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 || op == 0x6b ||
           (op >= 0x80 && op <= 0x8f) || op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
           (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 ||
           op == 0xfe || op == 0xff;
}

// The bytes of a constant behind the operand in memory.
static unsigned constant_bytes(const Instruction *in, uint8_t modrm)
{
    uint8_t op = in->opcode, group = modrm >> 3 & 7;
    unsigned wide = in->has_66 && !(in->rex & 8) ? 2 : 4;
    switch (in->map) {
    case MAP_0F3A:
        return 1;
    case MAP_0F38:
        return 0;
    case MAP_0F:
        return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
               (op >= 0xc4 && op <= 0xc6);
    case MAP_ONE_BYTE:
        break;
    }
    if (op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0x6b)
        return 1;
    if (op == 0x81 || op == 0xc7 || op == 0x69)
        return wide;
    if (group < 2 && (op == 0xf6 || op == 0xf7))
        return op == 0xf6 ? 1 : wide;
    return 0;
}

static bool enters_kernel(const Instruction *in)
{
    if (in->map == MAP_0F && !in->vex)
        return in->opcode == 0x05 || in->opcode == 0x34; // syscall, sysenter
    return in->map == MAP_ONE_BYTE && (in->opcode == 0xcd || in->opcode == 0xcc);
}

// A jump or call to a distance, which is emulated unless it has a prefix; loop, jrcxz and xbegin,
// which are not.
static bool is_left_relative(const Instruction *in, const uint8_t *code)
{
    uint8_t op = in->opcode;
    if (in->vex)
        return false;
    if (in->map == MAP_0F)
        return op >= 0x80 && op <= 0x8f && in->at != 1;
    if (in->map != MAP_ONE_BYTE)
        return false;
    bool jumps = op == 0xe8 || op == 0xe9 || op == 0xeb || (op >= 0x70 && op <= 0x7f);
    return (jumps && in->at != 0) || (op >= 0xe0 && op <= 0xe3) ||
           (op == 0xc7 && code[in->at + 1] == 0xf8);
}

bool step_is_possible(const uint8_t *code)
{
    Instruction in = read_instruction(code);
    return in.is_known && !enters_kernel(&in) && !is_left_relative(&in, code);
}

// ---- Instructions that are emulated -----------------------------------------------------------

static int32_t signed_32(const uint8_t *at)
{
    int32_t n;
    memcpy(&n, at, sizeof(n));
    return n;
}

static bool condition_holds(unsigned code, uint64_t flags)
{
    bool carry = flags & 1, parity = flags & 4, zero = flags & 0x40, sign = flags & 0x80,
         overflow = flags & 0x800, holds = false;
    switch (code >> 1) {
    case 0:
        holds = overflow;
        break;
    case 1:
        holds = carry;
        break;
    case 2:
        holds = zero;
        break;
    case 3:
        holds = carry || zero;
        break;
    case 4:
        holds = sign;
        break;
    case 5:
        holds = parity;
        break;
    case 6:
        holds = sign != overflow;
        break;
    default:
        holds = zero || sign != overflow;
        break;
    }
    return holds != (code & 1);
}

static bool push(const StepThread *t, UserRegs *r, uint64_t value)
{
    if (!code_write(t->memory_fd, t->tid, r->rsp - 8, (const uint8_t *)&value, sizeof(value)))
        return false;
    r->rsp -= 8;
    return true;
}

static uint64_t register_value(const UserRegs *r, unsigned number)
{
    const unsigned long long values[] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
                                         r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
                                         r->r12, r->r13, r->r14, r->r15};
    return values[number & 15];
}

// The end of an operand whose ModRM byte is at `at`.
static unsigned operand_end(const uint8_t *code, unsigned at)
{
    unsigned mod = code[at] >> 6, rm = code[at] & 7u, end = at + 1;
    if (mod == 3)
        return end;
    bool has_distance = mod == 2 || (mod == 0 && rm == 5);
    if (rm == 4) {
        has_distance |= mod == 0 && (code[end] & 7) == 5;
        end++;
    }
    return end + (has_distance ? 4 : mod == 1);
}

// The address of an operand in memory, of an instruction that ends with it and has no prefix that
// changes addresses.
static uint64_t operand_address(const uint8_t *code, unsigned at, unsigned rex, const UserRegs *r)
{
    unsigned mod = code[at] >> 6, rm = code[at] & 7u, end = operand_end(code, at);
    uint64_t address = 0;
    bool has_base = mod != 0 || rm != 5, has_distance = mod == 2 || !has_base;
    if (rm == 4) {
        uint8_t sib = code[at + 1];
        unsigned index = (sib >> 3 & 7u) | (rex & 2) << 2;
        rm = sib & 7u;
        has_base = mod != 0 || rm != 5;
        has_distance = mod == 2 || !has_base;
        if (index != 4)
            address += register_value(r, index) << (sib >> 6);
    } else if (!has_base) {
        address += r->rip + end;
    }
    if (has_base)
        address += register_value(r, rm | (rex & 1) << 3);
    if (has_distance)
        address += (uint64_t)(int64_t)signed_32(code + end - 4);
    else if (mod == 1)
        address += (uint64_t)(int64_t)(int8_t)code[end - 1];
    return address;
}

// A call through a register or memory; a prefix "notrack" changes nothing here.
typedef struct IndirectCall {
    bool is_one;
    unsigned rex;   // 0: none
    unsigned modrm; // offset
} IndirectCall;

static IndirectCall indirect_call(const uint8_t *code)
{
    IndirectCall c = {0};
    unsigned at = code[0] == 0x3e;
    if ((code[at] & 0xf0) == 0x40)
        c.rex = code[at++];
    c.modrm = at + 1;
    c.is_one = code[at] == 0xff && (code[c.modrm] >> 3 & 7) == 2;
    return c;
}

static bool emulate_indirect_call(const StepThread *t, const uint8_t *code, UserRegs *r)
{
    IndirectCall c = indirect_call(code);
    uint64_t target, back = r->rip + operand_end(code, c.modrm);
    if (code[c.modrm] >> 6 == 3)
        target = register_value(r, (code[c.modrm] & 7u) | (c.rex & 1) << 3);
    else if (!code_read(t->memory_fd, t->tid, operand_address(code, c.modrm, c.rex, r),
                        (uint8_t *)&target, sizeof(target)))
        return false;
    if (!push(t, r, back))
        return false;
    r->rip = target;
    return true;
}

// True when the instruction was carried out on `r`. A push that the stack does not take is left to
// the processor, which raises the fault.
static bool emulate(const StepThread *t, const uint8_t *code, UserRegs *r)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    enum { SINGLE_STEP_FLAG = 0x100 };
    unsigned rex_b = code[0] == 0x41, at = rex_b;
    uint8_t op = code[at];
    if (indirect_call(code).is_one)
        return emulate_indirect_call(t, code, r);
    if (op >= 0x50 && op <= 0x57) {
        if (!push(t, r, register_value(r, (op & 7u) + 8 * rex_b)))
            return false;
        r->rip += at + 1;
        return true;
    }
    if (memcmp(code, endbr, sizeof(endbr)) == 0)
        r->rip += sizeof(endbr);
    else if (code[0] == 0x90)
        r->rip += 1;
    else if (code[0] == 0xe9)
        r->rip += 5 + (uint64_t)(int64_t)signed_32(code + 1);
    else if (code[0] == 0xeb)
        r->rip += 2 + (uint64_t)(int64_t)(int8_t)code[1];
    else if (code[0] == 0xe8) {
        if (!push(t, r, r->rip + 5))
            return false;
        r->rip += 5 + (uint64_t)(int64_t)signed_32(code + 1);
    } else if (code[0] == 0x9c) { // pushf, which must not push the flag of single-stepping
        if (!push(t, r, r->eflags & ~(uint64_t)SINGLE_STEP_FLAG))
            return false;
        r->rip += 1;
    } else if (code[0] >= 0x70 && code[0] <= 0x7f)
        r->rip +=
            2 + (condition_holds(code[0] & 15, r->eflags) ? (uint64_t)(int64_t)(int8_t)code[1] : 0);
    else if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
        r->rip +=
            6 +
            (condition_holds(code[1] & 15, r->eflags) ? (uint64_t)(int64_t)signed_32(code + 2) : 0);
    else
        return false;
    return true;
}

// Whether `emulate` can carry out the instruction.
static bool is_emulated(const uint8_t *code)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t op = code[0];
    bool pushes = (code[op == 0x41] & 0xf8) == 0x50;
    bool jumps = op == 0xe9 || op == 0xeb || op == 0xe8 || (op & 0xf0) == 0x70 ||
                 (op == 0x0f && (code[1] & 0xf0) == 0x80);
    return pushes || jumps || op == 0x90 || op == 0x9c || indirect_call(code).is_one ||
           memcmp(code, endbr, sizeof(endbr)) == 0;
}

// ---- Permanent copies --------------------------------------------------------------------------

static bool fits_32(int64_t n)
{
    return n >= INT32_MIN && n <= INT32_MAX;
}

// Corrects the distance of an operand in memory. False when it does not fit.
static bool move_operand(const Instruction *in, uint8_t *code, int64_t by)
{
    uint8_t *modrm = code + in->at + 1;
    if (!has_modrm(in) || (*modrm & 0xc7) != 0x05)
        return true;
    int64_t distance = (int64_t)signed_32(modrm + 1) + by;
    int32_t small = (int32_t)distance;
    if (!fits_32(distance) || memchr(code, 0x67, in->at)) // a prefix cuts addresses to 32 bits
        return false;
    memcpy(modrm + 1, &small, sizeof(small));
    return true;
}

// The length of a common instruction, or of one with a VEX or EVEX prefix or in the two later
// opcode maps, whose form is regular; 0: not known.
static unsigned length_of(const Instruction *in, const uint8_t *code)
{
    if (in->is_known && (in->vex || in->map == MAP_0F38 || in->map == MAP_0F3A)) {
        unsigned end = in->at + 1u;
        if (has_modrm(in))
            end = operand_end(code, end);
        end += constant_bytes(in, 0);
        return end <= X86_LENGTH_MAX ? end : 0;
    }
    bool locks = code[0] == 0xf0;
    unsigned len = x86_length_common((Bytes){code + locks, (size_t)STEP_CODE_BYTES - locks});
    return len ? len + locks : 0;
}

bool step_copy(const uint8_t *code, uint64_t at, uint64_t to, uint8_t *copy, unsigned *ret_len)
{
    enum { JUMP_BYTES = 5 };
    Instruction in = read_instruction(code);
    unsigned len = length_of(&in, code);
    // What ff /2 and ff /3 push is the address behind the copy.
    unsigned group = code[in.at + 1] >> 3 & 7;
    bool calls = in.map == MAP_ONE_BYTE && in.opcode == 0xff && (group == 2 || group == 3);
    int64_t back = (int64_t)(at - to) - JUMP_BYTES;
    int32_t distance = (int32_t)back;
    if (!len || calls || is_emulated(code) || !step_is_possible(code) || !fits_32(back))
        return false;
    memset(copy, 0, STEP_COPY_BYTES);
    memcpy(copy, code, len);
    if (!move_operand(&in, copy, (int64_t)(at - to)))
        return false;
    copy[len] = 0xe9; // jmp
    memcpy(copy + len + 1, &distance, sizeof(distance));
    *ret_len = len;
    return true;
}

// ---- Instructions that are carried out elsewhere -----------------------------------------------

typedef struct Borrowed {
    unsigned long long *reg; // holds the address of the next instruction; NULL: none
    unsigned long long value;
} Borrowed;

// An operand at a distance from the instruction becomes one at the same distance from a register
// that the instruction does not use. Its length stays.
static Borrowed borrow(const Instruction *in, uint8_t *code, UserRegs *r)
{
    struct {
        uint8_t number;
        unsigned long long *at;
    } free[] = {{6, &r->rsi}, {7, &r->rdi}, {3, &r->rbx}};
    uint8_t *modrm = code + in->at + 1;
    if (!has_modrm(in) || (*modrm & 0xc7) != 0x05)
        return (Borrowed){0};
    unsigned length = (unsigned)in->at + 2 + 4 + constant_bytes(in, *modrm), i = 0;
    while (i < 2 && (free[i].number == (*modrm >> 3 & 7) || free[i].number == in->vvvv))
        i++;
    if (in->rex)
        code[in->rex_at] &= (uint8_t)~1u;
    if (in->vex && code[in->vex - 1] != 0xc5)
        code[in->vex] |= 0x20; // the inverted bit of the base register
    *modrm = (uint8_t)((*modrm & 0x38) | 0x80 | free[i].number);
    Borrowed b = {free[i].at, *free[i].at};
    *free[i].at = r->rip + length;
    return b;
}

static bool set_registers(pid_t tid, const UserRegs *r)
{
    UserRegs copy = *r;
    struct iovec iov = {&copy, sizeof(copy)};
    return tracing_ask(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov);
}

static bool get_registers(pid_t tid, UserRegs *r)
{
    struct iovec iov = {r, sizeof(*r)};
    return tracing_ask(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov);
}

static bool is_trap(int status)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && status >> 16 == 0;
}

// Single-steps until the thread has left the instruction, which one with a repeat prefix does only
// after its last round. Requests to stop that arrive meanwhile are repeated by their callers.
static StepResult step_until_left(pid_t tid, uint64_t slot, UserRegs *regs, int *ret)
{
    enum { STEPS_MAX = 1 << 20 };
    for (int i = 0; i < STEPS_MAX; i++) {
        int status = 0;
        if (!tracing_ask(PTRACE_SINGLESTEP, tid, NULL, NULL))
            return STEP_REFUSED;
        pid_t got;
        while ((got = waitpid(tid, &status, __WALL)) < 0 && errno == EINTR)
            ;
        *ret = status;
        if (got < 0 || !WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXEC)
            return STEP_ENDED;
        if (!get_registers(tid, regs))
            return STEP_ENDED;
        if (is_trap(status) && regs->rip != slot)
            return STEP_DONE;
        if (!is_trap(status) && status >> 16 == 0) {
            *ret = WSTOPSIG(status);
            return STEP_SIGNAL;
        }
    }
    return STEP_DONE;
}

static const uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) |
                               1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1);

// The registers after the step, with addresses of the slot replaced by those of the program.
static void leave_slot(const StepThread *t, const Instruction *in, const uint8_t *code, uint64_t at,
                       UserRegs *r)
{
    uint64_t back;
    if (r->rip >= t->slot && r->rip - t->slot < STEP_CODE_BYTES)
        r->rip = at + (r->rip - t->slot);
    bool calls = in->map == MAP_ONE_BYTE && in->opcode == 0xff && (code[in->at + 1] & 0x38) == 0x10;
    if (!calls || !code_read(t->memory_fd, t->tid, r->rsp, &back, sizeof(back)) || back < t->slot ||
        back - t->slot >= STEP_CODE_BYTES)
        return;
    back = at + (back - t->slot);
    (void)code_write(t->memory_fd, t->tid, r->rsp, (const uint8_t *)&back, sizeof(back));
}

static StepResult step_in_slot(const StepThread *t, const uint8_t *original, UserRegs *regs,
                               int *ret)
{
    uint8_t code[STEP_CODE_BYTES], before[STEP_CODE_BYTES];
    uint64_t at = regs->rip, mask = 0, held;
    Instruction in = read_instruction(original);
    memcpy(code, original, sizeof(code));
    Borrowed borrowed = borrow(&in, code, regs);
    regs->rip = t->slot;
    if (!code_read(t->memory_fd, t->tid, t->slot, before, sizeof(before)) ||
        !code_write(t->memory_fd, t->tid, t->slot, code, sizeof(code)))
        return STEP_REFUSED;
    // Faults are of the instruction; all other signals come after it.
    bool holds = tracing_ask(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(mask), &mask);
    held = mask | ~faults;
    holds = holds && tracing_ask(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(held), &held);
    StepResult result =
        set_registers(t->tid, regs) ? step_until_left(t->tid, t->slot, regs, ret) : STEP_REFUSED;
    (void)code_write(t->memory_fd, t->tid, t->slot, before, sizeof(before));
    if (result == STEP_ENDED)
        return result;
    if (holds)
        (void)tracing_ask(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(mask), &mask);
    leave_slot(t, &in, code, at, regs);
    if (borrowed.reg)
        *borrowed.reg = borrowed.value;
    (void)set_registers(t->tid, regs);
    return result;
}

StepResult step_over(const StepThread *thread, const uint8_t *code, UserRegs *regs, int *ret)
{
    if (emulate(thread, code, regs))
        return set_registers(thread->tid, regs) ? STEP_DONE : STEP_REFUSED;
    if (!step_is_possible(code))
        return STEP_REFUSED;
    return step_in_slot(thread, code, regs, ret);
}

#endif // __x86_64__
