/* SPDX-License-Identifier: BSD-3-Clause */
/* What the pages share. */
#ifndef VFTR_NODEAGENT_HTML_PAGE_INTERNAL_H
#define VFTR_NODEAGENT_HTML_PAGE_INTERNAL_H

#include <stdbool.h>

#include "nodeagent/html/html.h"
#include "nodeagent/html/page/page.h"
#include "nodeagent/html/svg.h"
#include "nodeagent/html/json-tree.h"

#define PAGE_CLASSES 10

/* The colours of Okabe and Ito, which people who see few colours tell apart, and two beside them.
 */
#define COLOUR_GREEN  "#009e73"
#define COLOUR_BLUE   "#0072b2"
#define COLOUR_SKY    "#56b4e9"
#define COLOUR_ORANGE "#e69f00"
#define COLOUR_YELLOW "#f0e442"
#define COLOUR_RED    "#d55e00"
#define COLOUR_PURPLE "#cc79a7"
#define COLOUR_BLACK  "#000000"
#define COLOUR_WINE   "#882255"
#define COLOUR_GREY   "#999999"

struct pages {
	const struct page_run *runs;
	size_t n_runs;
	const struct json_tree *all; /* of the first run */
	const struct value *root;
	double own_s; /* exclusive time of all call paths */
	/* exclusive and inclusive time of each call path, as "stacks" has them; 0: not known */
	double *excl_s, *incl_s;
	/* page_classes_sum(): sums over ranks, by class */
	double class_s[PAGE_CLASSES];
	size_t ranks_known, ranks_unknown; /* whose waits in MPI are known, or not */
};

/* A member of the first run's JSON, or NULL; as a number, or NAN. */
const struct value *page_member(const struct pages *p, const char *key);
double page_number(const struct pages *p, const char *key);

/* Things with less than this part of all time are shown as one rest. */
#define PAGE_LEAST 0.001
#define PAGE_ROWS  500u /* of a table */

/* titles.c: "own time" of "t_excl_s"; NULL: the key has no other words. */
const char *title_of_key(const char *key);

/* ---- words.c: what a reader sees for keys, numbers and names of the JSON ----------------- */

/* A number as text, with the unit that follows from its key: seconds, bytes, a part. Of what is no
 * number "----". The caller frees. */
char *words_of_number(const char *key, const struct value *v);
/* The title of a key: "own time" of "t_excl_s". The caller frees. */
char *words_of_key(const char *key);
/*
 * What is shown of a member that is a text: "Late sender" of the kind "late_sender"; mostly the
 * text itself.
 */
const char *words_of_kind(const char *key, const char *text);

/* ---- list.c: tables of the JSON's arrays ------------------------------------------------ */

/*
 * A table of the objects in an array, of which PAGE_ROWS are shown. keys: of the columns, then
 * NULL; a column that no object has is left out. NULL: all members but "hash" and those that no
 * cell has room for. At most 40 columns.
 */
void list_table(struct html *h, const struct json_tree *all, const struct value *array,
	const char *caption, const char *const *keys);
/* The same, by falling t_s. */
void list_table_by_time(struct html *h, const struct json_tree *all, const struct value *array,
	const char *caption, const char *const *keys);
/* A table of an object's members, one below the other, but those that no cell has room for. */
void list_members(struct html *h, const struct json_tree *all, const struct value *object,
	const char *caption);
/* A cell of the member of a row that has this key; empty if there is none. */
void list_cell(struct html *h, const struct json_tree *all, const struct value *row,
	const char *key, bool is_head);
/* A summary under which tables can be opened; html_close() ends it. */
void list_details(struct html *h, const char *summary);

/* ---- classes.c: what the time of ranks was spent for ------------------------------------ */

struct page_class {
	const char *key, *title, *colour;
};
extern const struct page_class page_classes[PAGE_CLASSES];
/* The lists of JSON that have times of ranks: of each, and of large jobs sums of the others. */
#define PAGE_RANK_LISTS 2
extern const char *const page_rank_lists[PAGE_RANK_LISTS];
/* Sets class_s and the numbers of ranks; to be called once, before the other functions. */
void page_classes_sum(struct pages *p);
/* The title of a class; that of MPI says whether waits are in it. A static text. */
const char *page_class_title(const struct pages *p, size_t class);
/* Seconds of a class in a row of per_rank, 0 or more; known waits in MPI are not in its MPI. */
double page_class_s(const struct json_tree *all, const struct value *rank, size_t class);
/* Draws the classes that ranks have spent time for, from y = 0, page_legend_height() high. */
void page_legend(struct html *h, const struct pages *p);
double page_legend_height(const struct pages *p);
/* classes.c: draws entry `nth' of a legend; the height of the lines that n entries have. */
void page_legend_entry(struct html *h, size_t nth, const char *colour, const char *title);
double page_legend_lines(size_t n);

