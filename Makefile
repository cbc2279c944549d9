# vftr: see README.md. `make help` lists the targets.
# A user's settings go into config.mak (CC, CFLAGS, PREFIX, ...).

VERSION := 0.1.0

-include config.mak

CC      ?= cc
CXX     ?= c++
FC      := $(if $(filter f77,$(FC)),gfortran,$(FC))
AWK     ?= awk
OBJCOPY ?= objcopy
CFLAGS  ?= -O2 -g
FFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
MODDIR  ?= $(PREFIX)/include
DESTDIR ?=
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
MPICC_openmpi ?= $(shell command -v mpicc.openmpi)
MPICC_mpich   ?= $(shell command -v mpicc.mpich)
MPIS := $(strip $(if $(MPICC_openmpi),openmpi) $(if $(MPICC_mpich),mpich))

O := obj
WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wno-unused-parameter \
	-Wno-missing-field-initializers
# the folder of the source is in no file that is built: another one gives the same bytes
anywhere := -ffile-prefix-map=$(CURDIR)=.
STD  := -std=gnu11 -D_GNU_SOURCE= -I. -I$(O)/gen $(anywhere) -DVFTR_VERSION='"$(VERSION)"'
# SANITIZE is for the agent, the tools and the unit tests, not for what applications load
SANITIZE    ?=
HOOK_CFLAGS = $(STD) $(WARN) -MMD -MP -fPIC $(CFLAGS) -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector \
	      -DVFTR_BINDIR='"$(PREFIX)/bin"'
# What the agent, the tools and the agent's plug-ins have against bad input: what the
# compiler knows of it. Not what applications load, and not with a sanitizer.
hardening_wanted := -fstack-protector-strong -fstack-clash-protection -fcf-protection
# 2 where the C library warns of more
fortify   := $(shell echo '\#include <stdio.h>' | $(CC) -Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -E -xc - \
	     >/dev/null 2>&1 && echo 3 || echo 2)
hardening := $(if $(SANITIZE),,$(foreach F,$(hardening_wanted),\
	     $(shell $(CC) -Werror $(F) -c -xc -o /dev/null /dev/null 2>/dev/null && echo $(F))) \
	     $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(fortify)))
hardening_ld := -Wl,-z,relro,-z,now
ALL_CFLAGS  = $(STD) $(WARN) -MMD -MP -fPIC $(CFLAGS) $(hardening) $(SANITIZE)

# as the agent looks for them: below the prefix, which may be moved, or where they are
below_prefix = $(patsubst $(PREFIX)/%,%,$(1))
FOLDERS     := -DVFTR_LIB='"$(call below_prefix,$(LIBDIR))"' -DVFTR_MODULES='"$(call below_prefix,$(MODDIR))"'
in_prefix   := $(PREFIX)
in_folders  := $(LIBDIR) $(MODDIR)
$(O)/nodeagent/base/installed.o: ALL_CFLAGS += $(FOLDERS)
$(O)/fuzz/nodeagent/base/installed.o: FUZZ_FLAGS += $(FOLDERS)

Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)	$(2)")

shm_src   := $(wildcard shm/*.c)
annotation_src := $(wildcard libhook/annotation/*.c)
hook_src  := $(filter-out $(annotation_src),$(wildcard libhook/*.c libhook/*/*.c))
conf_src  := $(wildcard conf/*.c)
mains     := nodeagent/agent/main.c nodeagent/tool/vftr.c nodeagent/net/mpi.c
tool_src  := $(filter-out $(mains),$(wildcard nodeagent/tool/*.c))
agent_src := $(filter-out $(mains) $(tool_src),$(wildcard nodeagent/*/*.c nodeagent/*/*/*.c))
obj = $(patsubst %.c,$(O)/%.o,$(1))
core_obj := $(call obj,$(shm_src) $(conf_src) $(agent_src)) $(O)/gen/mpi_name.o

AGENT_LIBS := -ldw -lelf -lcjson -luring -lsodium -lanl -ldl -lpthread -lm

