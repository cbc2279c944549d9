/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits texts that a profile holds as one. */
#ifndef VFTR_NODEAGENT_PROFILE_WORDS_H
#define VFTR_NODEAGENT_PROFILE_WORDS_H

struct profile_user_counter;

/* The name in profile_user_counter.name; the caller frees. */
char *user_counter_name(const struct profile_user_counter *c);
/* The unit in profile_user_counter.name; "" if there is none. Points into it. */
const char *user_counter_unit(const struct profile_user_counter *c);

#endif
