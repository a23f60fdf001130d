/* SPDX-License-Identifier: Apache-2.0
 *
 * Amounts. What is expected counts in the major unit (10.99); what is found in the unit that the
 * policy names.
 */
#include "reconciled/core/money.h"

#include <string.h>

#include "compare_pair.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/number.h"
#include "reconciled/core/value.h"

enum { CODE = 3, HUNDREDTHS = 2 };

/*
 * ISO 4217, list one (current currencies and funds), column "minor unit", and what left it since
 * 2020, for amounts of that time. Codes without a minor unit (metals, tests, accounting units) are
 * left out. Each code is followed by a blank.
 */
static const struct {
	int decimals;
	const char *codes;
} currencies[] = {
	{ 0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF " },
	{ 2, "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD "
	     "BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD "
	     "EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS "
	     "INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT "
	     "MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR "
	     "PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP "
	     "SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER "
	     "ZAR ZMW ZWG ZWL " },
	{ 3, "BHD IQD JOD KWD LYD OMR TND " },
	{ 4, "CLF UYW " },
};

static bool
code_of(const char *text, size_t len, char ret[static CODE + 2])
{
	if (len != CODE)
		return false;
	for (size_t i = 0; i < CODE; i++) {
		char letter = text[i];

		if (letter >= 'a' && letter <= 'z')
			letter = (char)(letter - ('a' - 'A'));
		if (letter < 'A' || letter > 'Z')
			return false;
		ret[i] = letter;
	}
	ret[CODE] = ' ';
	ret[CODE + 1] = '\0';
	return true;
}

bool
currency_decimals(const char *code, size_t len, int *ret_decimals)
{
	char wanted[CODE + 2];

	if (!code_of(code, len, wanted))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(currencies); i++)
		if (strstr(currencies[i].codes, wanted) != NULL) {
			*ret_decimals = currencies[i].decimals;
			return true;
		}
	return false;
}

static bool
read_scale(const struct pair *pair, int *ret)
{
	const struct value *currency;

	switch (pair->by->unit) {
	case MONEY_MAJOR:
		*ret = 0;
		return true;
	case MONEY_HUNDREDTHS:
		*ret = HUNDREDTHS;
		return true;
	case MONEY_SCALE:
		*ret = pair->by->scale;
		return true;
	case MONEY_MINOR:
		break;
	}
	if (pair->by->currency == NULL)
		return false;
	currency = find_scalar(pair->scene, pair->by->currency);
	return currency != NULL && currency_decimals(currency->text, currency->len, ret);
}

/* Where the direction stands beside the amount, the amount itself has none. */
static bool
read_sign(const struct pair *pair, struct number *amount)
{
	const struct money_sign *sign = &pair->by->sign;
	const struct value *word;
	struct slice text;

	if (sign->by == NULL)
		return true;
	word = find_scalar(pair->scene, sign->by);
	if (word == NULL || number_compare(amount->text, "0") < 0)
		return false;
	text = (struct slice){ word->text, word->len };
	amount->negated = slice_equals(text, (struct slice){ sign->minus, strlen(sign->minus) });
	return amount->negated ||
	       slice_equals(text, (struct slice){ sign->plus, strlen(sign->plus) });
}

enum compare_result
compare_money(const struct pair *pair)
{
	struct number found = { .text = pair->found.text },
		      expected = { .text = pair->expected.text };

	if (!number_is_valid(pair->found.text, pair->found.len) ||
	    !number_is_valid(pair->expected.text, pair->expected.len) ||
	    !read_scale(pair, &found.scale) || !read_sign(pair, &found))
		return COMPARED_UNREADABLE;
	return equal_if(
		number_within(&found, &expected, pair->by->tolerance) ||
		(is_lower_bound(pair->by->relation) && number_order(&found, &expected) > 0));
}