# ---- what is built ----------------------------------------------------------

# these stand in for functions of others, or load libraries: not for programs that are
# linked with -static
interposed   := libhook/interpose.c libhook/copies.c $(wildcard libhook/openmp/gomp*.c libhook/accelerator/*.c libhook/python/*.c) libhook/counter/papi.c libhook/sampler/signals.c
# Fortran's module, of gfortran only: a program of another compiler brings its own
module_obj   := $(if $(findstring gfortran,$(FC)),$(if $(shell command -v $(FC)),$(O)/fortran/vftrace.o $(O)/fortran/vftrace_session.o))
module       := $(module_obj:$(O)/fortran/%.o=$(O)/include/%.mod)
only_static  := libhook/static.c
hook_obj     := $(call obj,$(filter-out $(interposed) $(only_static),$(hook_src))) $(O)/libhook/switches/sled-entry.o $(module_obj)
hook_shared  := $(hook_obj) $(call obj,$(interposed))
hook_so      := $(hook_shared:%/interpose.o=%/interpose-so.o)
hook_shm_obj := $(O)/shm/segment.o $(O)/shm/runtime-dir.o $(O)/shm/killpoint.o
programs := $(O)/bin/vftr-node-agent $(O)/bin/vftr
libs     := $(O)/lib/libvftrace.so $(O)/lib/libvftrace.a $(O)/lib/libvftrace-static.a $(O)/lib/libvftrace-cupti.so $(O)/lib/libvftrace-annotations.so $(O)/lib/libvftrace-files.so $(O)/lib/libvftrace-memory.so $(O)/lib/libvftrace-locks.so $(foreach M,$(MPIS),\
	    $(O)/lib/libvftrace-$(M).so $(O)/lib/libvftrace-$(M).a $(O)/lib/vftr/peer-$(M).so)
headers  := vftrace.h vftrace-session.h vftrace-dynamic.h
links    := $(if $(MPIS),$(O)/lib/libvftrace-mpi.so)

.PHONY: all
all: $(libs) $(programs) $(links) $(addprefix $(O)/include/,$(headers)) $(module) $(addprefix $(O)/share/vftrace/,gcc-c++.options nvcc.options)

$(O)/libhook/%.o: ALL_CFLAGS := $(HOOK_CFLAGS)
$(hook_shm_obj): ALL_CFLAGS := $(HOOK_CFLAGS)
# a function has not saved its vector registers where it calls these
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
$(O)/libhook/switches/sled-hooks.o: ALL_CFLAGS := $(HOOK_CFLAGS) -mgeneral-regs-only
endif

$(O)/%.o: %.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/%.o: %.S
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/fortran/%.o: fortran/%.f90
	$(call say,FC,$@)
	@mkdir -p $(@D) $(O)/include
	$(Q)$(FC) -std=f2018 -Wall -Wextra $(anywhere) $(FFLAGS) -fPIC -fno-stack-protector -J$(O)/include -c -o $@ $<

$(O)/include/%.mod: $(O)/fortran/%.o ;

HOOK_LDFLAGS = -shared -Wl,-soname,$(@F) -Wl,--version-script=libhook/lib.map -Wl,-z,now,-z,nodelete $(LDFLAGS)

# it holds where the agent is installed, and the agent where the libraries are
$(O)/libhook/session/spawn.o: $(O)/prefix
$(O)/nodeagent/base/installed.o: $(O)/folders
.PHONY: folders-now
$(O)/prefix $(O)/folders: folders-now
	@mkdir -p $(@D)
	@echo '$(in_$(@F))' | cmp -s - $@ || echo '$(in_$(@F))' >$@

$(O)/libhook/interpose-so.o: $(O)/libhook/interpose.o libhook/lib.names
	$(Q)$(OBJCOPY) --redefine-syms=libhook/lib.names $< $@
$(O)/lib/libvftrace.so: $(hook_so) $(hook_shm_obj) libhook/lib.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOOK_LDFLAGS) -o $@ $(filter %.o,$^) -ldl -lpthread

# stands in for functions that programs call to annotate themselves
$(O)/lib/libvftrace-annotations.so: $(call obj,$(annotation_src))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,now,-z,nodelete $(LDFLAGS) -o $@ $^ -ldl -lpthread

$(O)/lib/libvftrace.a: $(hook_shared) $(hook_shm_obj)
# for programs linked with -static: without what stands in for functions of others
$(O)/lib/libvftrace-static.a: $(filter-out %/hook.o,$(hook_obj)) $(O)/libhook/static-hook.o $(hook_shm_obj)
$(O)/libhook/static-hook.o: $(O)/libhook/hook.o $(call obj,$(only_static))
	$(Q)$(CC) -r -nostdlib -o $@ $^
# names of our static functions would make those of the user's ambiguous
$(O)/lib/libvftrace.a $(O)/lib/libvftrace-static.a:
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
	$(Q)$(OBJCOPY) --discard-all $@

$(O)/lib/libvftrace-mpi.so: $(O)/lib/libvftrace-$(firstword $(MPIS)).so
	@ln -sf $(<F) $@

core_lib := $(O)/core.a
tool_lib := $(O)/tool.a
$(core_lib): $(core_obj)
$(tool_lib): $(call obj,$(tool_src))
# thin: members of different folders have the same name
$(core_lib) $(tool_lib):
	@rm -f $@
	$(Q)$(AR) rcsT $@ $^

# style and script of the report, as bytes of a C array each
$(O)/gen/report-assets.h: nodeagent/html/assets/report.css nodeagent/html/assets/report.js
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)for f in $^; do \
		echo "static const char report_$${f##*.}[] = {"; \
		od -An -v -tx1 "$$f" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g' || exit; \
		echo "};"; \
		echo "static const size_t report_$${f##*.}_bytes = sizeof(report_$${f##*.});"; \
	done >$@.new && mv $@.new $@
$(O)/nodeagent/html/page/pages.o $(O)/fuzz/nodeagent/html/page/pages.o: $(O)/gen/report-assets.h

$(O)/bin/vftr-node-agent: $(O)/nodeagent/agent/main.o $(core_lib)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -pie $(hardening_ld) $(LDFLAGS) -o $@ $^ $(AGENT_LIBS)

$(O)/bin/vftr: $(O)/nodeagent/tool/vftr.o $(tool_lib) $(core_lib)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -pie $(hardening_ld) $(LDFLAGS) -o $@ $^ $(AGENT_LIBS)

$(O)/lib/vftr/peer-%.so: nodeagent/net/mpi.c
	$(call say,MPICC,$@)
	@mkdir -p $(@D)
	$(Q)$(MPICC_$*) $(STD) $(WARN) -fPIC $(CFLAGS) $(hardening) -MMD -MP -MF $(@:.so=.d) -shared $(hardening_ld) -o $@ $< -lpthread

$(O)/include/%.h: libhook/%.h
	@mkdir -p $(@D)
	@cp $< $@

$(O)/share/vftrace/%.options: packaging/%.options
	@mkdir -p $(@D)
	@cp $< $@

-include mpi/mpi.mk
include cupti/cupti.mk
include libc/libc.mk

-include $(shell find $(O) -path $(O)/deb -prune -o -type f -name '*.d' -print 2>/dev/null)

# ---- install ----------------------------------------------------------------

CMAKEDIR := $(LIBDIR)/cmake/vftrace
pc_names := vftrace $(addprefix vftrace-,$(MPIS) $(if $(links),mpi))
BASHCOMP ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMP  ?= $(PREFIX)/share/zsh/site-functions
FISHCOMP ?= $(PREFIX)/share/fish/vendor_completions.d
MODULEFILES ?= $(PREFIX)/share/modulefiles
DOCDIR   ?= $(PREFIX)/share/doc/vftr
# Vftrace's own tools
classic   := vftrace_check_config vftrace_diff_profiles vftrace_generate_default_config vftrace_vfd_dump
man_pages := $(wildcard man/*.[1-8]) $(if $(MPIS),$(O)/man/vftr-mpi.7)
# FILE.in with its names filled in; PREFIX of CMake's file is so many folders above it
up      := ../../$(subst $() ,,$(patsubst %,../,$(subst /, ,$(call below_prefix,$(LIBDIR)))))
is_away := $(filter /%,$(call below_prefix,$(LIBDIR)))
beside   = $(if $(filter /%,$(call below_prefix,$(2))),$(2),$${$(1)}/$(call below_prefix,$(2)))
filled   = sed 's|@NAME@|$(2)|; s|@VERSION@|$(VERSION)|; s|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(call beside,prefix,$(LIBDIR))|; s|@MODDIR@|$(call beside,prefix,$(MODDIR))|; \
	   s|@UP@|$(if $(is_away),$(PREFIX),$${CMAKE_CURRENT_LIST_DIR}/$(up:/=))|; \
	   s|@MODULES@|$(call beside,_vftrace_prefix,$(MODDIR))|' $(1)

# the lines of both take folders for words; of `rm -rf /my vftr/share' none may be made
places := DESTDIR PREFIX LIBDIR MODDIR CMAKEDIR BASHCOMP ZSHCOMP FISHCOMP MODULEFILES DOCDIR
.PHONY: install uninstall places-are-words
places-are-words:
	$(foreach p,$(places),$(if $(filter-out 1,$(words x$($(p))x)),$(error $(p) is `$($(p))': make installs into no folder that has a blank in its name)))

install: places-are-words all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/vftr $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(MODDIR) \
		$(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(CMAKEDIR) $(DESTDIR)$(PREFIX)/share/vftrace $(DESTDIR)$(DOCDIR)/examples
	install -m 755 $(programs) $(DESTDIR)$(PREFIX)/bin
	for l in $(classic); do ln -sf vftr $(DESTDIR)$(PREFIX)/bin/$$l || exit; done
	install -m 644 $(filter $(O)/lib/lib%,$(libs)) $(DESTDIR)$(LIBDIR)
	install -m 644 $(filter $(O)/lib/vftr/%,$(libs)) $(DESTDIR)$(LIBDIR)/vftr
	for f in $(wildcard $(O)/lib/vftr/speedscope.*); do install -m 644 $$f $(DESTDIR)$(LIBDIR)/vftr || exit; done
	$(if $(links),ln -sf libvftrace-$(firstword $(MPIS)).so $(DESTDIR)$(LIBDIR)/libvftrace-mpi.so)
	install -m 644 $(addprefix libhook/,$(headers)) $(DESTDIR)$(PREFIX)/include
	$(if $(module),install -m 644 $(module) $(DESTDIR)$(MODDIR))
	install -d $(DESTDIR)$(PREFIX)/share/vftrace/python
	install -m 644 packaging/python/vftr.py $(DESTDIR)$(PREFIX)/share/vftrace/python
	install -m 644 fortran/vftrace.f90 fortran/vftrace_session.f90 packaging/gcc-c++.options packaging/nvcc.options $(DESTDIR)$(PREFIX)/share/vftrace
	$(foreach n,$(pc_names),$(call filled,packaging/vftrace.pc.in,$(n)) >$(DESTDIR)$(LIBDIR)/pkgconfig/$(n).pc && ) :
	for f in vftrace-config vftrace-config-version; do \
		$(call filled,packaging/$$f.cmake.in) >$(DESTDIR)$(CMAKEDIR)/$$f.cmake || exit; done
	install -m 644 t/demo/heat.c t/demo/heat.f90 $(DESTDIR)$(DOCDIR)/examples
	install -m 644 NEWS $(DESTDIR)$(DOCDIR)
	sh packaging/sbom.sh $(O) $(VERSION) >$(DESTDIR)$(DOCDIR)/sbom.spdx.json
	install -d $(DESTDIR)$(DOCDIR)/img && install -m 644 man/img/*.png $(DESTDIR)$(DOCDIR)/img
	for p in $(man_pages); do d=$(DESTDIR)$(PREFIX)/share/man/man$${p##*.}; \
		install -d $$d && install -m 644 $$p $$d || exit; done
	for l in $(classic); do ln -sf vftr.1 $(DESTDIR)$(PREFIX)/share/man/man1/$$l.1 || exit; done
	install -d $(DESTDIR)$(BASHCOMP) $(DESTDIR)$(ZSHCOMP) $(DESTDIR)$(FISHCOMP) $(DESTDIR)$(MODULEFILES)/vftr
	install -m 644 man/completion.bash $(DESTDIR)$(BASHCOMP)/vftr
	install -m 644 man/completion.zsh $(DESTDIR)$(ZSHCOMP)/_vftr
	install -m 644 man/completion.fish $(DESTDIR)$(FISHCOMP)/vftr.fish
	for l in vftr-node-agent $(classic); do ln -sf vftr $(DESTDIR)$(BASHCOMP)/$$l && \
		ln -sf vftr.fish $(DESTDIR)$(FISHCOMP)/$$l.fish || exit; done
	$(call filled,packaging/modulefile.in) >$(DESTDIR)$(MODULEFILES)/vftr/$(VERSION)
	chmod 644 $(pc_names:%=$(DESTDIR)$(LIBDIR)/pkgconfig/%.pc) $(DESTDIR)$(CMAKEDIR)/*.cmake \
		$(DESTDIR)$(DOCDIR)/sbom.spdx.json $(DESTDIR)$(MODULEFILES)/vftr/$(VERSION)

uninstall: places-are-words
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,$(notdir $(programs)) $(classic))
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,$(notdir $(filter $(O)/lib/lib%,$(libs))) libvftrace-mpi.so \
		$(pc_names:%=pkgconfig/%.pc))
	rm -rf $(DESTDIR)$(CMAKEDIR)
	rm -rf $(DESTDIR)$(LIBDIR)/vftr
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/include/,$(headers))
	rm -f $(addprefix $(DESTDIR)$(MODDIR)/,vftrace.mod vftrace_session.mod)
	rm -rf $(DESTDIR)$(PREFIX)/share/vftrace $(DESTDIR)$(DOCDIR)
	rm -f $(foreach p,$(man_pages),$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(p)))/$(notdir $(p)))
	rm -f $(foreach l,$(classic),$(DESTDIR)$(PREFIX)/share/man/man1/$(l).1)
	rm -f $(addprefix $(DESTDIR)$(BASHCOMP)/,vftr vftr-node-agent $(classic)) $(DESTDIR)$(ZSHCOMP)/_vftr
	rm -f $(foreach l,vftr vftr-node-agent $(classic),$(DESTDIR)$(FISHCOMP)/$(l).fish)
	rm -f $(DESTDIR)$(MODULEFILES)/vftr/$(VERSION)
	rmdir $(DESTDIR)$(MODULEFILES)/vftr 2>/dev/null || :

.PHONY: deb
deb: all
	@MAKE='$(MAKE)' CC='$(CC)' sh packaging/deb.sh $(O) $(VERSION)

# The source of the last commit, and the parts of what is built (SPDX).
archive := vftr-$(VERSION)
.PHONY: dist sbom
dist:
	@mkdir -p $(O)
	@git archive --format=tar --prefix=$(archive)/ HEAD | gzip -9n >$(O)/$(archive).tar.gz
	@echo $(O)/$(archive).tar.gz
sbom: all
	@sh packaging/sbom.sh $(O) $(VERSION) >$(O)/$(archive).spdx.json
	@echo $(O)/$(archive).spdx.json

# ---- tests ------------------------------------------------------------------

unit_tests := $(patsubst %.c,$(O)/%,$(wildcard t/unit/*/u-*.c t/model/m-*.c))
tap_tests  := $(wildcard t/*/t[0-9]*.sh)
fuzzers    := $(patsubst %.c,$(O)/%,$(wildcard t/fuzz/f-*.c))
# Compiled in a fifth of the time without optimization; what they test is optimized.
unit_fast := -U_FORTIFY_SOURCE -O0
$(O)/t/model/%: unit_fast :=
$(unit_tests): $(O)/%: %.c $(tool_lib) $(core_lib)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(STD) $(WARN) -MMD -MP -fPIC $(CFLAGS) $(hardening) $(unit_fast) $(SANITIZE) $(LDFLAGS) -o $@ $< $(tool_lib) $(core_lib) $$(pkg-config --libs check) $(AGENT_LIBS)

# MPI is a stand-in there
$(O)/t/unit/net/u-mpi: unit_fast += -It/unit/net/mpi-standin

# a name service, for getaddrinfo() in u-tcp
nss_standin := $(O)/t/unit/net/libnss_standin.so.2
$(nss_standin): t/unit/net/nss-standin.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
$(O)/t/unit/net/u-tcp: | $(nss_standin)

# what lets ranks of MPICH and of Open MPI sleep while they wait, in the shell tests
idle := $(O)/t/lib/ucx-idle.so $(O)/t/lib/yield-idle.so
$(idle): $(O)/%.so: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(STD) $(CFLAGS) -fPIC -shared -o $@ $< -ldl

test_makers := $(O)/t/golden/make-golden $(O)/t/report/make-large
$(test_makers): $(O)/%: %.c $(core_lib)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(core_lib) $(AGENT_LIBS)

# The agents' code for the end of a job, thousands of them in one process (t/scale/sim/job.h)
simulate := $(O)/t/scale/sim/simulate
$(simulate): $(call obj,$(wildcard t/scale/sim/*.c)) $(core_lib)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(AGENT_LIBS)

FUZZ_CC    ?= clang
FUZZ_FLAGS := $(STD) -w -g -O1 -fno-sanitize-recover=undefined
fuzz_obj   := $(patsubst $(O)/%,$(O)/fuzz/%,$(core_obj))
$(O)/fuzz/%.o: %.c
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -MMD -MP -fsanitize=fuzzer-no-link,address,undefined -c -o $@ $<
$(O)/fuzz/gen/%.o: $(O)/gen/%.c
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -MMD -MP -fsanitize=fuzzer-no-link,address,undefined -c -o $@ $<
$(fuzzers): $(O)/%: %.c $(fuzz_obj)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer,address,undefined -o $@ $^ $(AGENT_LIBS)

PROVE ?= prove
# Six files at a time keep two CPUs busy; with eight more rows failed beside others. Those that
# take longest begin first, and units, which take a second or less, fill the end.
PROVEFLAGS ?= -j$(shell expr $(JOBS) \* 3)
long_tests := $(wildcard $(foreach n,9201 9101 9223 9702 4101 8401 7301 8601 9601 4106 9210 9301 1001 1002 \
	9507 8702 4116 9402 9224 7101 9207 9212 4201 9401 9603 9203 9403 4002 8421 4202,t/*/t$(n)-*.sh))
