/* SPDX-License-Identifier: BSD-3-Clause */
/* Types, template arguments and expressions in names of the Itanium C++ ABI. */
#include "nodeagent/symbols/internal.h"

#include <string.h>

#include "nodeagent/base/util.h"

/* By the order of the ABI's table. */
static const struct mangled_operator operators[] = {{"nw", 0, "new"}, {"na", 0, "new[]"},
	{"dl", '1', "delete"}, {"da", '1', "delete[]"}, {"aw", '1', "co_await"}, {"ps", '1', "+"},
	{"ng", '1', "-"}, {"ad", '1', "&"}, {"de", '1', "*"}, {"co", '1', "~"}, {"pl", '2', "+"},
	{"mi", '2', "-"}, {"ml", '2', "*"}, {"dv", '2', "/"}, {"rm", '2', "%"}, {"an", '2', "&"},
	{"or", '2', "|"}, {"eo", '2', "^"}, {"aS", '2', "="}, {"pL", '2', "+="}, {"mI", '2', "-="},
	{"mL", '2', "*="}, {"dV", '2', "/="}, {"rM", '2', "%="}, {"aN", '2', "&="},
	{"oR", '2', "|="}, {"eO", '2', "^="}, {"ls", '2', "<<"}, {"rs", '2', ">>"},
	{"lS", '2', "<<="}, {"rS", '2', ">>="}, {"eq", '2', "=="}, {"ne", '2', "!="},
	{"lt", '2', "<"}, {"gt", '2', ">"}, {"le", '2', "<="}, {"ge", '2', ">="},
	{"ss", '2', "<=>"}, {"nt", '1', "!"}, {"aa", '2', "&&"}, {"oo", '2', "||"},
	{"pp", '1', "++"}, {"mm", '1', "--"}, {"cm", '2', ","}, {"pm", '2', "->*"}, {"pt", 0, "->"},
	{"cl", 0, "()"}, {"ix", '2', "[]"}, {"qu", '3', "?"}, {"st", 't', "sizeof"},
	{"sz", '1', "sizeof"}, {"at", 't', "alignof"}, {"az", '1', "alignof"},
	{"cc", 'c', "const_cast"}, {"dc", 'c', "dynamic_cast"}, {"sc", 'c', "static_cast"},
	{"rc", 'c', "reinterpret_cast"}, {"dt", 0, "."}, {"ds", '2', ".*"}, {"te", '1', "typeid"},
	{"ti", 't', "typeid"}, {"tw", '1', "throw"}, {"nx", '1', "noexcept"}};

const struct mangled_operator *mangled_operator(const struct mangled *m)
{
	char c = mangled_peek(m), next = mangled_peek_2(m);

	return FIND(x, operators, ARRAY_SIZE(operators), x->code[0] == c && x->code[1] == next);
}

/* ---- types ------------------------------------------------------------------------------- */

/* By letter; NULL: none of the ABI's. */
static const char *builtin(char letter)
{
	static const char *const names[26] = {"signed char", "bool", "char", "double",
		"long double", "float", "__float128", "unsigned char", "int", "unsigned int", NULL,
		"long", "unsigned long", "__int128", "unsigned __int128", NULL, NULL, NULL, "short",
		"unsigned short", NULL, "void", "wchar_t", "long long", "unsigned long long",
		"..."};

	return letter >= 'a' && letter <= 'z' ? names[letter - 'a'] : NULL;
}

void mangled_types(struct mangled *m)
{
	m->quiet++;
	while (mangled_peek(m) && mangled_peek(m) != 'E') {
		if (mangled_take(m, 'Q'))
			mangled_expression(m);
		else
			mangled_type(m);
	}
	mangled_want(m, 'E');
	m->quiet--;
}

/* T_, T0_, and TL0__ of a lambda's own. What it stands for is not looked up. */
void mangled_template_param(struct mangled *m)
{
	mangled_want(m, 'T');
	if (mangled_take(m, 'L')) {
		mangled_index(m);
		if (mangled_peek(m) == '_')
			m->at++;
		else
			mangled_index(m);
	} else {
		mangled_index(m);
	}
	mangled_write(m, "T");
}

