/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in a sampling file, and what identifies a message. */
#include <stdlib.h>
#include <string.h>

#include "mpi_id.h"
#include "nodeagent/symbols/names.h"
#include "nodeagent/symbols/symtab.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"
#include "shm/construct.h"

static struct symtab *symbols_of(struct vfd_file *f, const struct vfd_function *fn)
{
	struct reader_symbols *s;
	char *why = NULL;

	/* texts are unique: the pointer tells */
	for (size_t i = 0; i < f->n_symbols; i++)
		if (f->symbols[i].module == fn->module)
			return f->symbols[i].table;
	s = LIST_ADD(f, symbols);
	s->module = fn->module;
	s->table = symtab_open(fn->module, fn->build_id, fn->build_id_bytes, &why);
	free(why);
	return s->table;
}

static const char *construct_name(uint32_t kind)
{
#define CONSTRUCT_NAME(id, name, waits) name,
	static const char *const names[] = {CONSTRUCTS(CONSTRUCT_NAME)};

	return kind < ARRAY_SIZE(names) ? names[kind] : "omp";
}

static char *make_name(struct vfd_file *f, const struct vfd_function *fn)
{
	const char *name;

	if (fn->kind == VFD_FUNCTION_MPI)
		return xstrdup(fn->index < vftr_mpi_n ? vftr_mpi_names[fn->index] : "MPI");
	if (fn->kind == VFD_FUNCTION_OPENMP)
		return xstrdup(construct_name(fn->index));
	/* without a build id nobody knows whether the file is still the same */
	if (fn->kind == VFD_FUNCTION_CODE && fn->module && fn->build_id_bytes) {
		name = symtab_find(symbols_of(f, fn), fn->address, NULL);
		if (name)
			return xstrdup(name);
	}
	if (fn->module)
		return xasprintf(
			"%s+0x%llx", basename(fn->module), (unsigned long long)fn->address);
	return fn->address ? xasprintf("0x%llx", (unsigned long long)fn->address)
			   : xstrdup("(unnamed)");
}

const char *vfd_function_name(struct vfd_file *f, uint32_t function)
{
	const struct vfd_function *fn = function < f->n_functions ? &f->functions[function] : NULL;

	if (!fn || fn->number == VFD_NONE)
		return "(lost)";
	if (f->names[function])
		return f->names[function];
	if (fn->name)
		return fn->name;
	f->names[function] = make_name(f, fn);
	return f->names[function];
}

/* With what has no number in the files, and is shown all the same. */
static struct names *names_of(struct vfd_file *const *files, size_t n, size_t *all)
{
	static const struct name_style style;
	const char **raw;
	struct names *names;
	size_t k = 2;

	for (size_t i = 0; i < n; i++)
		k += files[i]->n_functions;
	raw = xcalloc(k, sizeof(*raw));
	raw[0] = "init";
	raw[1] = "(lost)";
	k = 2;
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = 0; at < files[i]->n_functions; at++)
			raw[k++] = vfd_function_name(files[i], at);
	names = names_new(raw, k, &style);
	free(raw);
	*all = k - 2;
	return names;
}

void vfd_shorten_names(struct vfd_file *const *files, size_t n)
{
	size_t all, k = 0;
	struct names *names = names_of(files, n, &all);
	char **shown = xcalloc(all, sizeof(*shown));

	/* names[] has the texts by which they are found */
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = 0; at < files[i]->n_functions; at++)
			shown[k++] = xstrdup(
				names_lookup(names, vfd_function_name(files[i], at))->shown);
	names_free(names);
	k = 0;
	for (size_t i = 0; i < n; i++) {
		for (uint32_t at = 0; at < files[i]->n_functions; at++) {
			free(files[i]->names[at]);
			files[i]->names[at] = shown[k++];
		}
	}
	free(shown);
}

static const struct vfd_stack *stack_at(const struct vfd_file *f, uint32_t track, uint32_t stack)
{
	if (track >= f->n_threads || stack > f->tracks[track].n_stacks)
		return NULL;
	return &f->tracks[track].stacks[stack];
}

