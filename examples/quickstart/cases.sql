-- SPDX-License-Identifier: Apache-2.0
-- The cases that need a person, for psql -A -t with the variable ctl: the command that shows more.
WITH differences (operation_id, text) AS (
	SELECT e.operation_id, string_agg(format('%s: expected %s, found %s (%s)', c ->> 'field',
		coalesce(c ->> 'expected', 'nothing'), coalesce(c ->> 'found', 'nothing'),
		c ->> 'result'), '; ')
	FROM reconcile.exceptions e
	CROSS JOIN LATERAL json_array_elements(
		CASE json_typeof(e.evidence -> 'compared') WHEN 'array' THEN e.evidence -> 'compared'
		ELSE '[]' END) c
	WHERE c ->> 'result' <> 'equal'
	GROUP BY e.operation_id
),
words (reason, text) AS (VALUES
	('duplicate_effect', 'the effect is there more than once under our own key'),
	('several_at_target', 'more than one object carries our reference: which one is ours is not known'),
	('gone_at_target', 'it was there and was removed'),
	('absent_confirmed', 'nothing is there, seen repeatedly after the latency window'),
	('stuck_at_target', 'not finished at the target for too long'),
	('give_up', 'the target answers, but with nothing that any rule of the policy recognises')
),
kept (operation_id, text) AS (
	SELECT e.operation_id, string_agg(format('%s is %s', k.key, k.value), ', ')
	FROM reconcile.exceptions e
	CROSS JOIN LATERAL json_each_text(
		CASE json_typeof(e.evidence -> 'kept') WHEN 'object' THEN e.evidence -> 'kept'
		ELSE '{}' END) k
	GROUP BY e.operation_id
),
cases AS (
	SELECT e.*, coalesce(d.text, w.text, k.text, '-') AS differences,
		extract(epoch FROM clock_timestamp() - e.created_at)::int AS seconds
	FROM reconcile.exceptions e LEFT JOIN differences d USING (operation_id)
	LEFT JOIN words w USING (reason) LEFT JOIN kept k USING (operation_id)
)
SELECT CASE WHEN operation_id IS NULL
	THEN format(E'\n%s  %s: %s', kind, operation_type, reason)
	ELSE format(E'\n%s  %s  %s, %s s old\n', operation_id, operation_type,
		concat_ws(' ', entity_type, entity_id, 'version ' || version,
			'(' || nullif(entity_state, 'active') || ' here)'), seconds)
	|| format(E'    verdict      %s: %s\n', class, reason)
	|| format(E'    differs      %s\n', differences)
	|| format(E'    recommended  %s; risk that another send doubles the effect: %s\n',
		coalesce(recommended_action, '-'), coalesce(duplication_risk, '-'))
	|| format('    more         %s show %s', :'ctl', operation_id) END
FROM cases ORDER BY operation_type, operation_id;
