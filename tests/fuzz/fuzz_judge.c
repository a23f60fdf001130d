/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers under policies of every shape: judging them ends, what is taken for evidence passes the
 * rules, and what is written down of it can be read again. The first byte chooses a policy. Pages
 * are separated by 0x1E; each is a status (a byte), a line with the header Link, and a body.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "policy_builder.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/evidence.h"

enum { PAGES_MAX = 4, SEPARATOR = 0x1E };

#define REST                                                                                       \
	"'judge':[{'when':{'/state':['busy','new']},'class':'waiting'},"                           \
	"{'when':{'/state':{'not':'done'},'/n':{'gt':'3'}},'class':'ambiguous','why':'odd'}],"     \
	"'absence':{'confirm':'2','over':'5m'},'outcome':{'older':'missing'},"                     \
	"'evidence':{'keep':['/id','/version','/lines/*/sku'],'hash':['/name']}}"
#define COMPARE                                                                                    \
	"'compare':{'version':{'found':'/version','type':'version','is':'op.version'},"            \
	"'name':{'found':'/name','fold':'case','is':'op./expected/name'},"                         \
	"'amount':{'found':'/amount','type':'number','tolerance':'0.5','is':'op./expected/"        \
	"amount'}}"
#define LIST                                                                                       \
	"'get':'/l','found':{'status':'200','/data':{'present':'true'}},"                          \
	"'absent':{'status':'404','/error':'none'},'gone':{'status':'410'},'items':'/data',"       \
	"'where':{'/ref':{'is':'op.operation_id'}},'skip':[{'/state':'void'}],'remote_id':'/id'"

static const char *const policies[] = {
	"{'probes':[{'get':'/o','found':{'status':'200','/id':{'present':'true'}},"
	"'absent':{'status':'404','/error':'none'},'unfinished':{'status':'202'},"
	"'several':{'status':'300'}}]," COMPARE "," REST,
	"{'probes':[{" LIST ",'complete':{'/more':'false'}}]," COMPARE "," REST,
	"{'probes':[{" LIST ",'full':'3','each':'/parts/*'}]," COMPARE "," REST,
	"{'probes':[{" LIST ",'pages':{'next':'/next','into':'page'}}]," COMPARE "," REST,
	"{'probes':[{" LIST ",'pages':{'link':'next'}}]," COMPARE "," REST,
	"{'probes':[{" LIST ",'pages':{'number':'page','total':'/total'}}]," COMPARE "," REST,
	"{'probes':[{" LIST ",'pages':{'offset':'start','size':'2'}}]," COMPARE "," REST,
	"{'probes':[{" LIST ",'covers':{'until':'body./until'}}]," COMPARE "," REST,
	"{'probes':[{" LIST ",'stale':'true'}],'on_several':'divergent'," COMPARE "," REST,
	"{'probes':[{'head':'/h','found':{'status':'200'},'absent':{'status':'404'}}],"
	"'compare':{'etag':{'found':'header.link','is':'op.version'}}," REST,
};

static const int statuses[] = { 200, 404, 410, 202, 300, 206, 301, 403, 408, 425, 429, 500, 503 };

static const struct response *
read_page(struct arena *arena, const struct probe *probe, const char *bytes, size_t len)
{
	struct response *response = arena_new(arena, struct response);
	struct header *link = arena_new(arena, struct header);
	const char *line = len > 1 ? memchr(bytes + 1, '\n', len - 1) : NULL;
	size_t head = line ? (size_t)(line - bytes) : len;

	*link = (struct header){ "link", arena_strndup(arena, bytes + 1, head > 0 ? head - 1 : 0) };
	*response = (struct response){
		.fault = REASON_COUNT,
		.status = statuses[(unsigned char)bytes[0] % ARRAY_LEN(statuses)],
		.headers = link,
		.headers_count = 1,
		.body = line ? line + 1 : "",
		.body_len = line ? len - head - 1 : 0,
	};
	response_read(arena, probe, response);
	return response;
}

/* Reads pages as long as the judgement wants another one and there is one. */
static const struct reading *
read_pages(struct arena *arena, const struct answer *start, const char *bytes, size_t len)
{
	struct exchange *pages = arena_array(arena, struct exchange, PAGES_MAX);
	struct answer answer = *start;
	struct question question = { .probe = answer.probe, .ops = &answer.op, .ops_count = 1 };
	const struct reading *reading = NULL;
	const char *end = bytes + len;

	answer.pages = pages;
	while (answer.count < PAGES_MAX && bytes < end) {
		const char *next = memchr(bytes, SEPARATOR, (size_t)(end - bytes));
		size_t page = next ? (size_t)(next - bytes) : (size_t)(end - bytes);

		if (page == 0)
			break;
		pages[answer.count].request = request_render(arena, &question);
		pages[answer.count++].response = read_page(arena, answer.probe, bytes, page);
		reading = reading_judge(arena, &answer);
		if (reading->next == NULL)
			break;
		question.page = *reading->next;
		bytes = next ? next + 1 : end;
	}
	return reading != NULL && reading->next == NULL ? reading : NULL;
}

