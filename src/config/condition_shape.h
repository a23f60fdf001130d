/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a test, and what may stand where condition.c decodes.
 */
#pragma once

#include "field.h"

enum test_word {
	WORD_IS,
	WORD_NOT,
	WORD_PREFIX,
	WORD_PRESENT,
	WORD_GT,
	WORD_GE,
	WORD_LT,
	WORD_LE,
	WORD_FOLD,
	WORDS_OF_TESTS,
};

extern const struct table test_table; /* by enum test_word */
extern const struct words fold_words, present_words;

/* A condition as such may be empty; some_condition and conditions may not. */
extern const struct shape shape_locator, shape_pointer, shape_operand, shape_template, shape_fold,
	shape_condition, shape_some_condition, shape_op_condition, shape_conditions;
extern const struct shape shape_answer_locator;
