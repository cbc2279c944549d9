/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/wait-kinds.h"

static const struct {
	const char *name, *title;
} kinds[] = {
#define WAIT_KIND(kind, name, title) {name, title},
	WAIT_KINDS(WAIT_KIND)
#undef WAIT_KIND
};

const char *wait_kind_name(uint32_t kind)
{
	return kinds[kind].name;
}

const char *wait_kind_title(uint32_t kind)
{
	return kinds[kind].title;
}
