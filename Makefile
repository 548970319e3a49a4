# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ptebatch. "make help" says what there is.

MAKEFLAGS += --no-builtin-rules

ifeq ($(origin CC),default)
CC := gcc
endif
FORMATS := x86_64 x86_pae xen_pv arm64 arm64_64k riscv64 s390 ppc64
B := build

PTEBATCH_CACHE ?= $(HOME)/.cache/ptebatch
export PTEBATCH_CACHE

# Objects are cached by content, for every checkout alike: none of them knows where it stands.
export CCACHE_DIR := $(PTEBATCH_CACHE)/ccache
export CCACHE_NOHASHDIR := 1
export CCACHE_BASEDIR := $(CURDIR)
CCACHE = $(shell command -v ccache 2>/dev/null)

CFLAGS ?= -O2 -g
CPPFLAGS += -Iinclude -Ibackends/user
# As the kernel compiles: no strict aliasing, wrapping arithmetic, and the dialect of 6.12.
BASE_CFLAGS := -std=gnu11 -fno-strict-aliasing -fwrapv -Wall -Wextra -Werror -Wvla \
	-Wstrict-prototypes -Wmissing-prototypes
# What is timed is compiled as the kernel is: no registers but the general ones, nothing made into vectors.
# Functions begin with a cache line, so that a change of one does not move the others about.
TIMED_CFLAGS := -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize -falign-functions=64 \
	$(if $(filter x86_64 aarch64,$(shell uname -m)),-mgeneral-regs-only)
SAN_CFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# fwrapv would hide the overflows that the sanitizer is to find
SAN_BASE := $(filter-out -fwrapv,$(BASE_CFLAGS))
LIBS := -lzstd

USER := backends/user
SCHED := sched sched_stack sched_memory sched_step sched_order sched_dpor sched_print
PLAIN := mem layout whole_file snapshot snapshot_file whatif record record_entries record_folios
TOOL := main cmd_demo cmd_record cmd_replay cmd_explore explore_matrix cmd_bench bench_table formats \
	recordings report