/* An expression up to an E. */
static void expression_to_e(struct mangled *m)
{
	mangled_expression(m);
	mangled_want(m, 'E');
}

static void vector_type(struct mangled *m)
{
	if (mangled_take(m, '_'))
		mangled_expression(m);
	else
		mangled_number(m);
	mangled_want(m, '_');
	mangled_type(m);
}

/* F, its types, E, with what may stand before it: Do, DO, Dw, Dx. */
static void function_type(struct mangled *m)
{
	while (mangled_peek(m) == 'D') {
		char how = mangled_peek_2(m);

		m->at += 2;
		m->quiet++;
		if (how == 'O')
			expression_to_e(m);
		m->quiet--;
		if (how == 'w')
			mangled_types(m);
	}
	mangled_want(m, 'F');
	mangled_take(m, 'Y');
	mangled_types(m);
	mangled_write(m, "(*)()");
}

/* DF16_, DF16b, DB8_ and the like. */
static void sized_type(struct mangled *m)
{
	static const char *const words[] = {"_BitInt", "_Float"};
	bool is_float = mangled_peek(m) == 'F';

	m->at++;
	m->quiet++;
	if (mangled_is_digit(mangled_peek(m)))
		mangled_number(m);
	else
		mangled_expression(m);
	m->quiet--;
	if (!mangled_take(m, '_') && !mangled_take(m, 'x') && !mangled_take(m, 'b'))
		mangled_fail(m);
	mangled_write(m, words[is_float]);
}

/* Behind a D. True: S_ may stand for it. */
static bool d_type(struct mangled *m)
{
	static const struct {
		char letter;
		const char *name;
	} names[] = {{'a', "auto"}, {'c', "decltype(auto)"}, {'d', "decimal64"},
		{'e', "decimal128"}, {'f', "decimal32"}, {'h', "half"}, {'i', "char32_t"},
		{'n', "std::nullptr_t"}, {'s', "char16_t"}, {'u', "char8_t"}};
	char c = mangled_peek(m);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (c != names[i].letter)
			continue;
		m->at++;
		mangled_write(m, names[i].name);
		return false;
	}
	if (c == 'F' || c == 'B' || c == 'U') {
		sized_type(m);
		return false;
	}
	if (mangled_take(m, 't') || mangled_take(m, 'T')) {
		m->quiet++;
		expression_to_e(m);
		m->quiet--;
		mangled_write(m, "decltype");
	} else if (mangled_take(m, 'p')) {
		mangled_type(m);
	} else if (mangled_take(m, 'v')) {
		vector_type(m);
	} else {
		mangled_fail(m);
	}
	return true;
}

static void array_type(struct mangled *m)
{
	m->quiet++;
	if (mangled_is_digit(mangled_peek(m)))
		mangled_number(m);
	else if (mangled_peek(m) != '_')
		mangled_expression(m);
	m->quiet--;
	mangled_want(m, '_');
	mangled_type(m);
	mangled_write(m, "[]");
}

static void member_type(struct mangled *m)
{
	m->quiet++;
	mangled_type(m);
	mangled_type(m);
	m->quiet--;
	mangled_write(m, "pointer to member");
}

/* U, a vendor's word for it, and the type; or u and a type of a vendor's own. */
static void vendor_type(struct mangled *m)
{
	bool is_own = *m->at++ == 'u';

	if (!is_own)
		m->quiet++;
	mangled_source_name(m);
	if (mangled_peek(m) == 'I')
		mangled_template_args(m);
	if (is_own)
		return;
	m->quiet--;
	mangled_type(m);
}

static void qualified_type(struct mangled *m)
{
	bool is_const = false;

	while (mangled_peek(m) == 'r' || mangled_peek(m) == 'V' || mangled_peek(m) == 'K')
		is_const |= *m->at++ == 'K';
	mangled_type(m);
	if (is_const)
		mangled_write(m, " const");
}

static void param_type(struct mangled *m)
{
	const char *from = m->at;
	char next = mangled_peek_2(m);

	if (next == 's' || next == 'u' || next == 'e') { /* struct, union, enum */
		m->at += 2;
		mangled_name(m);
		return;
	}
	mangled_template_param(m);
	if (mangled_peek(m) != 'I')
		return;
	mangled_add_part(m, from, false);
	mangled_template_args(m);
}

