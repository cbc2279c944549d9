# SPDX-License-Identifier: BSD-3-Clause
# Libraries that stand in for functions of the C library, included by the Makefile.

files_obj := $(call obj,$(wildcard libc/files/*.c))
locks_obj := $(call obj,$(wildcard libc/locks/*.c))

# what it stands in for must be called by the names that stand here
$(files_obj) $(locks_obj): ALL_CFLAGS := $(filter-out -ftls-model=%,$(HOOK_CFLAGS)) -U_FORTIFY_SOURCE -fno-builtin
$(O)/lib/libvftrace-files.so: $(files_obj)
$(O)/lib/libvftrace-locks.so: $(locks_obj)
$(O)/lib/libvftrace-files.so $(O)/lib/libvftrace-locks.so:
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,now,-z,nodelete $(LDFLAGS) -o $@ $^ -ldl -lpthread

memory_obj := $(call obj,$(wildcard libc/memory/*.c))

# before there is malloc, no thread-local memory can be had but what is there from the start
$(memory_obj): ALL_CFLAGS := $(HOOK_CFLAGS) -U_FORTIFY_SOURCE -fno-builtin -fno-tree-loop-distribute-patterns
$(O)/lib/libvftrace-memory.so: $(memory_obj)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,now,-z,nodelete $(LDFLAGS) -o $@ $^ -ldl -lpthread
