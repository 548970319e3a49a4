// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The explorer's threads have a stack each, made once, and begin anew for each schedule. They are
 * left and entered by longjmp(), which asks nothing of the system.
 */
#undef _FORTIFY_SOURCE /* its longjmp() wants all frames on one stack */
#include "sched_int.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES (256UL << 10)

/* A thread's, or at the end that of who called sched_explore(). */
struct stack {
	char *bottom;
	size_t bytes;
	jmp_buf here, top;
	void *fake; /* the sanitizer's */
	ucontext_t first;
};

static struct stack stacks[SCHED_THREADS + 1];
static int current = SCHED_CALLER; /* whose stack this is */

static void stack_leave(struct stack *from, const struct stack *to)
{
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_start_switch_fiber(&from->fake, to->bottom, to->bytes);
#else
	(void)from;
	(void)to;
#endif
}

static void stack_enter(struct stack *to)
{
#ifdef __SANITIZE_ADDRESS__
	const void *bottom;
	size_t bytes;

	__sanitizer_finish_switch_fiber(to->fake, &bottom, &bytes);
	/* The caller's is not known before it is left. */
	if (!stacks[SCHED_CALLER].bottom) {
		stacks[SCHED_CALLER].bottom = (char *)bottom;
		stacks[SCHED_CALLER].bytes = bytes;
	}
#else
	(void)to;
#endif
}

void stack_switch(int next)
{
	struct stack *from = &stacks[current], *to = &stacks[next];

	if (_setjmp(from->here)) {
		stack_enter(from);
		return;
	}
	stack_leave(from, to);
	current = next;
	sched.self = next == SCHED_CALLER ? SCHED_NONE : next;
	_longjmp(to->here, 1);
}

static void stack_main(void)
{
	struct stack *stack = &stacks[current];
	const struct sched_thread *t;

	stack_enter(stack);
	if (!_setjmp(stack->top))
		stack_switch(SCHED_CALLER);
	else
		stack_enter(stack);
	t = &sched.test->thread[current];
	t->fn(t->arg);
	sched.thread[current].ended = true;
	sched_go_on(SCHED_NONE);
	abort();
}

static void stack_make(int thread)
{
	struct stack *stack = &stacks[thread];
	char *p =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Who overruns it faults. */
	if (p == MAP_FAILED || mprotect(p, 64 << 10, PROT_NONE) || getcontext(&stack->first))
		abort();
	stack->bottom = p + (64 << 10);
	stack->bytes = STACK_BYTES - (64 << 10);
	stack->first.uc_stack.ss_sp = stack->bottom;
	stack->first.uc_stack.ss_size = stack->bytes;
	makecontext(&stack->first, stack_main, 0);
	if (_setjmp(stacks[SCHED_CALLER].here)) {
		stack_enter(&stacks[SCHED_CALLER]);
		return;
	}
	stack_leave(&stacks[SCHED_CALLER], stack);
	current = thread;
	setcontext(&stack->first);
	abort();
}

void stack_begin(int thread)
{
	struct stack *stack = &stacks[thread];

	if (!stack->bottom)
		stack_make(thread);
#ifdef __SANITIZE_ADDRESS__
	__asan_unpoison_memory_region(stack->bottom, stack->bytes);
#endif
	memcpy(&stack->here, &stack->top, sizeof(stack->here));
	stack_switch(thread);
}

bool stack_is_callers(void)
{
	return current == SCHED_CALLER;
}
