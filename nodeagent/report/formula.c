/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive descent over the text, into a program for a stack of numbers:
 *
 *   list    = sum { "," sum }			its value is the last one
 *   sum     = product { ("+" | "-") product }
 *   product = power { ("*" | "/" | "%") power }
 *   power   = signed { "^" signed }		from the left: 2^3^2 is 64
 *   signed  = { "+" | "-" } value		-2^2 is 4
 *   value   = number | symbol | constant | "(" list ")" | function argument
 *
 * That is how TinyExpr reads formulas as Vftrace builds it, so that those of its
 * users mean what they meant. A function of one argument needs no parentheses.
 */
#include "nodeagent/report/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"

#define DEPTH_OF_TEXT 200 /* parentheses, signs and functions inside of each other */
#define SHOWN	      30  /* characters of the text in a message */

static double factorial(double n)
{
	if (!(n >= 0))
		return NAN;
	return n > 170 ? INFINITY : floor(tgamma(floor(n) + 1) + 0.5);
}

static double combinations(double n, double k)
{
	double product = 1;

	if (!(n >= 0) || !(k >= 0) || n < k)
		return NAN;
	n = floor(n);
	k = floor(k) < n - floor(k) ? floor(k) : n - floor(k);
	if (k > 1e5)
		return INFINITY;
	for (double i = 1; i <= k && product < INFINITY; i++)
		product = product * (n - k + i) / i;
	return floor(product + 0.5);
}

static double permutations(double n, double k)
{
	return combinations(n, k) * factorial(k);
}

static double pi(void)
{
	return 3.14159265358979323846;
}

static double euler(void)
{
	return 2.71828182845904523536;
}

static double add(double a, double b)
{
	return a + b;
}

static double subtract(double a, double b)
{
	return a - b;
}

static double multiply(double a, double b)
{
	return a * b;
}

static double divide_numbers(double a, double b)
{
	return a / b;
}

static double negate(double a)
{
	return -a;
}

struct function {
	const char *name;
	unsigned arguments;
	double (*none)(void);
	double (*one)(double);
	double (*two)(double, double);
};

#define NONE(name, f)                                                                              \
	{                                                                                          \
		name, 0, f, NULL, NULL                                                             \
	}
#define ONE(name, f)                                                                               \
	{                                                                                          \
		name, 1, NULL, f, NULL                                                             \
	}
#define TWO(name, f)                                                                               \
	{                                                                                          \
		name, 2, NULL, NULL, f                                                             \
	}

static const struct function functions[] = {
	NONE("pi", pi),
	NONE("e", euler),
	ONE("abs", fabs),
	ONE("acos", acos),
	ONE("asin", asin),
	ONE("atan", atan),
	TWO("atan2", atan2),
	ONE("ceil", ceil),
	ONE("cos", cos),
	ONE("cosh", cosh),
	ONE("exp", exp),
	ONE("fac", factorial),
	ONE("floor", floor),
	ONE("ln", log),
	ONE("log", log10),
	ONE("log10", log10),
	TWO("max", fmax),
	TWO("min", fmin),
	TWO("ncr", combinations),
	TWO("npr", permutations),
	TWO("pow", pow),
	ONE("sin", sin),
	ONE("sinh", sinh),
	ONE("sqrt", sqrt),
	ONE("tan", tan),
	ONE("tanh", tanh),
};

/* By sign. */
static const struct {
	char sign;
	struct function f;
} operators[] = {
	{'+', TWO("+", add)},
	{'-', TWO("-", subtract)},
	{'*', TWO("*", multiply)},
	{'/', TWO("/", divide_numbers)},
	{'%', TWO("%", fmod)},
	{'^', TWO("^", pow)},
};

static const struct function minus = ONE("-", negate);

enum what { NUMBER, SYMBOL, CALL, FORGET /* what is on top */ };

struct step {
	enum what what;
	double number;
	size_t symbol;
	const struct function *f;
};

struct formula {
	struct step *steps;
	size_t n, cap, most; /* numbers on the stack */
};

struct reading {
	const char *at;
	const char *const *names;
	size_t n_names;
	struct formula *f;
	size_t height;
	unsigned depth;
	char *error;
};

static void read_list(struct reading *r);
static void read_sum(struct reading *r);
static void read_value(struct reading *r);

static void fail_formula(struct reading *r, const char *what)
{
	if (r->error)
		return;
	if (*r->at)
		r->error = xasprintf("%s at \"%.*s\"", what, SHOWN, r->at);
	else
		r->error = xasprintf("%s at its end", what);
	for (char *s = r->error; *s; s++) /* the text may have lines, or worse */
		if (iscntrl((unsigned char)*s))
			*s = '?';
}

static char next_char(struct reading *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
	return r->error ? '\0' : *r->at;
}

static void put_step(struct reading *r, struct step s)
{
	struct formula *f = r->f;

	*APPEND(f->steps, f->n, f->cap) = s;
	if (s.what == CALL)
		r->height -= s.f->arguments;
	r->height += s.what == FORGET ? (size_t)-1 : 1;
	f->most = MAX(f->most, r->height);
}

