# SPDX-License-Identifier: Apache-2.0
# The seed `markers`: gcc -c -nostdlib markers.s -o markers (binutils 2.40, x86-64)
    .text
    nop
    .section .stapsdt.base,"aG","progbits",.stapsdt.base,comdat
    .weak _.stapsdt.base
_.stapsdt.base: .space 1
    .section .note.stapsdt,"","note"
    .macro marker provider, name, args
    .balign 4
    .4byte 8, 994f-993f, 3
991: .asciz "stapsdt"
992: .balign 4
993: .8byte 0x40, 0x80, 0
    .asciz "\provider"
    .asciz "\name"
    .asciz "\args"
994: .balign 4
    .endm
    marker shop, begin, "8@%rdi -4@$5"
    marker shop, end, ""
