/* SPDX-License-Identifier: Apache-2.0
 *
 * What an answer says about the target itself, whatever it says about the operation.
 */
#pragma once

#include "reconciled/core/reading.h"

enum answer_grade {
	ANSWER_USABLE,	  /* it works: also a 404, also something that cannot be read */
	ANSWER_REFUSED,	  /* not now */
	ANSWER_FAILED,	  /* it answered, and nobody would get a better answer */
	ANSWER_UNREACHED, /* nothing came back: the fault may be on our side */
};

enum answer_grade grade_answer(const struct reading *reading);

/* A second try within the same reading may well do better. */
bool grade_is_worth_a_retry(const struct reading *reading);
