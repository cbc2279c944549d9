/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares abi.h with the headers of a CUDA toolkit. Nothing of it is linked:
 * the build compiles it where the headers are, and fails if they disagree.
 */
#include <cupti.h>
#include "cupti/abi.h"
#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif
#endif

#define SAME(ours, member, theirs, their_member)                                                   \
	_Static_assert(                                                                            \
		offsetof(struct ours, member) == offsetof(theirs, their_member) &&                 \
			sizeof(((struct ours *)0)->member) == sizeof(((theirs *)0)->their_member), \
		#ours "." #member " is not " #theirs "." #their_member)
#define VALUE(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours " is not " #theirs)

VALUE(CUPTI_OK, CUPTI_SUCCESS);
VALUE(CUPTI_BUSY, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_LIMIT, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(DOMAIN_NVTX, CUPTI_CB_DOMAIN_NVTX);
VALUE(SITE_ENTER, CUPTI_API_ENTER);
VALUE(SITE_EXIT, CUPTI_API_EXIT);
VALUE(KIND_COPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(KIND_SET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
VALUE(KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
VALUE(KIND_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(KIND_PEER_COPY, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(KIND_MEMORY, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
VALUE(KIND_WAIT, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);

SAME(cupti_call, site, CUpti_CallbackData, callbackSite);
SAME(cupti_call, function, CUpti_CallbackData, functionName);
SAME(cupti_call, parameters, CUpti_CallbackData, functionParams);
SAME(cupti_call, symbol, CUpti_CallbackData, symbolName);
SAME(cupti_call, context_id, CUpti_CallbackData, contextUid);
SAME(cupti_call, correlation, CUpti_CallbackData, correlationId);

/* The latest of each; CUDA 11.8 has version 18. */
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 their_kernel;
typedef CUpti_ActivityMemcpy6 their_copy;
typedef CUpti_ActivitySynchronization2 their_wait;
typedef CUpti_ActivityUnifiedMemoryCounter3 their_memory;
typedef CUpti_ActivityOverhead3 their_overhead;
typedef CUpti_ActivityDevice5 their_device;
typedef CUpti_ActivityContext3 their_context;
#else
typedef CUpti_ActivityKernel4 their_kernel;
typedef CUpti_ActivityMemcpy5 their_copy;
typedef CUpti_ActivitySynchronization their_wait;
typedef CUpti_ActivityUnifiedMemoryCounter2 their_memory;
typedef CUpti_ActivityOverhead their_overhead;
typedef CUpti_ActivityDevice4 their_device;
typedef CUpti_ActivityContext their_context;
#endif

SAME(cupti_kernel, registers, their_kernel, registersPerThread);
SAME(cupti_kernel, start, their_kernel, start);
SAME(cupti_kernel, end, their_kernel, end);
SAME(cupti_kernel, device, their_kernel, deviceId);
SAME(cupti_kernel, context, their_kernel, contextId);
SAME(cupti_kernel, stream, their_kernel, streamId);
SAME(cupti_kernel, grid[0], their_kernel, gridX);
SAME(cupti_kernel, block[0], their_kernel, blockX);
SAME(cupti_kernel, static_shared, their_kernel, staticSharedMemory);
SAME(cupti_kernel, dynamic_shared, their_kernel, dynamicSharedMemory);
SAME(cupti_kernel, local_per_thread, their_kernel, localMemoryPerThread);
SAME(cupti_kernel, correlation, their_kernel, correlationId);
SAME(cupti_kernel, name, their_kernel, name);

SAME(cupti_copy, direction, their_copy, copyKind);
SAME(cupti_copy, bytes, their_copy, bytes);
SAME(cupti_copy, start, their_copy, start);
SAME(cupti_copy, end, their_copy, end);
SAME(cupti_copy, device, their_copy, deviceId);
SAME(cupti_copy, context, their_copy, contextId);
SAME(cupti_copy, stream, their_copy, streamId);
SAME(cupti_copy, correlation, their_copy, correlationId);

SAME(cupti_peer_copy, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(cupti_peer_copy, start, CUpti_ActivityMemcpyPtoP4, start);
SAME(cupti_peer_copy, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME(cupti_peer_copy, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(cupti_peer_copy, to_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME(cupti_peer_copy, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);

SAME(cupti_set, bytes, CUpti_ActivityMemset4, bytes);
SAME(cupti_set, start, CUpti_ActivityMemset4, start);
SAME(cupti_set, device, CUpti_ActivityMemset4, deviceId);
SAME(cupti_set, stream, CUpti_ActivityMemset4, streamId);
SAME(cupti_set, correlation, CUpti_ActivityMemset4, correlationId);

SAME(cupti_wait, type, their_wait, type);
SAME(cupti_wait, start, their_wait, start);
SAME(cupti_wait, end, their_wait, end);
SAME(cupti_wait, correlation, their_wait, correlationId);
SAME(cupti_wait, context, their_wait, contextId);
SAME(cupti_wait, stream, their_wait, streamId);

SAME(cupti_memory, counter, their_memory, counterKind);
SAME(cupti_memory, value, their_memory, value);
SAME(cupti_memory, start, their_memory, start);
SAME(cupti_memory, end, their_memory, end);
SAME(cupti_memory, from, their_memory, srcId);
SAME(cupti_memory, to, their_memory, dstId);
SAME(cupti_memory, stream, their_memory, streamId);

SAME(cupti_overhead, type, their_overhead, overheadKind);
SAME(cupti_overhead, start, their_overhead, start);
SAME(cupti_overhead, end, their_overhead, end);

SAME(cupti_device, memory, their_device, globalMemorySize);
SAME(cupti_device, warp_threads, their_device, numThreadsPerWarp);
SAME(cupti_device, multiprocessors, their_device, numMultiprocessors);
SAME(cupti_device, warps, their_device, maxWarpsPerMultiprocessor);
SAME(cupti_device, blocks, their_device, maxBlocksPerMultiprocessor);
SAME(cupti_device, shared_bytes, their_device, maxSharedMemoryPerMultiprocessor);
SAME(cupti_device, registers, their_device, maxRegistersPerMultiprocessor);
SAME(cupti_device, block_registers, their_device, maxRegistersPerBlock);
SAME(cupti_device, block_threads, their_device, maxThreadsPerBlock);
SAME(cupti_device, major, their_device, computeCapabilityMajor);
SAME(cupti_device, minor, their_device, computeCapabilityMinor);
SAME(cupti_device, id, their_device, id);
SAME(cupti_device, uuid, their_device, uuid);
SAME(cupti_device, name, their_device, name);
SAME(cupti_device, is_mig, their_device, isMigEnabled);
SAME(cupti_device, mig_uuid, their_device, migUuid);

SAME(cupti_context, id, their_context, contextId);
SAME(cupti_context, device, their_context, deviceId);
SAME(cupti_context, default_stream, their_context, nullStreamId);

SAME(cupti_memory_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME(cupti_memory_config, counter, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME(cupti_memory_config, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
SAME(cupti_memory_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);

/* CUDA 13's headers still have the records of 11.0 to 12.9: no member has moved. */
#if CUPTI_API_VERSION >= 130000
#define SAME_KERNEL(theirs)                                                                        \
	SAME(cupti_kernel, registers, theirs, registersPerThread);                                 \
	SAME(cupti_kernel, start, theirs, start);                                                  \
	SAME(cupti_kernel, grid[0], theirs, gridX);                                                \
	SAME(cupti_kernel, block[0], theirs, blockX);                                              \
	SAME(cupti_kernel, local_per_thread, theirs, localMemoryPerThread);                        \
	SAME(cupti_kernel, correlation, theirs, correlationId);                                    \
	SAME(cupti_kernel, name, theirs, name)
#define SAME_COPY(theirs)                                                                          \
	SAME(cupti_copy, direction, theirs, copyKind);                                             \
	SAME(cupti_copy, start, theirs, start);                                                    \
	SAME(cupti_copy, stream, theirs, streamId);                                                \
	SAME(cupti_copy, correlation, theirs, correlationId)
#define SAME_PEER_COPY(theirs)                                                                     \
	SAME(cupti_peer_copy, from_device, theirs, srcDeviceId);                                   \
	SAME(cupti_peer_copy, to_device, theirs, dstDeviceId);                                     \
	SAME(cupti_peer_copy, correlation, theirs, correlationId)
#define SAME_SET(theirs)                                                                           \
	SAME(cupti_set, bytes, theirs, bytes);                                                     \
	SAME(cupti_set, correlation, theirs, correlationId)
#define SAME_DEVICE(theirs)                                                                        \
	SAME(cupti_device, warps, theirs, maxWarpsPerMultiprocessor);                              \
	SAME(cupti_device, id, theirs, id);                                                        \
	SAME(cupti_device, uuid, theirs, uuid);                                                    \
	SAME(cupti_device, name, theirs, name)
SAME_KERNEL(CUpti_ActivityKernel4);
SAME_KERNEL(CUpti_ActivityKernel5);
SAME_KERNEL(CUpti_ActivityKernel6);
SAME_KERNEL(CUpti_ActivityKernel7);
SAME_KERNEL(CUpti_ActivityKernel8);
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_COPY(CUpti_ActivityMemcpy3);
SAME_COPY(CUpti_ActivityMemcpy4);
SAME_COPY(CUpti_ActivityMemcpy5);
SAME_PEER_COPY(CUpti_ActivityMemcpyPtoP2);
SAME_PEER_COPY(CUpti_ActivityMemcpyPtoP3);
SAME_SET(CUpti_ActivityMemset2);
SAME_SET(CUpti_ActivityMemset3);
SAME_DEVICE(CUpti_ActivityDevice2);
SAME_DEVICE(CUpti_ActivityDevice3);
SAME_DEVICE(CUpti_ActivityDevice4);
SAME(cupti_device, mig_uuid, CUpti_ActivityDevice4, migUuid);
SAME(cupti_context, default_stream, CUpti_ActivityContext, nullStreamId);
SAME(cupti_context, default_stream, CUpti_ActivityContext2, nullStreamId);
SAME(cupti_overhead, end, CUpti_ActivityOverhead, end);
SAME(cupti_overhead, end, CUpti_ActivityOverhead2, end);
SAME(cupti_wait, stream, CUpti_ActivitySynchronization, streamId);
SAME(cupti_memory, to, CUpti_ActivityUnifiedMemoryCounter2, dstId);
#endif

#ifdef HAS_NVTX
/* they have macros of these names */
enum {
	their_ascii = NVTX_MESSAGE_TYPE_ASCII,
	their_wide = NVTX_MESSAGE_TYPE_UNICODE,
	their_registered = NVTX_MESSAGE_TYPE_REGISTERED
};
#include "cupti/nvtx-abi.h"
VALUE(NVTX_MESSAGE_ASCII, their_ascii);
VALUE(NVTX_MESSAGE_WIDE, their_wide);
VALUE(NVTX_MESSAGE_REGISTERED, their_registered);
VALUE(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
VALUE(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
VALUE(NVTX_MODULE_CUDA, NVTX_CB_MODULE_CUDA);
VALUE(NVTX_MODULE_CUDART, NVTX_CB_MODULE_CUDART);
VALUE(NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx);
VALUE(NVTX_MARK_WIDE, NVTX_CBID_CORE_MarkW);
VALUE(NVTX_START_EX, NVTX_CBID_CORE_RangeStartEx);
VALUE(NVTX_START_WIDE, NVTX_CBID_CORE_RangeStartW);
VALUE(NVTX_END, NVTX_CBID_CORE_RangeEnd);
VALUE(NVTX_NAME_THREAD, NVTX_CBID_CORE_NameOsThreadA);
VALUE(NVTX_NAME_THREAD_WIDE, NVTX_CBID_CORE_NameOsThreadW);
VALUE(NVTX_DOMAIN_MARK, NVTX_CBID_CORE2_DomainMarkEx);
VALUE(NVTX_DOMAIN_START, NVTX_CBID_CORE2_DomainRangeStartEx);
VALUE(NVTX_DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd);
VALUE(NVTX_DOMAIN_STRING_WIDE, NVTX_CBID_CORE2_DomainRegisterStringW);
VALUE(NVTX_DOMAIN_CREATE_WIDE, NVTX_CBID_CORE2_DomainCreateW);
VALUE(NVTX_CUDA_NAME_STREAM, NVTX_CBID_CUDA_NameCuStreamA);
VALUE(NVTX_CUDA_NAME_STREAM_WIDE, NVTX_CBID_CUDA_NameCuStreamW);
VALUE(NVTX_CUDART_NAME_DEVICE, NVTX_CBID_CUDART_NameCudaDeviceA);
VALUE(NVTX_CUDART_NAME_DEVICE_WIDE, NVTX_CBID_CUDART_NameCudaDeviceW);
VALUE(NVTX_CUDART_NAME_STREAM, NVTX_CBID_CUDART_NameCudaStreamA);
VALUE(NVTX_CUDART_NAME_STREAM_WIDE, NVTX_CBID_CUDART_NameCudaStreamW);
VALUE(NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
VALUE(NVTX_PUSH, NVTX_CBID_CORE_RangePushA);
VALUE(NVTX_PUSH_WIDE, NVTX_CBID_CORE_RangePushW);
VALUE(NVTX_POP, NVTX_CBID_CORE_RangePop);
VALUE(NVTX_DOMAIN_PUSH, NVTX_CBID_CORE2_DomainRangePushEx);
VALUE(NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
VALUE(NVTX_DOMAIN_STRING, NVTX_CBID_CORE2_DomainRegisterStringA);
VALUE(NVTX_DOMAIN_CREATE, NVTX_CBID_CORE2_DomainCreateA);
VALUE(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
_Static_assert(sizeof(struct nvtx_attributes) == sizeof(nvtxEventAttributes_t), "of NVTX");
SAME(nvtx_attributes, size, nvtxEventAttributes_t, size);
SAME(nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
SAME(nvtx_attributes, message, nvtxEventAttributes_t, message);
#endif