BENCH := bench scene rows per_entry compare_each seed_shape ptebatch limit
# Explored are formats of one word, of two, and with blocks, which are of 4 entries in small tables.
EXPLORED := x86_64 x86_pae arm64
EXPLORE_SMALL := -DPTB_EXPLORE_SMALL -DPTB_LINE=4
EXPLORE_SMALL_arm64 := -DFMT_CONT=4
TESTS := $(wildcard tests/validate/*.c) $(wildcard tests/cases/*.c)

.PHONY: all help deps demo check check-kernel bench-kernel cross lint list-cases install clean
.PHONY: explore fuzz bench bench-budget mutants mutate kernel-tree kernel-tree-revert kernel-series
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/ptebatch

help:
	@sed -n 's/^#: //p' Makefile

#: make demo           walk recordings of real processes, per entry and batched, in every format
#: make check          everything that must pass: lint, tests, tests under sanitizers, kernel compile
#: make cross          the tests alone, for 32-bit and big-endian machines
#: make explore        every walker against the other side, all orders, into build/explore.tsv; QUICK=1
#: make fuzz           walkers and primitives on inputs nobody thought of; FUZZ_TIME=60: seconds in all
#: make bench          every way of walking against the others, in one run, into build/bench/user.tsv and plots
#: make bench-budget   what the instruction gates of make check allow becomes what this build executes
#: make stress         walkers against all others in threads; STRESS_TIME=30: seconds in all
#: make mutants        faults put into copies of the library, each caught; NAME=GLOB, ALL=1
#: make mutate         every small change of the library noticed by a test; SINCE=COMMIT
#: make coverage       lines, branches and conditions of the library that the tests reach
#: make check-kernel   the walkers in a booted Linux, x86-64 and arm64; QUICK=1: no debug kernels; ARCH=
#:                     STRESS_TIME=30: seconds of stress on each of those; KCSAN=1: one run that looks for races
#: make bench-kernel   instructions a page, off and on, into build/kernel/ab-<arch>.tsv; ARCH=
#: make kernel-tree KDIR=          put ptebatch into a kernel source tree
#: make kernel-tree-revert KDIR=   take it out again
#: make kernel-series KDIR=        as commits, where KDIR is a git tree
#: make lint           static checks alone
#: make list-cases     the case tests that ran, one "case_NN_name format" a line
#: make install PREFIX= DESTDIR=
#: make clean

deps:
	@tests/deps.sh

# V=1 shows the commands.
ifneq ($(V),1)
Q := @
endif

# ---- the tool: format.c once per format, plain for timing and with hooks for counting ----

# Of the tool built in a directory.
tool-objects = $(PLAIN:%=$(1)/%.o) $(1)/raw.o $(TOOL:%=$(1)/tool/%.o) \
	$(FORMATS:%=$(1)/fmt/%.o) $(FORMATS:%=$(1)/fmt/%.hooked.o) $(SCHED:%=$(1)/%.o) \
	$(EXPLORED:%=$(1)/fmt/%.small.o) $(EXPLORED:%=$(1)/fmt/%.full.o) $(BENCH:%=$(1)/bench/%.o)

define tool-rules
$(1)/%.o: $(USER)/%.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) $(2) -MMD -MP -c $$< -o $$@

# What is timed, and the tree that it asks.
$(1)/bench/%.o: $(USER)/bench/%.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -DPTB_FMT_HEADER='"fmt/x86_64.h"' -DPTB_USER_VMEMMAP \
		$(3) -MMD -MP -c $$< -o $$@

$(1)/mem.o: $(USER)/mem.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) $(3) -MMD -MP -c $$< -o $$@

$(1)/fmt/%.hooked.o: $(USER)/format.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -DPTB_FMT_HEADER='"fmt/$$*.h"' -DPTB_USER_HOOKS -DPTB_USER_VMEMMAP \
		$(2) -MMD -MP -c $$< -o $$@

$(1)/fmt/%.small.o: $(USER)/explore.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -DPTB_FMT_HEADER='"fmt/$$*.h"' -DPTB_USER_EXPLORE $$(EXPLORE_SMALL) \
		$$(EXPLORE_SMALL_$$*) $(2) -MMD -MP -c $$< -o $$@

$(1)/fmt/%.full.o: $(USER)/explore.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -DPTB_FMT_HEADER='"fmt/$$*.h"' -DPTB_USER_EXPLORE $(2) -MMD -MP -c $$< -o $$@

$(1)/fmt/%.o: $(USER)/format.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -DPTB_FMT_HEADER='"fmt/$$*.h"' -DPTB_USER_VMEMMAP $(2) -MMD -MP -c $$< -o $$@

$(1)/ptebatch: $(call tool-objects,$(1))
	@echo '  LD  $$@'
	$$(Q)$$(CC) $(2) -o $$@ $$^ $(LIBS)

# ---- the explorer's engine alone: no format in it ----

$(1)/explore/%.o: tests/explore/%.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -Itests $(2) -MMD -MP -c $$< -o $$@

$(1)/litmus: $(SCHED:%=$(1)/%.o) $(patsubst tests/%.c,$(1)/%.o,$(wildcard tests/explore/*.c))
	@echo '  LD  $$@'
	$$(Q)$$(CC) $(2) -o $$@ $$^ -lcriterion

# ---- tests: each file once per format, one binary ----

$(1)/tests: $(1)/mem.o $(1)/layout.o $(1)/raw.o $(1)/snapshot.o $(1)/whatif.o \
		$(foreach f,$(FORMATS),$(TESTS:tests/%.c=$(1)/t/$(f)/%.o))
	@echo '  LD  $$@'
	$$(Q)$$(CC) $(2) -o $$@ $$^ -lcriterion $(LIBS)
endef

define test-rules
$(1)/t/$(3)/%.o: tests/%.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -Itests -DPTB_FMT_HEADER='"fmt/$(3).h"' -DPTB_USER_HOOKS \
		$(2) -MMD -MP -c $$< -o $$@
endef

$(eval $(call tool-rules,$(B),$(BASE_CFLAGS) $(CFLAGS),$(BASE_CFLAGS) $(TIMED_CFLAGS)))
$(eval $(call tool-rules,$(B)/san,$(SAN_BASE) -O1 -g $(SAN_CFLAGS),$(SAN_BASE) -O1 -g $(SAN_CFLAGS)))
$(foreach f,$(FORMATS),$(eval $(call test-rules,$(B),$(BASE_CFLAGS) -O1 -g,$(f))))
$(foreach f,$(FORMATS),$(eval $(call test-rules,$(B)/san,$(SAN_BASE) -O1 -g $(SAN_CFLAGS),$(f))))

# ---- the same tests on other machines: no Criterion there, so with a runner of our own ----

CROSS := i686 aarch64 s390x mips
# Where an address has 32 bits, a PUD of 2 GiB or more does not fit.
CROSS_32 := i686 mips
CROSS_LARGE := s390 arm64_64k
cross-formats = $(if $(filter $(1),$(CROSS_32)),$(filter-out $(CROSS_LARGE),$(FORMATS)),$(FORMATS))
# Emulation is slow: of the random rounds one in so many.
CROSS_THIN_aarch64 := -DHARNESS_THIN=10
CROSS_THIN_s390x := -DHARNESS_THIN=10
CROSS_THIN_mips := -DHARNESS_THIN=10

define cross-rule
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $(1)-linux-gnu-gcc $$(CPPFLAGS) $(2) $(BASE_CFLAGS) -O1 -MMD -MP -c $$< -o $$@
endef

# A number wider than this machine's words is a frame that it cannot have: no fault in a table of tests.
define cross-test-rules
$(B)/cross/$(1)/t/$(2)/%.o: tests/%.c | $(B)/cross/.deps
$(call cross-rule,$(1),-Itests -DTESTS_PLAIN_RUNNER $(CROSS_THIN_$(1)) -DPTB_FMT_HEADER='"fmt/$(2).h"' \
	-DPTB_USER_HOOKS -Wno-overflow)
endef

define cross-rules
$(B)/cross/$(1)/%.o: $(USER)/%.c | $(B)/cross/.deps
$(call cross-rule,$(1))

$(B)/cross/$(1)/runner.o: tests/runner/runner.c | $(B)/cross/.deps
$(call cross-rule,$(1))

$(foreach f,$(call cross-formats,$(1)),$(call cross-test-rules,$(1),$(f))
)
$(B)/cross/$(1)/tests: $(patsubst %,$(B)/cross/$(1)/%.o,mem layout raw snapshot whatif runner) \
		$(foreach f,$(call cross-formats,$(1)),$(TESTS:tests/%.c=$(B)/cross/$(1)/t/$(f)/%.o))
	@echo '  LD  $$@'
	$$(Q)$(1)-linux-gnu-gcc -static -o $$@ $$^
endef

$(foreach m,$(CROSS),$(eval $(call cross-rules,$(m))))

cross: $(CROSS:%=$(B)/cross/%/tests)
	@tests/cross.sh $(CROSS)

# Of libbsd the tests need one header; the cross compilers find it beside the host's others.
$(B)/cross/.deps: tests/deps.sh
	@tests/deps.sh cross
	@mkdir -p $(@D)
	@touch $@

explore: $(B)/ptebatch
	@$(B)/ptebatch explore --tsv $(B)/explore.tsv $(if $(QUICK),--quick)

# ---- contenders against each other: build/bench has the table, and plots of it ----

bench: $(B)/ptebatch
	@tests/deps.sh bench
	@mkdir -p $(B)/bench
	@$(B)/ptebatch bench --tsv $(B)/bench/user.tsv
	@gnuplot -c tests/bench/plot.gnuplot $(B)/bench/user.tsv $(B)/bench
	@ls $(B)/bench/*.svg $(B)/bench/*.png

bench-budget: $(B)/ptebatch
	@tests/bench/gates.sh --update

# ---- fuzzing: a program a target, every format in it ----

FUZZ_TIME ?= 60
FUZZ_CC := clang
# Large tables take their time to build.
FUZZ_FORMATS := $(filter-out arm64_64k,$(FORMATS))
FUZZ_TARGETS := gup_fast leaf dax mincore vfio scan grab unshared contig vpfn
FUZZ_CFLAGS := $(SAN_BASE) -O1 -g $(SAN_CFLAGS) -fsanitize=fuzzer-no-link -DTESTS_FUZZ -Itests
FUZZ_PLAIN := $(USER)/mem.c $(USER)/layout.c $(USER)/raw.c \
	$(addprefix tests/fuzz/,main.c minimize.c input.c words.c)
# A tree with a fault in it, to see that it is found.
FUZZ_INCLUDE :=

define fuzz-rule
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $(FUZZ_CC) $(FUZZ_INCLUDE) $$(CPPFLAGS) $(FUZZ_CFLAGS) $(1) -MMD -MP -c $$< -o $$@
endef

define fuzz-format-rules
$(B)/fuzz/o/$(1)/%.o: tests/fuzz/%.c | $(B)/fuzz/.deps
$(call fuzz-rule,-DPTB_USER_HOOKS -DPTB_FMT_HEADER='"fmt/$(1).h"')
endef

define fuzz-target-rules
$(B)/fuzz/$(1): $(FUZZ_PLAIN:%.c=$(B)/fuzz/o/%.o) $(FUZZ_FORMATS:%=$(B)/fuzz/o/%/$(1).o)
	@echo '  LD  $$@'
	$$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $$@ $$^
endef

define fuzz-plain-rules
$(B)/fuzz/o/%.o: %.c | $(B)/fuzz/.deps
$(call fuzz-rule,)
endef

$(foreach f,$(FUZZ_FORMATS),$(eval $(call fuzz-format-rules,$(f))))
$(eval $(call fuzz-plain-rules))
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz-target-rules,$(t))))

# Seeds come from the layouts in the tests, as the preprocessor leaves them, and from recordings.
$(B)/fuzz/seed-maker: tests/fuzz/seeds.c tests/fuzz/records.c tests/fuzz/input.c tests/fuzz/fuzz.h \
		$(addprefix $(B)/,layout.o mem.o raw.o whole_file.o snapshot.o snapshot_file.o) | $(B)/fuzz/.deps
	@mkdir -p $(@D)
	@echo '  CC  $@'
	$(Q)$(CC) $(CPPFLAGS) -Itests $(BASE_CFLAGS) -O1 -g -DTESTS_FUZZ -DPTB_USER_HOOKS \
		-DPTB_FMT_HEADER='"fmt/arm64.h"' -o $@ $(filter %.c %.o,$^) $(LIBS)

$(B)/fuzz/seeds/.made: $(B)/fuzz/seed-maker $(TESTS) $(wildcard $(USER)/recordings/*.ptb)
	@rm -rf $(@D)
	@mkdir -p $(@D)
	@echo '  SEEDS  $(@D)'
	$(Q)for t in $(TESTS); do \
		$(CC) $(CPPFLAGS) -Itests -DPTB_USER_HOOKS -DPTB_FMT_HEADER='"fmt/arm64.h"' -E $$t; \
	done | $(B)/fuzz/seed-maker $(@D) $(filter %.ptb,$^) >$(B)/fuzz/seeds.log
	@touch $@

fuzz: $(FUZZ_TARGETS:%=$(B)/fuzz/%) $(B)/fuzz/seeds/.made
	@tests/fuzz/run.sh $(B)/fuzz $(FUZZ_TIME) $(FUZZ_TARGETS)

$(B)/fuzz/.deps: tests/deps.sh
	@tests/deps.sh fuzz
	@mkdir -p $(@D)
	@touch $@

# ---- coverage: the tests once more, with what counts lines, branches and conditions ----

COV_CC := clang-19
COV_CFLAGS := -O1 -g -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc \
	-Wno-constant-logical-operand -D'likely(x)=x' -D'unlikely(x)=x'

define coverage-rule
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $(COV_CC) $$(CPPFLAGS) $(BASE_CFLAGS) $(COV_CFLAGS) $(1) -MMD -MP -c $$< -o $$@
endef

define coverage-rules
$(B)/coverage/o/%.o: $(USER)/%.c | $(B)/coverage/.deps
$(call coverage-rule,)

$(B)/coverage/o/runner.o: tests/runner/runner.c | $(B)/coverage/.deps
$(call coverage-rule,)
endef

define coverage-format-rules
$(B)/coverage/o/$(1)/%.o: tests/%.c | $(B)/coverage/.deps
$(call coverage-rule,-Itests -DTESTS_PLAIN_RUNNER -DPTB_USER_HOOKS -DPTB_FMT_HEADER='"fmt/$(1).h"')
endef

$(eval $(call coverage-rules))
$(foreach f,$(FORMATS),$(eval $(call coverage-format-rules,$(f))))

$(B)/coverage/tests: $(patsubst %,$(B)/coverage/o/%.o,mem layout raw snapshot whatif runner) \
		$(foreach f,$(FORMATS),$(TESTS:tests/%.c=$(B)/coverage/o/$(f)/%.o))
	@echo '  LD  $@'
	$(Q)$(COV_CC) $(COV_CFLAGS) -o $@ $^

coverage: $(B)/coverage/tests
	@tests/coverage.sh $(B)/coverage/tests $(B)/coverage $(B)/coverage.tsv

$(B)/coverage/.deps: tests/deps.sh
	@tests/deps.sh coverage
	@mkdir -p $(@D)
	@touch $@

# ---- mutants: faults with a name, and every small change ----

mutants mutate: export TOOL_OBJECTS = $(call tool-objects,$(B))
mutate: export BENCH_CC = $(CC) $(CPPFLAGS) $(BASE_CFLAGS) $(TIMED_CFLAGS)
mutants: $(B)/ptebatch
	@tests/mutants.sh $(B)

mutate: $(B)/ptebatch
	@tests/deps.sh mutate
	@tests/mutate/mutate.py $(B)/mutate.tsv

# ---- stress: walkers and all others in threads, plain and under ThreadSanitizer ----

STRESS_TIME ?= 30
STRESS_FORMATS := x86_64 arm64 x86_pae
STRESS := $(STRESS_FORMATS:%=$(B)/stress/%) $(STRESS_FORMATS:%=$(B)/stress/tsan/%)
STRESS_SOURCES := tests/stress/stress.c $(USER)/mem.c
STRESS_CFLAGS :=

# Not -I: the C library has a sched.h of its own.
define stress-rule
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CC) $(BASE_CFLAGS) $$(STRESS_CFLAGS) -Iinclude -iquote $(USER) -iquote tests -DPTB_USER_THREADS \
		-DPTB_FMT_HEADER='"fmt/$$(@F).h"' -O2 -g $(1) -MMD -MP -o $$@ $(STRESS_SOURCES) -pthread
endef

define stress-rules
$(STRESS_FORMATS:%=$(B)/stress/tsan/%): $(STRESS_SOURCES) | $(B)/.deps
$(call stress-rule,-fsanitize=thread -Wno-tsan)

$(STRESS_FORMATS:%=$(B)/stress/%): $(STRESS_SOURCES) | $(B)/.deps
$(call stress-rule,)
endef
$(eval $(call stress-rules))

stress: $(STRESS)
	@tests/stress/run.sh $(STRESS_TIME) $(STRESS)

# The recordings are embedded by name.
$(B)/tool/recordings.o $(B)/san/tool/recordings.o: $(wildcard $(USER)/recordings/*.ptb)

$(B)/.deps: tests/deps.sh
	@mkdir -p $(B)
	@tests/deps.sh
	@touch $@

demo: $(B)/ptebatch
	@$(B)/ptebatch demo

lint:
	@tests/lint/lint.sh

check:
	@tests/check.sh

# ---- in a kernel ----

KERNEL := backends/kernel
need-kdir = @test -n "$(KDIR)" || { echo "$@: which kernel source? KDIR=<directory>" >&2; exit 2; }

check-kernel:
	@$(KERNEL)/vm/check-kernel.sh

bench-kernel:
	@$(KERNEL)/vm/bench-kernel.sh

kernel-tree:
	$(need-kdir)
	@$(KERNEL)/tree/tree.sh apply "$(KDIR)"

kernel-tree-revert:
	$(need-kdir)
	@$(KERNEL)/tree/tree.sh revert "$(KDIR)"

kernel-series:
	$(need-kdir)
	@$(KERNEL)/tree/tree.sh series "$(KDIR)"

list-cases: $(B)/tests
	@tests/list-cases.sh $(B)/tests

PREFIX ?= /usr/local
install: $(B)/ptebatch
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include/ptebatch/walk
	install -m 755 $(B)/ptebatch $(DESTDIR)$(PREFIX)/bin/
	install -m 644 include/ptebatch/*.h $(DESTDIR)$(PREFIX)/include/ptebatch/
	install -m 644 include/ptebatch/walk/*.h $(DESTDIR)$(PREFIX)/include/ptebatch/walk/

clean:
	rm -rf $(B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
