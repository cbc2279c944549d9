/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of each definition in a sampling file (enum vfd_definition), in one table from
 * which they are written (write/define.c) and read (read/tables.c). A record begins with the
 * number of the definition; its fields follow. Texts of strings, and the runs of ranks behind
 * the fields of communicators and neighbours, are not in the table.
 */
#ifndef VFTR_NODEAGENT_TRACE_DEFINITIONS_H
#define VFTR_NODEAGENT_TRACE_DEFINITIONS_H

#include "nodeagent/trace/format.h"
#include "nodeagent/trace/types.h"

enum vfd_field_how {
	FIELD_END,
	/* not in the file: */
	FIELD_NUMBER, /* uint32_t: the record's number */
	FIELD_TRUE,   /* bool: the record exists */
	/* in the file, one varint each: */
	FIELD_U64,
	FIELD_U32,	/* or int32_t; larger ones are cut */
	FIELD_STRICT,	/* uint32_t; larger ones make no sense */
	FIELD_PLUS_ONE, /* uint32_t or int32_t; VFD_NONE is 0 */
	FIELD_TIME,	/* int64_t; writer: ticks; file, reader: units */
	FIELD_BIT,	/* bool */
	FIELD_KIND,	/* enum with `kinds` values; any other becomes `otherwise` */
	FIELD_TEXT,	/* number of a string, 0: none */
	FIELD_NEW_TEXT, /* the same; none leaves the earlier text */
	FIELD_BUILD_ID, /* of struct vfd_function, as a text */
};

#define VFD_REFUSED 255u /* as otherwise: the record makes no sense */

struct vfd_field {
	uint16_t offset; /* in struct vfd_process and so on */
	uint8_t how, kinds, otherwise;
};

struct vfd_definition_row {
	unsigned required; /* fields that every file has; of others, missing ones are 0 */
	struct vfd_field fields[10];
};

extern const struct vfd_definition_row vfd_definitions[VFD_DEFINITIONS];

#endif
