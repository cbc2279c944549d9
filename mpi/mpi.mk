# SPDX-License-Identifier: BSD-3-Clause
# The MPI libraries, one per MPI found: libvftrace-openmpi.so and .a, ... They
# hold the hooks too (hook_obj, hook_shared, hook_shm_obj): a program needs one.
# Included by the Makefile.

MPIFC_openmpi ?= $(shell command -v mpif90.openmpi)
MPIFC_mpich   ?= $(shell command -v mpif90.mpich)

# Open MPI 4 hides functions that MPI-3 removed; old programs still call them.
MPI_CPPFLAGS := -DOMPI_OMIT_MPI1_COMPAT_DECLS=0

mpi_tab  := mpi/generate/kinds.tab mpi/generate/classes.tab mpi/generate/mpi.tab

# gen.awk OUT: to a file that appears only when the generator succeeded
mpi_gen = $(AWK) -v out=$(1) -f mpi/generate/gen.awk $(filter %.tab %.i %.sym,$^) >$@.new && mv $@.new $@

$(O)/gen/mpi_id.h: mpi/generate/gen.awk $(mpi_tab)
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)$(call mpi_gen,id)

$(O)/gen/mpi_name.c: mpi/generate/gen.awk $(mpi_tab)
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)$(call mpi_gen,name)

# The predefined types that this MPI has, by their index in records; their names for the agent.
$(O)/gen/mpi_type.h: mpi/generate/types.tab
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)$(AWK) '/^MPI/ { printf "#ifdef %s\nTYPE(%d, %s)\n#endif\n", $$1, ++n, $$1 }' $< >$@.new && mv $@.new $@

$(O)/gen/mpi_type_name.h: mpi/generate/types.tab
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)$(AWK) '/^MPI/ { if (NF != 3) { print FILENAME ":" FNR ": a type has three columns" >"/dev/stderr"; exit 1 } \
		printf "TYPE(\"%s\", %d, %d)\n", $$1, $$2, $$3 }' $< >$@.new && mv $@.new $@

# some files of the agent and of the tools include them; after the first build, *.d says which
$(core_obj) $(core_obj:$(O)/%=$(O)/fuzz/%) $(call obj,$(tool_src) $(mains)): | $(O)/gen/mpi_id.h $(O)/gen/mpi_type_name.h

$(O)/gen/mpi_name.o: $(O)/gen/mpi_name.c $(O)/gen/mpi_id.h
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

# The manual page with the list of functions.
$(O)/man/vftr-mpi.7: mpi/generate/man.awk mpi/generate/kinds.tab mpi/generate/classes.tab mpi/generate/mpi.tab man/vftr-mpi.7.in
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)$(AWK) -f $^ >$@.new && mv $@.new $@
all: $(O)/man/vftr-mpi.7

# The MPI's Fortran libraries are linked in for good: as we provide all that a
# Fortran program calls, --as-needed would drop them from the program, and their
# MPI_IN_PLACE would be another one than the program's.
#
# Order of the inputs matters: kinds, quirks, what this MPI has, the table last.
define mpi_rules
$(O)/gen/$(1)/mpi.i: mpi/mpi.mk
	@mkdir -p $$(@D)
	$$(call say,CPP,$$@)
	$(Q)echo '#include <mpi.h>' | $$(MPICC_$(1)) $(MPI_CPPFLAGS) -E -x c - >$$@.new && mv $$@.new $$@

$(O)/gen/$(1)/fortran.sym: mpi/generate/probe.sh mpi/mpi.mk
	@mkdir -p $$(@D)
	$$(call say,PROBE,$$@)
	$(Q)sh mpi/generate/probe.sh "$$(MPICC_$(1))" "$$(MPIFC_$(1))" $$(@D)

$(O)/gen/$(1)/c.sym: $(O)/gen/$(1)/fortran.sym ;

$(O)/gen/$(1)/mpi_c.c: mpi/generate/gen.awk mpi/generate/kinds.tab mpi/generate/quirks.tab mpi/generate/not-wrapped.tab \
		$(O)/gen/$(1)/mpi.i $(O)/gen/$(1)/c.sym mpi/generate/mpi.tab
	$$(call say,GEN,$$@)
	$(Q)$$(call mpi_gen,c)

$(O)/gen/$(1)/mpi_f77.c $(O)/gen/$(1)/mpi_f08.c: $(O)/gen/$(1)/mpi_%.c: mpi/generate/gen.awk \
		mpi/generate/kinds.tab $(O)/gen/$(1)/fortran.sym mpi/generate/mpi.tab
	$$(call say,GEN,$$@)
	$(Q)$$(call mpi_gen,$$*)

mpi_obj_$(1) := $(patsubst %,$(O)/mpi/$(1)/%.o,$(patsubst mpi/%.c,%,$(wildcard mpi/*.c mpi/*/*.c)) sentinel mpi_c mpi_f77 mpi_f08)

$(O)/mpi/$(1)/mpi_%.o: $(O)/gen/$(1)/mpi_%.c $(O)/gen/mpi_id.h
	@mkdir -p $$(@D)
	$$(call say,MPICC,$$@)
	$(Q)$$(MPICC_$(1)) $$(HOOK_CFLAGS) $(MPI_CPPFLAGS) -c $$< -o $$@

$(O)/mpi/$(1)/sentinel.o: fortran/sentinel.c $(O)/gen/mpi_id.h
	@mkdir -p $$(@D)
	$$(call say,MPICC,$$@)
	$(Q)$$(MPICC_$(1)) $$(HOOK_CFLAGS) $(MPI_CPPFLAGS) -c $$< -o $$@

$(O)/mpi/$(1)/%.o: mpi/%.c $(O)/gen/mpi_id.h $(O)/gen/mpi_type.h
	@mkdir -p $$(@D)
	$$(call say,MPICC,$$@)
	$(Q)$$(MPICC_$(1)) $$(HOOK_CFLAGS) $(MPI_CPPFLAGS) -c $$< -o $$@

$(O)/lib/libvftrace-$(1).so: $$(mpi_obj_$(1)) $(hook_so) $(hook_shm_obj) libhook/lib.map
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$(Q)$$(MPICC_$(1)) $$(HOOK_LDFLAGS) -o $$@ $$(filter %.o,$$^) \
		-Wl,--no-as-needed $$$$(cat $(O)/gen/$(1)/fortran.libs) -ldl -lpthread

$(O)/lib/libvftrace-$(1).a: $$(mpi_obj_$(1)) $(hook_shared) $(hook_shm_obj)
	@mkdir -p $$(@D)
	$$(call say,AR,$$@)
	$(Q)rm -f $$@ && $(AR) rcs $$@ $$^ && $(OBJCOPY) --discard-all $$@
endef
$(foreach M,$(MPIS),$(eval $(call mpi_rules,$(M))))
