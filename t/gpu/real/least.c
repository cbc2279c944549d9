/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least tracer that CUPTI allows: it is called for each function, and does nothing;
 * it asks for the same activities as libvftrace-cupti, and throws them away. By
 * CUDA_INJECTION64_PATH; what it costs is CUPTI's own.
 */
#include <cupti.h>
#include <stdlib.h>

#define BUFFER_BYTES ((size_t)1 << 20)

static void on_call(
	void *context, CUpti_CallbackDomain domain, CUpti_CallbackId function, const void *call)
{
	(void)context;
	(void)domain;
	(void)function;
	(void)call;
}

static void on_request(uint8_t **buffer, size_t *bytes, size_t *records_max)
{
	*buffer = malloc(BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*records_max = 0;
}

static void on_complete(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	(void)context;
	(void)stream;
	(void)bytes;
	(void)valid;
	free(buffer);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
	static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_DEVICE,
		CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
		CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD};
	CUpti_SubscriberHandle subscriber;

	if (cuptiSubscribe(&subscriber, on_call, NULL) ||
		cuptiActivityRegisterCallbacks(on_request, on_complete))
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		cuptiActivityEnable(kinds[i]);
	cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
	cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	return 1;
}
