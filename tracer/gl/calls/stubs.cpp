#include "tracer/gl/calls/stubs.h"

#include "tracer/gl/calls/hooked_calls.h"
#include "tracer/gl/calls/work_calls.h"

// Registers that carry arguments are kept over our code in a frame of 192 bytes.
__asm__(R"(
  .macro corun_keep
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $192, %rsp
    andq $-16, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movaps %xmm0, 64(%rsp)
    movaps %xmm1, 80(%rsp)
    movaps %xmm2, 96(%rsp)
    movaps %xmm3, 112(%rsp)
    movaps %xmm4, 128(%rsp)
    movaps %xmm5, 144(%rsp)
    movaps %xmm6, 160(%rsp)
    movaps %xmm7, 176(%rsp)
  .endm

  .macro corun_give_back cfa_offset
    movq 0(%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movaps 64(%rsp), %xmm0
    movaps 80(%rsp), %xmm1
    movaps 96(%rsp), %xmm2
    movaps 112(%rsp), %xmm3
    movaps 128(%rsp), %xmm4
    movaps 144(%rsp), %xmm5
    movaps 160(%rsp), %xmm6
    movaps 176(%rsp), %xmm7
    leave
    .cfi_def_cfa %rsp, \cfa_offset
  .endm

  .set corun_stub, 0

  # Code that finds out what a call of stub 0 leads to, and has it in %r11.
  .macro corun_lazy name
    .Lcorun_lazy_\name:
      .cfi_startproc
      endbr64
      pushq $(corun_stub / 4)
      .cfi_adjust_cfa_offset 8
      call corun_gl_save_and_resolve
      addq $8, %rsp
      .cfi_adjust_cfa_offset -8
  .endm

  .macro corun_slots first
    .pushsection .data.corun_slots, "aw", @progbits
      .quad \first, 0, 0, 0
    .popsection
  .endm

  .macro corun_name name
    .globl \name
    .type \name, @function
    \name:
  .endm

  .macro corun_work_call name
    .pushsection .text.corun_lazy, "ax", @progbits
      corun_lazy \name
      jmp *%r11
      .cfi_endproc
    .popsection
    corun_slots .Lcorun_lazy_\name
    corun_name \name
    .rept 4
      .cfi_startproc
      endbr64
      movq corun_gl_thread@gottpoff(%rip), %r11
      cmpb $0, %fs:(%r11)
      je 1f
      jmp *(corun_gl_slots + 8 * corun_stub)(%rip)
    1:
      call corun_gl_save_and_prepare
      jmp *(corun_gl_slots + 8 * corun_stub)(%rip)
      .balign 64, 0xCC
      .cfi_endproc
      .set corun_stub, corun_stub + 1
    .endr
    .size \name, . - \name
  .endm

  .macro corun_hooked_call name, free
    .pushsection .text.corun_lazy, "ax", @progbits
      corun_lazy \name
      movq %r11, %\free
      jmp corun_gl_on_\name
      .cfi_endproc
    .popsection
    corun_slots 0
    corun_name \name
    .rept 4
      .cfi_startproc
      endbr64
      movq (corun_gl_slots + 8 * corun_stub)(%rip), %\free
      testq %\free, %\free
      je .Lcorun_lazy_\name
      jmp corun_gl_on_\name
      .balign 64, 0xCC
      .cfi_endproc
      .set corun_stub, corun_stub + 1
    .endr
    .size \name, . - \name
  .endm

  .pushsection .data.corun_slots, "aw", @progbits
    .balign 8
    .globl corun_gl_slots
    .hidden corun_gl_slots
    corun_gl_slots:
  .popsection

  .text
  .globl corun_gl_stubs, corun_gl_stubs_end, corun_gl_nothing
  .hidden corun_gl_stubs, corun_gl_stubs_end, corun_gl_nothing

  .balign 64
  corun_gl_stubs:
)"
#define CORUN_STUB(name) "corun_work_call " #name "\n"
        CORUN_GL_WORK_CALLS(CORUN_STUB) CORUN_GL_PASS_CALLS(CORUN_STUB)
#undef CORUN_STUB
#define CORUN_STUB(name, free) "corun_hooked_call " #name ", " #free "\n"
            CORUN_GL_HOOKED_CALLS(CORUN_STUB)
#undef CORUN_STUB
                R"(
  corun_gl_stubs_end:

  corun_gl_save_and_prepare:
    .cfi_startproc
    .cfi_def_cfa_offset 16
    corun_keep
    movq 8(%rbp), %rdi
    call corun_gl_before_work
    corun_give_back 16
    ret
    .cfi_endproc

  # On the stack: where it goes on, the number of the name, where the program's call returns to.
  corun_gl_save_and_resolve:
    .cfi_startproc
    .cfi_def_cfa_offset 24
    corun_keep
    movq 16(%rbp), %rdi
    movq 24(%rbp), %rsi
    call corun_gl_resolve
    movq %rax, %r11
    corun_give_back 24
    ret
    .cfi_endproc

  corun_gl_nothing:
    endbr64
    xorl %eax, %eax
    ret
)");
