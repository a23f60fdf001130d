/* SPDX-License-Identifier: Apache-2.0
 *
 * Heartbeat, departure and burial of instances, each one statement or two.
 */
#include <stdlib.h>
#include <string.h>

#include "db_send.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/core/policy.h"
#include "reconciled/store/instances.h"

extern const struct sql_statement sql_beat, sql_bury, sql_leave, sql_look_around;

struct beating {
	struct db *db;
	store_beat_fn *done;
	void *owner;
	int64_t beats;
	bool rewound;
};

enum around_column { AROUND_TYPE, AROUND_DIGEST, AROUND_PAUSED, AROUND_GUARDED, AROUND_INSTANCE };

static bool
is_true(const PGresult *result, int row, int column)
{
	return strcmp(PQgetvalue(result, row, column), "t") == 0;
}

/* NULL for null. */
static const char *
text_or_null(const PGresult *result, int row, int column)
{
	return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
}

/* The instances of the rows from first on that belong to the same type, or to none. */
static size_t
take_instances(const PGresult *around, int first, const char **ids)
{
	const char *type = text_or_null(around, first, AROUND_TYPE);
	size_t count = 0;

	for (int i = first; i < PQntuples(around); i++) {
		const char *of = text_or_null(around, i, AROUND_TYPE);
		const char *id = text_or_null(around, i, AROUND_INSTANCE);

		if ((of == NULL) != (type == NULL) || (type && strcmp(of, type) != 0) || !id)
			break;
		ids[count++] = id;
	}
	return count;
}

static void
view_types(const PGresult *around, int first, const char **ids, struct cluster_view *view,
	   struct type_view *types)
{
	for (int i = first; i < PQntuples(around);) {
		size_t members = take_instances(around, i, ids);

		types[view->types_count++] = (struct type_view){
			.operation_type = PQgetvalue(around, i, AROUND_TYPE),
			.digest = PQgetvalue(around, i, AROUND_DIGEST),
			.paused = is_true(around, i, AROUND_PAUSED),
			.guarded = is_true(around, i, AROUND_GUARDED),
			.members = ids,
			.members_count = members,
		};
		ids += members;
		i += members > 0 ? (int)members : 1;
	}
	view->types = types;
}

static void
tell_view(const struct beating *beating, const PGresult *around)
{
	size_t rows = (size_t)PQntuples(around);
	const char **ids = xcalloc(rows, sizeof(*ids));
	struct type_view *types = xcalloc(rows, sizeof(*types));
	struct cluster_view view = {
		.beats = beating->beats,
		.rewound = beating->rewound,
		.live = ids,
	};

	if (rows > 0 && PQgetisnull(around, 0, AROUND_TYPE))
		view.live_count = take_instances(around, 0, ids);
	view_types(around, (int)view.live_count, ids + view.live_count, &view, types);
	beating->done(beating->owner, &view, NULL);
	free(types);
	free(ids);
}

static void
on_looked_around(void *context, PGresult *got, const struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *around = got;
	const struct beating *beating = context;

	if (err)
		beating->done(beating->owner, NULL, err);
	else
		tell_view(beating, around);
}

static void
on_beaten(void *context, PGresult *got, const struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *beaten = got;
	const struct beating *beating = context;
	struct params params = { 0 };
	struct beating *next;

	if (err) {
		beating->done(beating->owner, NULL, err);
		return;
	}
	next = xcalloc(1, sizeof(*next));
	*next = *beating;
	next->beats = strtoll(PQgetvalue(beaten, 0, 0), NULL, 10);
	next->rewound = is_true(beaten, 0, 1);
	params_int8(&params, INSTANCE_FRESH_US);
	db_send(next->db,
		&(struct db_query){
			.statement = &sql_look_around, .params = &params, .text = true },
		on_looked_around, next);
}

static void
add_policies(struct params *params, const struct beat *beat)
{
	params_array_begin(params, ELEMENT_TEXT, beat->policies_count);
	for (size_t i = 0; i < beat->policies_count; i++)
		params_add_text(params, beat->policies[i].operation_type);
	params_array_end(params);
	params_array_begin(params, ELEMENT_TEXT, beat->policies_count);
	for (size_t i = 0; i < beat->policies_count; i++)
		params_add_text(params, beat->policies[i].digest);
	params_array_end(params);
}

void
store_beat(struct db *db, const struct beat *beat, store_beat_fn *done, void *owner)
{
	struct beating *beating = xcalloc(1, sizeof(*beating));
	struct params params = { 0 };

	*beating = (struct beating){ .db = db, .done = done, .owner = owner };
	params_text(&params, beat->instance_id);
	params_text(&params, beat->name);
	params_text(&params, beat->version);
	add_policies(&params, beat);
	params_int8(&params, beat->known_beats);
	params_int8(&params, INSTANCE_FRESH_US);
	db_send(db, &(struct db_query){ .statement = &sql_beat, .params = &params, .text = true },
		on_beaten, beating);
}

struct leaving {
	store_left_fn *done;
	void *owner;
};

static void
on_left(void *context, PGresult *got, const struct err *err)
{
	const struct leaving *leaving = context;

	PQclear(got);
	leaving->done(leaving->owner, err);
}

void
store_leave(struct db *db, const char *instance_id, store_left_fn *done, void *owner)
{
	struct leaving *leaving = xcalloc(1, sizeof(*leaving));
	struct params params = { 0 };

	*leaving = (struct leaving){ done, owner };
	params_text(&params, instance_id);
	db_send(db, &(struct db_query){ .statement = &sql_leave, .params = &params }, on_left,
		leaving);
}

struct burial {
	store_buried_fn *done;
	void *owner;
};

static void
on_buried(void *context, PGresult *got, const struct err *err)
{
	CLEANUP(pgresult_clear_at) PGresult *buried = got;
	const struct burial *burial = context;

	burial->done(burial->owner, buried ? atoi(PQgetvalue(buried, 0, 0)) : -1, err);
}

void
store_bury(struct db *db, const char *actor, const char *instance_id, bool at_start,
	   store_buried_fn *done, void *owner)
{
	struct burial *burial = xcalloc(1, sizeof(*burial));
	struct params params = { 0 };

	*burial = (struct burial){ done, owner };
	params_text(&params, actor);
	params_text(&params, instance_id);
	params_bool(&params, at_start);
	params_int8(&params, INSTANCE_FRESH_US);
	db_send(db, &(struct db_query){ .statement = &sql_bury, .params = &params, .text = true },
		on_buried, burial);
}