/* ---- matrix.c: numbers of pairs of ranks as a picture ------------------------------------ */

#define PAGE_QUANTITY 32 /* bytes of a number as people read it */

struct page_matrix {
	const char *id, *title, *description; /* of the picture */
	/* keys of an element's members: the ranks of its row and column, and the number. Where an
	 * element has "ranks", each of its ranks stands for so many, itself and those after it */
	const char *down, *across, *value;
	const char *words[2];	      /* the title of a square: "from 1 to 2: 17 bytes" */
	const char *legend[2];	      /* what a row is, and a column */
	const char *unknown;	      /* text before the sum of elements without one of the ranks */
	bool is_logarithmic;	      /* colours are of logarithms, from 1 on; else from 0 */
	char *(*tell)(double number); /* an exact text; is freed */
	const char *(*show)(double number, char *text); /* a rounded text of PAGE_QUANTITY bytes */
};
/* Draws the elements of the array `pairs'; below it stands the sum of what it can't show. */
void page_matrix_print(struct html *h, const struct pages *p, const struct value *pairs,
	const struct page_matrix *of);

/* ---- bars.c: what elements of an array are made of --------------------------------------- */

#define PAGE_BAR_PARTS 5

struct page_bar_part {
	const char *title, *colour;
	const char *key;     /* of a number of the element; "runtime_s" may be that of the run */
	const char *less[2]; /* of those that are taken away from it, or NULL */
};

struct page_bars {
	const char *array;   /* the key of an array of objects */
	const char *id;	     /* of the picture */
	const char *title;   /* of the picture and the table, too */
	const char *of_what; /* the head of the column of names */
	const char *description;
	struct {
		const char *before, *key; /* "rank ", "rank": the name has "rank 7" */
	} names[3];
	const char *within; /* a member that has the numbers, of elements that have it; or NULL */
	const char *only;   /* elements without this number have no bar; or NULL */
	bool are_bytes;	    /* else seconds */
	size_t n_parts;
	struct page_bar_part parts[PAGE_BAR_PARTS];
	const char *sums;  /* of elements that the array has not, or NULL; how many of them ... */
	const char *count; /* ... each is of has this key; NULL: "ranks" */
};
/* The picture and its table, the longest bar first; nothing, if all numbers are 0. */
void page_bars_print(struct html *h, const struct pages *p, const struct page_bars *what);

/* ---- the pages -------------------------------------------------------------------------- */

/* True if the first run has something for the page; the page's contents. */
#define PAGE(name)                                                                                 \
	bool page_##name##_has(const struct pages *p);                                             \
	void page_##name##_print(struct html *h, const struct pages *p);
PAGE(head)
PAGE(efficiency)
PAGE(time)
PAGE(balance)
PAGE(waits)
PAGE(iterations)
PAGE(slices)
PAGE(communication)
PAGE(openmp)
PAGE(locks)
PAGE(gpu)
PAGE(io)
PAGE(memory)
PAGE(counters)
PAGE(nodes)
PAGE(timeline)
#undef PAGE

/* slices.c: a part of page io: what ranks read and wrote over time. */
void page_slices_print_bytes(struct html *h, const struct pages *p);

/* timeline.c: the time line's JSON, for the script; nothing if there is none. */
void page_timeline_data(struct html *h, const struct pages *p);

/* flame.c: a part of page time. */
void page_flame(struct html *h, const struct pages *p);

/* ---- difference.c: call paths of the second run beside those of the first ---------------- */

struct page_other;
/* NULL: there is no second run. Ends with page_other_free(), which takes NULL, too. */
struct page_other *page_other_of(const struct pages *p);
void page_other_free(struct page_other *o);
/* The end of the text that is shown for a row of the first run's stacks; the caller frees. */
char *page_difference_title(const struct page_other *o, const struct value *row);
/* The CSS classes of its box: "f" and, from far less to far more time than there, "d0" to "d6". */
const char *page_difference_class(const struct page_other *o, const struct value *row);
void page_difference_table(struct html *h, const struct page_other *o);

#endif
