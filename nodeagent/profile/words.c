/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/words.h"

#include <string.h>

#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"

char *user_counter_name(const struct profile_user_counter *c)
{
	return xasprintf("%.*s", (int)strcspn(c->name, "\n"), c->name);
}

const char *user_counter_unit(const struct profile_user_counter *c)
{
	const char *end = c->name + strcspn(c->name, "\n");

	return *end ? end + 1 : end;
}
