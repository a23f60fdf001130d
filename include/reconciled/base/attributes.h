/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiler attributes under readable names.
 */
#pragma once

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define NORETURN __attribute__((noreturn))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Hands an owned pointer on and forgets it here, so that CLEANUP does not free it. */
#define TAKE(p)                                                                                    \
	({                                                                                         \
		__typeof__(p) take_ = (p);                                                         \
		(p) = NULL;                                                                        \
		take_;                                                                             \
	})