static void put_sign(struct reading *r, char sign)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].sign == sign)
			put_step(r, (struct step){.what = CALL, .f = &operators[i].f});
}

static void read_number(struct reading *r)
{
	char *end;
	double value = strtod(r->at, &end);

	if (end == r->at) {
		fail_formula(r, "no number");
		return;
	}
	r->at = end;
	put_step(r, (struct step){.what = NUMBER, .number = value});
}

static void arguments(struct reading *r, const struct function *f)
{
	if (f->arguments == 1 && next_char(r) != '(') {
		read_value(r);
		return;
	}
	if (next_char(r) != '(') {
		if (f->arguments)
			fail_formula(r, "a function without its arguments");
		return;
	}
	r->at++;
	for (unsigned i = 0; i < f->arguments; i++) {
		if (i && next_char(r) != ',') {
			fail_formula(r, "too few arguments");
			return;
		}
		r->at += i != 0;
		read_sum(r);
	}
	if (next_char(r) != ')')
		fail_formula(
			r, f->arguments ? "no \")\" behind the arguments" : "an argument too many");
	else
		r->at++;
}

static void read_word(struct reading *r)
{
	size_t bytes = 1;
	const char *text = r->at;

	while (isalnum((unsigned char)text[bytes]) || text[bytes] == '_')
		bytes++;
	for (size_t i = 0; i < r->n_names; i++)
		if (strlen(r->names[i]) == bytes && !memcmp(r->names[i], text, bytes)) {
			r->at += bytes;
			put_step(r, (struct step){.what = SYMBOL, .symbol = i});
			return;
		}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strlen(functions[i].name) == bytes && !memcmp(functions[i].name, text, bytes)) {
			r->at += bytes;
			arguments(r, &functions[i]);
			put_step(r, (struct step){.what = CALL, .f = &functions[i]});
			return;
		}
	fail_formula(r, "neither a symbol nor a function");
}

static void read_value(struct reading *r)
{
	char c = next_char(r);

	if (++r->depth > DEPTH_OF_TEXT)
		fail_formula(r, "too deep");
	else if (isdigit((unsigned char)c) || c == '.')
		read_number(r);
	else if (isalpha((unsigned char)c) || c == '_')
		read_word(r);
	else if (c == '(') {
		r->at++;
		read_list(r);
		if (next_char(r) == ')')
			r->at++;
		else
			fail_formula(r, "no \")\"");
	} else
		fail_formula(r, "no value");
	r->depth--;
}

static void with_sign(struct reading *r)
{
	bool negative = false;
	char c;

	for (; (c = next_char(r)) == '-' || c == '+'; r->at++)
		negative ^= c == '-';
	read_value(r);
	if (negative && !r->error)
		put_step(r, (struct step){.what = CALL, .f = &minus});
}

/* { part }, with signs of this level in between. */
static void row(struct reading *r, void (*part)(struct reading *), const char *signs)
{
	char c;

	part(r);
	while ((c = next_char(r)) && strchr(signs, c)) {
		r->at++;
		part(r);
		if (!r->error)
			put_sign(r, c);
	}
}

static void power(struct reading *r)
{
	row(r, with_sign, "^");
}

static void product(struct reading *r)
{
	row(r, power, "*/%");
}

static void read_sum(struct reading *r)
{
	row(r, product, "+-");
}

static void read_list(struct reading *r)
{
	read_sum(r);
	while (next_char(r) == ',') {
		r->at++;
		if (!r->error)
			put_step(r, (struct step){.what = FORGET});
		read_sum(r);
	}
}

struct formula *formula_new(const char *text, const char *const *names, size_t n, char **error)
{
	struct reading r = {
		.at = text, .names = names, .n_names = n, .f = xcalloc(1, sizeof(struct formula))};

	read_list(&r);
	if (next_char(&r))
		fail_formula(&r, "something that does not belong there");
	*error = r.error;
	if (r.error) {
		formula_free(r.f);
		return NULL;
	}
	return r.f;
}

void formula_free(struct formula *f)
{
	if (f)
		free(f->steps);
	free(f);
}

static double call(const struct function *f, const double *argument)
{
	switch (f->arguments) {
	case 0:
		return f->none();
	case 1:
		return f->one(argument[0]);
	default:
		return f->two(argument[0], argument[1]);
	}
}

double formula_value(const struct formula *f, const double *values)
{
	double small[32],
		*stack = f->most <= ARRAY_SIZE(small) ? small : xmalloc(f->most * sizeof(*stack));
	double *top = stack, result; /* one past the last */

	EACH(const struct step, s, f->steps, f->n) {
		switch (s->what) {
		case NUMBER:
			*top++ = s->number;
			break;
		case SYMBOL:
			*top++ = values[s->symbol];
			break;
		case CALL:
			top -= s->f->arguments;
			*top = call(s->f, top);
			top++;
			break;
		case FORGET:
			top--;
			break;
		}
	}
	result = top[-1];
	if (stack != small)
		free(stack);
	return result;
}