/* A type that S_ stands for is no new one, unless template arguments follow. */
static bool s_type(struct mangled *m)
{
	bool is_new = mangled_peek_2(m) == 't';

	if (is_new) {
		mangled_name(m);
		return true;
	}
	mangled_substitution(m);
	if (mangled_peek(m) != 'I')
		return false;
	mangled_template_args(m);
	return true;
}

/* True: S_ may stand for it. */
static bool any_type(struct mangled *m)
{
	char c = mangled_peek(m), next = mangled_peek_2(m);
	const char *name = builtin(c);

	if (name && c != 'u' && c != 'r') {
		m->at++;
		mangled_write(m, name);
		return false;
	}
	if (c == 'P' || c == 'R' || c == 'O' || c == 'C' || c == 'G') {
		m->at++;
		mangled_type(m);
		mangled_write(m, c == 'P' ? "*" : c == 'R' ? "&" : c == 'O' ? "&&" : "");
	} else if (c == 'r' || c == 'V' || c == 'K') {
		qualified_type(m);
	} else if (c == 'F' || (c == 'D' && next && strchr("oOwx", next))) {
		function_type(m);
	} else if (c == 'D') {
		m->at++;
		return d_type(m);
	} else if (mangled_take(m, 'A')) {
		array_type(m);
	} else if (mangled_take(m, 'M')) {
		member_type(m);
	} else if (c == 'u' || (c == 'U' && next != 'l' && next != 't')) {
		vendor_type(m);
	} else if (c == 'T') {
		param_type(m);
	} else if (c == 'S') {
		return s_type(m);
	} else {
		mangled_name(m);
	}
	return true;
}

void mangled_type(struct mangled *m)
{
	const char *from = m->at;

	if (mangled_enter(m) && any_type(m))
		mangled_add_part(m, from, false);
	mangled_leave(m);
}

/* ---- template arguments ------------------------------------------------------------------ */

/* L, a type and a value, E; or L_Z, a function, E. */
static void literal(struct mangled *m)
{
	m->at++;
	mangled_take(m, '_');
	if (mangled_take(m, 'Z')) {
		mangled_encoding(m);
	} else {
		mangled_type(m);
		while (mangled_peek(m) && mangled_peek(m) != 'E')
			m->at++;
	}
	mangled_want(m, 'E');
}

static void template_arg(struct mangled *m)
{
	char c = mangled_peek(m), next = mangled_peek_2(m);

	if (c == 'L') {
		literal(m);
	} else if (c == 'X') {
		m->at++;
		expression_to_e(m);
	} else if (c == 'J' || c == 'I') { /* as many as there are */
		mangled_template_args(m);
	} else if (c == 'T' && next && strchr("yntpk", next)) {
		mangled_fail(m); /* declarations of parameters: nobody writes them yet */
	} else {
		mangled_type(m);
	}
}

void mangled_template_args(struct mangled *m)
{
	m->quiet++;
	m->at++;
	if (mangled_enter(m))
		while (mangled_peek(m) && mangled_peek(m) != 'E') {
			if (mangled_take(m, 'Q'))
				mangled_expression(m);
			else
				template_arg(m);
		}
	mangled_leave(m);
	mangled_want(m, 'E');
	m->quiet--;
}

/* ---- expressions ------------------------------------------------------------------------- */

static void expressions_to_e(struct mangled *m)
{
	while (mangled_peek(m) && mangled_peek(m) != 'E')
		mangled_expression(m);
	mangled_want(m, 'E');
}

/* An identifier, an operator or a destructor, with template arguments. */
static void simple_name(struct mangled *m)
{
	if (mangled_take_2(m, "dn")) {
		if (mangled_is_digit(mangled_peek(m)))
			mangled_component(m, m->n_out);
		else
			mangled_type(m);
	} else {
		mangled_take_2(m, "on");
		mangled_component(m, m->n_out);
	}
	if (mangled_peek(m) == 'I')
		mangled_template_args(m);
}

