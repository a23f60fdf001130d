/* SPDX-License-Identifier: Apache-2.0
 *
 * Structured log: a constant message and typed fields. Only the edge logs; base, core and config
 * return errors. Sinks: logfmt or JSON on stderr, or the journal (native fields) when stderr is
 * connected to it ($JOURNAL_STREAM).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

enum log_level { LOG_LEVEL_ERR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_LOGFMT, LOG_FORMAT_JSON, LOG_FORMAT_JOURNAL };

enum log_field_type { LOG_FIELD_END, LOG_FIELD_STR, LOG_FIELD_INT };

struct log_field {
	enum log_field_type type;
	const char *name; /* lower case; the journal gets it in upper case */
	const char *text; /* NULL: the field is left out */
	int64_t number;
};

#define F_STR(n, v) ((struct log_field){ .type = LOG_FIELD_STR, .name = (n), .text = (v) })
#define F_INT(n, v) ((struct log_field){ .type = LOG_FIELD_INT, .name = (n), .number = (v) })

/* Process-wide, set once at start (and level again at reload). AUTO: journal if there, else logfmt.
 */
void log_setup(enum log_level level, enum log_format format);
const char *log_level_name(enum log_level level);

/* Fields end with LOG_FIELD_END. Control characters in values are escaped. */
void log_write(enum log_level level, const char *message, const struct log_field *fields);

#define log_at(level, message, ...)                                                                \
	log_write((level), (message), (struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ){ 0 } })
#define log_error(message, ...) log_at(LOG_LEVEL_ERR, message __VA_OPT__(, ) __VA_ARGS__)
#define log_warning(message, ...) log_at(LOG_LEVEL_WARNING, message __VA_OPT__(, ) __VA_ARGS__)
#define log_info(message, ...) log_at(LOG_LEVEL_INFO, message __VA_OPT__(, ) __VA_ARGS__)
#define log_debug(message, ...) log_at(LOG_LEVEL_DEBUG, message __VA_OPT__(, ) __VA_ARGS__)
