/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for formulas of observables, for clang -fsanitize=fuzzer: what is
 * accepted has the same value in parentheses, with a sign twice, and behind a comma;
 * what is not says why in one line.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/report/formula.h"
#include "nodeagent/base/util.h"

#define NAMES 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const char *const names[NAMES] = {"A", "B_2", "sin", "T", "CALLS"};
static const double values[NAMES] = {3, 0, 1e300, 0.25, 7};

/* False: it is no formula. */
static int value_of(const char *text, double *value)
{
	char *error;
	struct formula *f = formula_new(text, names, NAMES, &error);

	if (!f) {
		if (!error || !error[0] || strchr(error, '\n'))
			abort();
		free(error);
		return 0;
	}
	if (error)
		abort();
	*value = formula_value(f, values);
	formula_free(f);
	return 1;
}

static void check_same(char *text, double wanted)
{
	double got;

	/* what was as deep as it may be is too deep now */
	if (value_of(text, &got) && !(got == wanted || (isnan(got) && isnan(wanted))))
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = xmalloc(bytes + 1);
	double value;

	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (value_of(text, &value)) {
		check_same(xasprintf("(%s)", text), value);
		check_same(xasprintf("--(%s)", text), value);
		check_same(xasprintf(" 1 , (%s) ", text), value);
		check_same(xasprintf("1*(%s)", text), value);
	}
	free(text);
	return 0;
}
