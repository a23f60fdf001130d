/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcilectl explain ID: asks the target now, and shows how the answer is judged. Changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include "evidence_view.h"
#include "explain.h"
#include "explain_ask.h"
#include "facts.h"
#include "policy.h"
#include "reconciled/base/err.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/config/config.h"
#include "reconciled/config/problems.h"
#include "reconciled/reconcile/check.h"
#include "reconciled/store/views.h"

enum { GUARDS_MAX = 1000 };

/* Everything of the configuration; of the targets only the secrets of `target`, or of none. */
static struct config *
load(const struct ctl *ctl, const char *target)
{
	struct problems *problems = problems_create();
	struct config *config = target ? config_load_for(ctl->config_file, target, problems)
				       : config_load(ctl->config_file, CONFIG_ALL, problems);

	if (config == NULL)
		policy_print_problems(problems);
	problems_destroy(problems);
	return config;
}

static bool
holds_back(const struct view *guards, size_t row, const char *type)
{
	const char *kind = facts_text(guards, row, "kind");

	if (facts_get(guards, row, "released_at") != NULL)
		return false;
	return strcmp(kind, "rewind") == 0 || strcmp(facts_text(guards, row, "name"), type) == 0;
}

static bool
read_guarded(struct ctl *ctl, const char *type, bool *ret_guarded, struct err *err)
{
	struct view *guards;
	bool guarded = false;

	if (!view_guards(ctl->db, false, GUARDS_MAX, &guards, err))
		return false;
	for (size_t r = 0; r < view_rows(guards); r++)
		guarded |= holds_back(guards, r, type);
	view_destroy(guards);
	*ret_guarded = guarded;
	return true;
}

static void
fill_evidence(struct explained *of, struct arena *arena, struct hmac *key)
{
	CLEANUP(strbuf_finish) struct strbuf text = { 0 };
	const struct evidence_of evidence = { of->policy, of->op, of->look, of->verdict,
					      of->decision };
	char digest[HASH_SHA256_HEX];

	explain(arena, key, &of->target->rules, &evidence, &of->explanation);
	evidence_write(&text, arena, key, &evidence, digest);
	of->evidence = evidence_parse(strbuf_text(&text));
}

static void
show(struct ctl *ctl, const struct explain_ask *asking, const struct config *config,
     struct explained *of)
{
	struct check *check = explain_ask_check(asking);
	struct hmac *key = hmac_create(secret_reveal(config->evidence_hash_key),
				       secret_len(config->evidence_hash_key));

	of->op = explain_ask_operation(asking);
	of->now_us = explain_ask_now_us(asking);
	of->look = check_look(check);
	of->verdict = check_verdict(check);
	of->decision = check_decision(check);
	fill_evidence(of, check_arena(check), key);
	if (ctl->json)
		explain_print_json(of);
	else
		explain_print(&ctl->screen, of);
	json_decref(of->evidence);
	hmac_destroy(key);
}

static enum ctl_exit
ask(struct ctl *ctl, const char *id, const struct config *config, struct explained *of)
{
	struct err err = { 0 };
	struct explain_ask *asking;
	bool guarded, done;

	if (!read_guarded(ctl, of->policy->operation_type, &guarded, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	asking = explain_ask_create(ctl, config, of->policy, guarded);
	done = explain_ask_run(asking, id, &err);
	if (done)
		show(ctl, asking, config, of);
	explain_ask_destroy(asking);
	return done ? CTL_DONE : ctl_fail(CTL_REFUSED, "%s", err.text);
}

static enum ctl_exit
explain_with(struct ctl *ctl, const char *id, const char *type, const struct view *row)
{
	struct config *config = load(ctl, NULL), *with_secrets;
	const struct policy *policy;
	struct explained of = { .row = row };
	enum ctl_exit code;

	if (config == NULL)
		return CTL_USAGE;
	policy = config_policy(config, type);
	if (policy == NULL) {
		config_unref(config);
		return ctl_fail(CTL_REFUSED, "there is no policy for the type \"%s\" of \"%s\"",
				type, id);
	}
	with_secrets = load(ctl, policy->target);
	config_unref(config);
	if (with_secrets == NULL)
		return CTL_USAGE;
	of.policy = config_policy(with_secrets, type);
	of.target = config_target(with_secrets, of.policy->target);
	code = ask(ctl, id, with_secrets, &of);
	config_unref(with_secrets);
	return code;
}

static enum ctl_exit
run(struct ctl *ctl, int argc, char **argv)
{
	enum ctl_exit code = ctl_connect(ctl);
	struct view *row = NULL;
	struct err err = { 0 };

	if (code != CTL_DONE)
		return code;
	if (!view_operation(ctl->db, argv[0], &row, &err))
		return ctl_fail(CTL_REFUSED, "%s", err.text);
	if (view_rows(row) == 0)
		code = ctl_fail(CTL_REFUSED, "unknown operation \"%s\"", argv[0]);
	else
		code = explain_with(ctl, argv[0], facts_text(row, 0, "operation_type"), row);
	view_destroy(row);
	return code;
}

const struct command command_explain = {
	.name = "explain",
	.arguments = "ID",
	.help = "asks now and shows each rule and the verdict; writes nothing",
	.arguments_min = 1,
	.arguments_max = 1,
	.run = run,
};
