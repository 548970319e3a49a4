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
SAN_CFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# fwrapv would hide the overflows that the sanitizer is to find
SAN_BASE := $(filter-out -fwrapv,$(BASE_CFLAGS))
LIBS := -lzstd

USER := backends/user
PLAIN := mem layout snapshot snapshot_file whatif record record_entries record_folios
TOOL := main cmd_demo cmd_record cmd_replay formats recordings report
TESTS := $(wildcard tests/validate/*.c) $(wildcard tests/cases/*.c)

.PHONY: all help deps demo check cross lint list-cases install clean tests-san
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/ptebatch

help:
	@sed -n 's/^#: //p' Makefile

#: make demo           walk recordings of real processes, per entry and batched, in every format
#: make check          everything that must pass: lint, tests, tests under sanitizers, kernel compile
#: make cross          the tests alone, for 32-bit and big-endian machines
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

FMT_OBJS = $(foreach f,$(FORMATS),$($(1))/fmt/$(f).o $($(1))/fmt/$(f).hooked.o)

define tool-rules
$(1)/%.o: $(USER)/%.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) $(2) -MMD -MP -c $$< -o $$@

$(1)/fmt/%.hooked.o: $(USER)/format.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -DPTB_FMT_HEADER='"fmt/$$*.h"' -DPTB_USER_HOOKS -DPTB_USER_VMEMMAP \
		$(2) -MMD -MP -c $$< -o $$@

$(1)/fmt/%.o: $(USER)/format.c | $(B)/.deps
	@mkdir -p $$(@D)
	@echo '  CC  $$@'
	$$(Q)$$(CCACHE) $$(CC) $$(CPPFLAGS) -DPTB_FMT_HEADER='"fmt/$$*.h"' -DPTB_USER_VMEMMAP $(2) -MMD -MP -c $$< -o $$@

$(1)/ptebatch: $(PLAIN:%=$(1)/%.o) $(1)/raw.o $(TOOL:%=$(1)/tool/%.o) \
		$(FORMATS:%=$(1)/fmt/%.o) $(FORMATS:%=$(1)/fmt/%.hooked.o)
	@echo '  LD  $$@'
	$$(Q)$$(CC) $(2) -o $$@ $$^ $(LIBS)

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

$(eval $(call tool-rules,$(B),$(BASE_CFLAGS) $(CFLAGS)))
$(eval $(call tool-rules,$(B)/san,$(SAN_BASE) -O1 -g $(SAN_CFLAGS)))
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