static void
check_reading(struct arena *arena, const struct reading *reading, const struct operation *op)
{
	bool evidence = reading->kind != READING_UNAVAILABLE && reading->kind != READING_INCOMPLETE;

	assert(evidence == (reading->reason == REASON_COUNT));
	assert(reading->kind == READING_FOUND ||
	       reading->items_count + reading->skipped_count == 0);
	assert(reading->kind != READING_FOUND || reading->items_count + reading->skipped_count > 0);
	for (size_t i = 0; evidence && i < reading->pages_count; i++) {
		int status = reading->pages[i].response->status;

		assert(status < 500 && status != 408 && status != 425 && status != 429);
	}
	for (size_t i = 0; i < reading->items_count; i++) {
		struct scene scene = { arena, op, reading->items[i].response,
				       reading->items[i].value };

		assert(!reading->probe->has_where ||
		       condition_holds(&scene, &reading->probe->where));
		assert(!conditions_hold(&scene, &reading->probe->skip));
	}
}

static void
check_verdict(const struct verdict *verdict, const struct reading *reading)
{
	bool evidence = reading->kind != READING_UNAVAILABLE && reading->kind != READING_INCOMPLETE;

	assert(evidence || verdict->class == CLASS_INCONCLUSIVE);
	assert(verdict->class != CLASS_CORRECT || verdict->compared_count > 0);
	for (size_t i = 0; verdict->class == CLASS_CORRECT && i < verdict->compared_count; i++)
		assert(verdict->compared[i].result == COMPARED_EQUAL);
	assert(verdict->class != CLASS_MISSING || verdict->earned.looks >= 2);
	assert(verdict->reason != NULL && verdict->rule != NULL);
}

/* The database takes none, not even an escaped one. */
static void
check_no_nul(const struct value *value)
{
	assert(value->text == NULL || memchr(value->text, '\0', value->len) == NULL);
	for (const struct value *child = value->first; child != NULL; child = child->next) {
		assert(child->name == NULL || memchr(child->name, '\0', child->name_len) == NULL);
		check_no_nul(child);
	}
}

static void
check_evidence(struct arena *arena, const struct evidence_of *of)
{
	static const char key[] = "0123456789abcdef0123456789abcdef";
	struct hmac *hmac = hmac_create(key, sizeof(key) - 1);
	struct strbuf out = { 0 };
	char digest[65];
	const struct value *written = NULL;

	evidence_write(&out, arena, hmac, of, digest);
	assert(out.len <= EVIDENCE_BYTES_MAX && memchr(out.data, '\0', out.len) == NULL);
	assert(value_read_json(arena, out.data, out.len, &written) == VALUE_OK);
	check_no_nul(written);
	strbuf_finish(&out);
	hmac_destroy(hmac);
}

/* The same answer twice, far enough apart to earn an absence. */
static void
judge(struct arena *arena, const struct policy *policy, struct operation *op,
      const struct reading *reading)
{
	struct look look = { .readings = { reading }, .count = 1, .control = CONTROL_FOUND };
	struct verdict verdict;
	struct decision decision;

	for (int i = 0; i < 2; i++) {
		struct decide_context context = { .arena = arena, .control = CONTROL_FOUND };

		look.at_us = SENT_US + (10 + i * 10) * MINUTE;
		context.now_us = look.at_us;
		classify(arena, policy, op, &look, &verdict);
		assert(i == 1 || verdict.class != CLASS_MISSING);
		check_verdict(&verdict, reading);
		decide(policy, op, &verdict, &context, &decision);
		assert(verdict.class == CLASS_CORRECT || decision.action != ACTION_CONFIRM);
		check_evidence(arena,
			       &(struct evidence_of){ policy, op, &look, &verdict, &decision });
		op->earned = verdict.earned;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_create();
	const struct target_rules *rules =
		build_target(arena, "{'throttled':[{'/errors/*/code':'SLOW'}],'broken':[{'/"
				    "fault':{'present':'true'}}]}");
	struct operation op = build_operation(
		arena, "{'version':'7','expected':{'name':'Ann','amount':'10.50'}}");
	const struct policy *policy =
		build_policy(arena, policies[size > 0 ? data[0] % ARRAY_LEN(policies) : 0]);
	struct answer answer = { .rules = rules, .probe = &policy->probes[0], .op = &op };
	const struct reading *reading = NULL;

	if (size > 1)
		reading = read_pages(arena, &answer, (const char *)data + 1, size - 1);
	if (reading != NULL) {
		check_reading(arena, reading, &op);
		judge(arena, policy, &op, reading);
	}
	arena_destroy(arena);
	return 0;
}