const char *vfd_stack_name(struct vfd_file *f, uint32_t track, uint32_t stack)
{
	const struct vfd_stack *s = stack_at(f, track, stack);

	if (!stack)
		return "init";
	return s ? vfd_function_name(f, s->function) : "(lost)";
}

bool vfd_stack_precise(const struct vfd_file *f, uint32_t track, uint32_t stack)
{
	const struct vfd_stack *s = stack_at(f, track, stack);

	return s && s->function < f->n_functions && f->functions[s->function].precise;
}

char *vfd_stack_path(struct vfd_file *f, uint32_t track, uint32_t stack, bool stars)
{
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return xstrdup("init");
	for (const struct vfd_stack *s = stack_at(f, track, stack); s && stack;
		stack = s->caller, s = stack_at(f, track, stack)) {
		fputs(vfd_stack_name(f, track, stack), out);
		if (stars && vfd_stack_precise(f, track, stack))
			putc('*', out);
		putc('<', out);
	}
	fputs("init", out);
	fclose(out);
	return text ? text : xstrdup("init");
}

static const struct vfd_mpitype types[] = {
#define TYPE(name, bytes, classic) {name, bytes, classic},
#include "mpi_type_name.h"
#undef TYPE
};

static const struct vfd_mpitype derived = {"MPI_DERIVED_TYPE", 1, -1};

const struct vfd_mpitype *vfd_mpitype(uint32_t type)
{
	return type && type <= ARRAY_SIZE(types) ? &types[type - 1] : &derived;
}

const char *vfd_mpitype_classic(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(types) && number >= 0; i++)
		if (types[i].classic == number)
			return types[i].name;
	return number < 0 ? derived.name : "MPI_UNKNOWN";
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15u;
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

/* Members of a communicator that has a link may be of two jobs. */
struct flow_end {
	uint64_t job; /* 0 without a link */
	uint32_t rank;
};

static uint64_t job_of(const struct vfd_file *f, const struct vfd_message *m)
{
	const uint32_t process = m->track < f->n_threads ? f->threads[m->track].process : VFD_NONE;

	return process < f->n_processes ? f->processes[process].job : 0;
}

/* False: it is not known. */
static bool other_end(const struct vfd_file *f, const struct vfd_message *m,
	const struct vfd_comm *c, uint64_t own_job, struct flow_end *end)
{
	*end = (struct flow_end){own_job, m->peer};
	return m->peer != VFD_NONE ||
	       (m->sends && vfd_comm_other(f, c, m->sends - 1, &end->job, &end->rank));
}

static uint64_t mix_end(uint64_t flow, const struct flow_end *end)
{
	flow = mix(flow, end->rank);
	return end->job ? mix(flow, end->job) : flow;
}

uint64_t vfd_message_flow(const struct vfd_file *f, const struct vfd_message *m)
{
	const struct vfd_comm *c = vfd_comm(f, m->comm);
	const int self = m->self ? (int)(m->self - 1) : vfd_rank(f, m->track);
	const bool is_receive = m->kind == VFD_RECEIVE;
	struct flow_end own = {0, (uint32_t)self}, other;
	uint64_t flow;

	if (!c || self < 0 || (m->kind != VFD_SEND && !is_receive) ||
		(is_receive && m->match == VFD_MATCH_NONE))
		return 0;
	own.job = c->link ? job_of(f, m) : 0;
	if (!other_end(f, m, c, own.job, &other))
		return 0;
	flow = mix_end(mix(1, c->link ?: c->id), is_receive ? &other : &own);
	flow = mix_end(flow, is_receive ? &own : &other);
	flow = mix(mix(flow, is_receive ? m->sender_ticket : m->ticket),
		m->flags & VFD_MESSAGE_PARTITIONED);
	return flow ? flow : 1;
}

uint64_t vfd_launch_flow(const struct vfd_file *f, const struct vfd_launch *l)
{
	uint64_t flow = mix(2, (uint64_t)f->facts.start_unix_ns);

	for (const char *c = f->host; c && *c; c++)
		flow = mix(flow, (unsigned char)*c);
	flow = mix(flow, l->id);
	return flow ? flow : 1;
}