/* fp_, fp0_, fL1p_, fpT: a parameter of the function. */
static void function_param(struct mangled *m)
{
	m->at++;
	if (mangled_take(m, 'L'))
		mangled_number(m);
	mangled_want(m, 'p');
	if (mangled_take(m, 'T'))
		return;
	while (mangled_take(m, 'r') || mangled_take(m, 'V') || mangled_take(m, 'K'))
		;
	if (mangled_is_digit(mangled_peek(m)))
		mangled_number(m);
	mangled_want(m, '_');
}

/* new: expressions, _, a type, and E or pi or il. */
static void new_expression(struct mangled *m)
{
	while (mangled_peek(m) && mangled_peek(m) != '_')
		mangled_expression(m);
	mangled_want(m, '_');
	mangled_type(m);
	if (mangled_take_2(m, "pi"))
		expressions_to_e(m);
	else if (!mangled_take(m, 'E'))
		mangled_expression(m);
}

/* cv, a type, and one expression or _ and some. */
static void conversion(struct mangled *m)
{
	mangled_type(m);
	if (mangled_take(m, '_'))
		expressions_to_e(m);
	else
		mangled_expression(m);
}

static void fold_expression(struct mangled *m)
{
	bool is_binary = mangled_peek_2(m) == 'L' || mangled_peek_2(m) == 'R';

	m->at += 2;
	m->at += mangled_peek(m) && mangled_peek_2(m) ? 2 : 0; /* the operator */
	mangled_expression(m);
	if (is_binary)
		mangled_expression(m);
}

/* Those of two letters that are no operator with operands. False: it is none of them. */
static bool other_expression(struct mangled *m)
{
	if (mangled_take_2(m, "sr")) {
		mangled_type(m);
		simple_name(m);
	} else if (mangled_take_2(m, "tl")) {
		mangled_type(m);
		expressions_to_e(m);
	} else if (mangled_take_2(m, "il") || mangled_take_2(m, "cl")) {
		expressions_to_e(m);
	} else if (mangled_take_2(m, "sP")) {
		mangled_types(m);
	} else if (mangled_take_2(m, "sp") || mangled_take_2(m, "sZ") || mangled_take_2(m, "gs")) {
		mangled_expression(m);
	} else if (mangled_take_2(m, "cv")) {
		conversion(m);
	} else if (mangled_take_2(m, "nw") || mangled_take_2(m, "na")) {
		new_expression(m);
	} else if (mangled_take_2(m, "dt") || mangled_take_2(m, "pt")) {
		mangled_expression(m);
		if (mangled_peek(m) == 's' || mangled_peek(m) == 'g')
			mangled_expression(m);
		else
			simple_name(m);
	} else {
		return mangled_take_2(m, "tr");
	}
	return true;
}

static void operand_expressions(struct mangled *m)
{
	const struct mangled_operator *o = mangled_operator(m);

	if (!o || !o->operands) {
		mangled_fail(m);
		return;
	}
	m->at += 2;
	if (o->operands == 't' || o->operands == 'c')
		mangled_type(m);
	if (!strcmp(o->code, "pp") || !strcmp(o->code, "mm"))
		mangled_take(m, '_'); /* before its operand */
	for (int i = o->operands == 'c' ? 1 : o->operands == 't' ? 0 : o->operands - '0'; i; i--)
		mangled_expression(m);
}

static void any_expression(struct mangled *m)
{
	char c = mangled_peek(m), next = mangled_peek_2(m);

	if (c == 'L') {
		literal(m);
	} else if (c == 'T') {
		mangled_template_param(m);
		if (mangled_peek(m) == 'I')
			mangled_template_args(m);
	} else if (mangled_is_digit(c) || (c == 'o' && next == 'n') || (c == 'd' && next == 'n')) {
		simple_name(m);
	} else if (c == 'f' && (next == 'p' || (next == 'L' && m->end - m->at > 2 &&
						       mangled_is_digit(m->at[2])))) {
		function_param(m);
	} else if (c == 'f' && next && strchr("lrLR", next)) {
		fold_expression(m);
	} else if (c == 'u') {
		m->at++;
		mangled_source_name(m);
		mangled_types(m);
	} else if (!other_expression(m)) {
		operand_expressions(m);
	}
}

void mangled_expression(struct mangled *m)
{
	m->quiet++;
	if (mangled_enter(m))
		any_expression(m);
	mangled_leave(m);
	m->quiet--;
}
