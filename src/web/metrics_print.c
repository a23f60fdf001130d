/* SPDX-License-Identifier: Apache-2.0
 *
 * The text format of Prometheus, version 0.0.4.
 */
#include <stdio.h>
#include <string.h>

#include "reconciled/base/strbuf.h"
#include "reconciled/web/metrics.h"
#include "series.h"

/* Up to two labels; name NULL: none. */
struct label {
	const char *name, *value;
};

struct sample {
	const char *suffix; /* of the name of a histogram's series */
	struct label labels[2];
};

static const char *const kind_labels[SERIES_KINDS] = {
	[OF_PROCESS] = NULL,
	[OF_TYPE] = "type",
	[OF_TARGET] = "target",
};

static void
put_value(struct strbuf *out, const char *value)
{
	for (; *value != '\0'; value++) {
		if (*value == '\n') {
			strbuf_puts(out, "\\n");
			continue;
		}
		if (*value == '"' || *value == '\\')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *value);
	}
}

/* Everything before the number. */
static void
put_name(struct strbuf *out, const struct family *family, const struct sample *sample)
{
	const char *before = "{";

	strbuf_puts(out, family->name);
	strbuf_puts(out, sample->suffix ? sample->suffix : "");
	for (size_t i = 0; i < 2; i++) {
		if (sample->labels[i].name == NULL)
			continue;
		strbuf_puts(out, before);
		strbuf_puts(out, sample->labels[i].name);
		strbuf_puts(out, "=\"");
		put_value(out, sample->labels[i].value);
		strbuf_putc(out, '"');
		before = ",";
	}
	strbuf_puts(out, *before == ',' ? "} " : " ");
}

static void
put_microseconds(struct strbuf *out, int64_t us)
{
	strbuf_printf(out, "%lld.%06lld\n", (long long)(us / 1000000), (long long)(us % 1000000));
}

static void
put_number(struct strbuf *out, const struct family *family, uint64_t number)
{
	if (family->unit == UNIT_MICROSECOND) {
		put_microseconds(out, (int64_t)number);
		return;
	}
	strbuf_put_int(out, (long long)number);
	strbuf_putc(out, '\n');
}

static struct sample
sample_of(const struct family *family, const struct series *row)
{
	return (struct sample){ .labels = { { kind_labels[family->of], row->name } } };
}

static void
print_numbers(const struct family *family, const struct series *row, struct strbuf *out)
{
	struct sample sample = sample_of(family, row);
	uint64_t number;

	if (family->word == NULL) {
		put_name(out, family, &sample);
		put_number(out, family, row->numbers[family->slot]);
		return;
	}
	for (int word = family->words_first; word < family->words_count; word++) {
		number = row->numbers[family->slot + (size_t)word];
		if (number == 0 && family->always != NULL && !family->always(word))
			continue;
		sample.labels[1] = (struct label){ family->label, family->word(word) };
		put_name(out, family, &sample);
		put_number(out, family, number);
	}
}

static void
print_times(const struct family *family, const struct series *row, struct strbuf *out)
{
	struct sample sample = sample_of(family, row);
	uint64_t total = 0;
	char bound[24];

	sample.suffix = "_bucket";
	for (size_t i = 0; i <= HISTOGRAM_BUCKETS; i++) {
		if (i < HISTOGRAM_BUCKETS)
			snprintf(bound, sizeof(bound), "%.10g", family->bounds[i]);
		else
			snprintf(bound, sizeof(bound), "+Inf");
		total += row->times.buckets[i];
		sample.labels[1] = (struct label){ "le", bound };
		put_name(out, family, &sample);
		put_number(out, family, total);
	}
	sample.labels[1] = (struct label){ 0 };
	sample.suffix = "_sum";
	put_name(out, family, &sample);
	put_microseconds(out, row->times.sum_us);
	sample.suffix = "_count";
	put_name(out, family, &sample);
	put_number(out, family, total);
}

static void
print_target(const struct family *family, const struct series *row, struct strbuf *out)
{
	struct sample sample = sample_of(family, row);

	if (row->target == NULL)
		return;
	sample.labels[1] = (struct label){ family->label, row->target };
	put_name(out, family, &sample);
	put_number(out, family, 1);
}

static void
print_gauges(const struct metrics *metrics, const struct family *family, struct strbuf *out)
{
	for (size_t i = 0; i < metrics->gauges_count; i++) {
		const struct gauge *gauge = &metrics->gauges[i];
		struct sample sample = { .labels = { { gauge->type ? "type" : NULL, gauge->type },
						     { family->label, gauge->value } } };

		if (gauge->family != family)
			continue;
		put_name(out, family, &sample);
		strbuf_printf(out, "%.15g\n", gauge->number);
	}
}

static void
print_family(const struct metrics *metrics, const struct family *family, struct strbuf *out)
{
	static void (*const print[])(const struct family *, const struct series *,
				     struct strbuf *) = {
		[FROM_NUMBERS] = print_numbers,
		[FROM_TIMES] = print_times,
		[FROM_CONFIGURATION] = print_target,
	};
	const struct series_list *list = &metrics->series[family->of];

	strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name,
		      family->kind);
	if (family->source == FROM_DATABASE) {
		print_gauges(metrics, family, out);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		print[family->source](family, &list->rows[i], out);
}

void
metrics_print(const struct metrics *metrics, struct strbuf *out)
{
	const struct family *all;
	size_t count;

	all = families(&count);
	for (size_t i = 0; i < count; i++)
		print_family(metrics, &all[i], out);
}
