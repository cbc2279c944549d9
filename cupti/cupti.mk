# SPDX-License-Identifier: BSD-3-Clause
# libvftrace-cupti.so, included by the Makefile.

# CUPTI is not needed to build: its headers, where they are, are compared with cupti/abi.h
cupti_obj     := $(call obj,$(filter-out cupti/abi-check.c,$(wildcard cupti/*.c)))
CUPTI_INCLUDE ?= $(firstword $(patsubst %/cupti.h,%,$(wildcard $(foreach D,$(CUDA_HOME) /usr/local/cuda /usr,\
		 $(D)/extras/CUPTI/include/cupti.h $(D)/include/cupti.h))))
CUDA_INCLUDE  ?= $(firstword $(patsubst %/cuda.h,%,$(wildcard $(foreach D,$(CUDA_HOME) /usr/local/cuda /usr,$(D)/include/cuda.h))))
.PHONY: check-gpu
check-gpu: all
	@BUILD='$(abspath $(O))' sh t/gpu/real/run

$(cupti_obj): ALL_CFLAGS := $(filter-out -ftls-model=%,$(HOOK_CFLAGS))
$(O)/lib/libvftrace-cupti.so: $(cupti_obj) cupti/abi-check.c
	$(if $(CUPTI_INCLUDE),$(Q)$(CC) $(STD) $(WARN) -Wno-strict-prototypes -I$(CUPTI_INCLUDE) $(CUDA_INCLUDE:%=-I%) -fsyntax-only cupti/abi-check.c,\
		@echo "  NOTE	no cupti.h: cupti/abi.h is not compared with it (CUPTI_INCLUDE=FOLDER)")
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,now,-z,nodelete $(LDFLAGS) -o $@ $(cupti_obj) -ldl -lpthread