long_units := $(addprefix $(O)/t/,model/m-ring unit/net/u-tcp)
# Compares times of programs that take a tenth of a second; beside others that takes nine tries, and fails.
alone_tests := $(if $(TESTS),,$(wildcard t/*/t7306-*.sh))
all_tests = $(or $(TESTS),$(long_tests) $(long_units) $(filter-out $(long_tests) $(alone_tests),$(sort $(tap_tests))) \
	$(filter-out $(long_units),$(sort $(unit_tests))))
skips    := $(O)/skipped
failures := $(O)/failed
# What fails beside others runs once more, alone: AGAIN=0 takes the first word for it (t/README).
AGAIN ?= 1
run_tests = O=$(O) BUILD='$(abspath $(O))' SANITIZE='$(SANITIZE)' CK_TIMEOUT_MULTIPLIER=10 \
	AGAIN='$(AGAIN)' TEST_ALONE='$(alone_tests)' TEST_SKIPS='$(CURDIR)/$(skips)' TEST_FAILURES='$(CURDIR)/$(failures)' \
	sh t/lib/run-tests "$(PROVE) -e 'sh t/lib/run-test' --timer" '$(PROVEFLAGS)' $(all_tests)

.PHONY: deps deps-tests demo check check-long check-build report-assets report-check report-picture bench count scale analyse asan tsan coverage mutate help
deps:
	@sh t/deps.sh
deps-tests:
	@sh t/deps.sh --tests

demo: deps
	@$(MAKE) --no-print-directory all
	@BUILD='$(abspath $(O))' t/demo/run

check: deps-tests
	@$(MAKE) --no-print-directory -j$(JOBS) check-build
	@$(run_tests)

# What drives a browser in the tests, as t/report/package-lock.json fixes it. Where npm or its registry
# are not there, these rows are skipped, which is said.
browser := $(O)/browser/node_modules/axe-core/package.json
$(browser): t/report/package.json t/report/package-lock.json
	$(call say,NPM,$(O)/browser)
	@mkdir -p $(O)/browser && cp $^ $(O)/browser/
	@cd $(O)/browser && npm ci --silent --no-audit --no-fund --ignore-scripts && touch node_modules/axe-core/package.json

report-check: $(browser)
	@$(MAKE) --no-print-directory all $(test_makers)
	@VFTR_LONG=1 TEST_SECONDS=3600 BUILD='$(abspath $(O))' $(PROVE) -e 'sh t/lib/run-test' -v t/report/t8411-report-browser.sh

# The viewer of time lines that `vftr report' puts into its file from then on: speedscope, as
# packaging/report-assets/package-lock.json fixes it, without its font, which would be a request.
report-assets:
	@mkdir -p $(O)/report-assets $(O)/lib/vftr && cp packaging/report-assets/*.json $(O)/report-assets/
	@cd $(O)/report-assets && npm ci --silent --no-audit --no-fund --ignore-scripts
	@cd $(O)/report-assets/node_modules/speedscope && cp dist/release/speedscope-*.js '$(abspath $(O))/lib/vftr/speedscope.js' && \
		sed 's/@font-face *{[^}]*}//' dist/release/speedscope-*.css >'$(abspath $(O))/lib/vftr/speedscope.css' && \
		cp LICENSE '$(abspath $(O))/lib/vftr/speedscope.LICENSE'

# The first picture of README.md, of the report that `make demo' has left.
report-picture: $(browser)
	@PLAYWRIGHT=$(O)/browser CHROMIUM=$$(command -v chromium) \
		node t/report/browser.mjs picture $(O)/demo/heat.html man/img/report.png

check-long: AGAIN = 0
check-long: deps-tests
	-@$(MAKE) --no-print-directory $(browser)
	@$(MAKE) --no-print-directory -j$(JOBS) check-build $(fuzzers)
	@export VFTR_LONG=1; $(run_tests)
	@for f in $(fuzzers); do sh t/fuzz/run $$f 60 || exit; done
	@if command -v cppcheck >/dev/null; then $(MAKE) --no-print-directory analyse; \
		else echo "make analyse is skipped: no cppcheck"; fi
	@sh t/bare

check-build: all $(unit_tests) $(test_makers) $(simulate) $(idle)

bench: deps
	@$(MAKE) --no-print-directory all $(O)/t/report/make-large
	@BUILD='$(abspath $(O))' t/bench/run
	@BUILD='$(abspath $(O))' t/bench/live
	@BUILD='$(abspath $(O))' t/bench/files
	@BUILD='$(abspath $(O))' t/bench/memory
	@BUILD='$(abspath $(O))' t/bench/locks

count:
	@$(MAKE) --no-print-directory all
	@BUILD='$(abspath $(O))' CC='$(CC)' CFLAGS='$(CFLAGS)' t/bench/count

# SCALE: numbers of agents; SIMULATE: settings of t/scale/sim/simulate.c, and numbers of its agents,
# of which 1024 need 5 GB and a minute
SCALE ?= 2 4 8 16 32 64 128
SIMULATE ?= 64 128 256 512 1024
scale:
	@$(MAKE) --no-print-directory all $(simulate)
	@$(simulate) $(SIMULATE)
	@BUILD='$(abspath $(O))' CC='$(CC)' t/scale/run tcp $(SCALE)
	@for m in openmpi mpich; do \
		[ ! -e $(O)/lib/vftr/peer-$$m.so ] || \
			BUILD='$(abspath $(O))' CC='$(CC)' t/scale/run $$m $(SCALE) || exit; done

# Findings of gcc -fanalyzer and cppcheck, against t/analysis/accepted
analyse: deps
	@$(MAKE) --no-print-directory all
	@JOBS=$(JOBS) sh t/analysis/run $(O) '$(CC)'

# The same tests with the agent, the tools and the unit tests under a sanitizer;
# the library in the application stays as it is. LEAKS=0 where ptrace is forbidden.
LEAKS ?= 1
asan:
	@ASAN_OPTIONS=detect_leaks=$(LEAKS):handle_segv=0:verify_asan_link_order=0 \
		LSAN_OPTIONS=suppressions=$(abspath t/lib/leaks.supp):print_suppressions=0 \
		$(MAKE) --no-print-directory O=$(O)/asan check \
		SANITIZE="-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"

tsan:
	@$(MAKE) --no-print-directory O=$(O)/tsan SANITIZE="-O1 -fsanitize=thread" $(O)/tsan/t/unit/shm/u-ring
	$(O)/tsan/t/unit/shm/u-ring

# Lines and branches that tests run, by folder; those that none runs are listed in obj/coverage/missed.
# TESTS: these files only. Libraries that a program is linked with, such as libvftrace.a, want libgcov
# then, and what is killed has counted nothing.
coverage: deps-tests
	-@$(MAKE) --no-print-directory O=$(O)/coverage AGAIN=0 check CFLAGS='-O1 -g --coverage -fprofile-update=atomic' \
		LDFLAGS=--coverage SANITIZE='--coverage -include t/analysis/exits.h'
	@python3 t/analysis/coverage.py $(O)/coverage $(O)/coverage/missed

# MUTATIONS small changes at random places of the code that has units: do these notice? A new SEED
# takes others. Each takes some seconds; the survivors are in obj/survivors.
MUTATIONS ?= 200
SEED      ?= 1
mutate: check-build
	@CK_TIMEOUT_MULTIPLIER=10 python3 t/analysis/mutate.py $(O) $(MUTATIONS) $(SEED)
	@$(MAKE) --no-print-directory check-build

help:
	@echo "make            the libraries and programs, in $(O)/"
	@echo "make demo       install what is missing, build, run the heat equation traced"
	@echo "make check      install what is missing, build, run every test"
	@echo "make check-long the same with longer runs and fuzzing"
	@echo "make report-check  the report in a browser: needs chromium, node and npm"
	@echo "make report-assets  fetches speedscope by npm, which reports then have for time lines"
	@echo "make bench      what tracing costs, measured side by side"
	@echo "make count      instructions of what is done for each event, by valgrind, against t/bench/count.reference"
	@echo "make scale      messages and memory of 1024 simulated agents, and of 128 real ones; needs root"
	@echo "make analyse    what gcc -fanalyzer and cppcheck find, against t/analysis/accepted"
	@echo "make install    to PREFIX=$(PREFIX) (DESTDIR for packagers); make uninstall"
	@echo "make deb        Debian packages, in $(O)/"
	@echo "make dist sbom  an archive of the last commit; what the programs need, as SPDX; in $(O)/"
	@echo "make coverage   lines and branches that tests run, by folder; TESTS: these files only"
	@echo "make mutate     how many of 200 small changes of the code the units notice; SEED"
	@echo "make asan tsan  tests under sanitizers;  make clean"

.PHONY: clean
clean:
	rm -rf $(O)
