// SPDX-License-Identifier: Apache-2.0
// x86-64: instructions of many forms in one function, for breakpoints at each of them.
// Truths: it prints the same sum whatever is probed, and ends with status 7; an instruction of
// `forms` runs 20 times, in its loop 60 times, where a jump may pass it at most 20 times.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

uint64_t cell = 3, cells[4] = {5, 7, 11, 13};
float halves[4] = {0.5f, 1.5f, 2.5f, 3.5f};
unsigned char area[64];

uint64_t twice(uint64_t n)
{
    return n * 2;
}
uint64_t (*pointer)(uint64_t) = twice;

uint64_t forms(uint64_t n, int has_avx);

__asm__(".text\n.globl forms\n.type forms,@function\nforms:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\n"
        "push %r12\n.cfi_adjust_cfa_offset 8\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\n"
        "mov %rdi, %r12\n"
        "test %esi, %esi\n"
        "je 0f\n"
        "vmovss halves+8(%rip), %xmm2\n"
        "vaddss halves+4(%rip), %xmm2, %xmm3\n"
        "vmovups halves(%rip), %xmm9\n"
        "vpshufd $27, halves(%rip), %xmm4\n"
        "0: mov cell(%rip), %rbx\n"
        "add %rbx, cell(%rip)\n"
        "addq $1000, cell(%rip)\n"
        "addw $3, cell(%rip)\n"
        "orb $1, cell(%rip)\n"
        "imul $17, cell(%rip), %rsi\n"
        "imul $70000, cell(%rip), %rdi\n"
        "add %rsi, %r12\n"
        "xor %rdi, %r12\n"
        "lea cells(%rip), %rsi\n"
        "add 8(%rsi), %r12\n"
        "testb $4, cell(%rip)\n"
        "jne 1f\n"
        "add $9, %r12\n"
        "1: cmpl $0, cell(%rip)\n"
        "js 2f\n"
        "inc %r12\n"
        "2: movss halves+4(%rip), %xmm1\n"
        "addss halves(%rip), %xmm1\n"
        "cvttss2si %xmm1, %rax\n"
        "add %rax, %r12\n"
        "shufps $27, halves(%rip), %xmm1\n"
        "bswap %r12\n"
        "rolq $5, cell(%rip)\n"
        "btq $3, cell(%rip)\n"
        "adc $0, %r12\n"
        "pushf\n.cfi_adjust_cfa_offset 8\n"
        "pop %rax\n.cfi_adjust_cfa_offset -8\n"
        "and $0x1c5, %eax\n"
        "add %rax, %r12\n"
        "lea area(%rip), %rdi\n"
        "mov $6, %ecx\n"
        "mov $0x5a, %eax\n"
        "rep stosb\n"
        "mov cells+16(%rip), %rdi\n"
        "call *pointer(%rip)\n"
        "add %rax, %r12\n"
        "mov pointer(%rip), %rbx\n"
        "mov %r12, %rdi\n"
        "call *%rbx\n"
        "mov %rax, %rdi\n"
        "call twice@PLT\n"
        "xor %rax, %r12\n"
        "jmp 3f\n"
        "ud2\n"
        "3: mov $3, %ebx\n"
        "4: add %r12, %r12\n"
        "dec %ebx\n"
        "jg 4b\n"
        "nopw 0x0(%rax,%rax,1)\n"
        ".byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n" // a long nop
        "cmpxchg8b cells+24(%rip)\n"
        "mov %r12, %rax\n"
        "pop %rbx\n.cfi_adjust_cfa_offset -8\n"
        "pop %r12\n.cfi_adjust_cfa_offset -8\n"
        "pop %rbp\n.cfi_adjust_cfa_offset -8\n"
        ".Lend: ret\n"
        ".cfi_endproc\n.size forms,.-forms\n");

int main(void)
{
    uint64_t n = 1, sum = 0;
    for (int i = 0; i < 20; i++) {
        n = forms(n + (uint64_t)i, __builtin_cpu_supports("avx"));
        sum = sum * 31 + n;
    }
    for (size_t i = 0; i < sizeof(area); i++)
        sum = sum * 31 + area[i];
    printf("steps 20 %016llx\n", (unsigned long long)(sum ^ cell ^ cells[3]));
    return 7;
}
