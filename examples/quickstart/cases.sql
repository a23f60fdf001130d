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
cases AS (
	SELECT e.*, d.text AS differences, e.evidence ->> 'reading' AS reading,
		extract(epoch FROM clock_timestamp() - e.created_at)::int AS seconds
	FROM reconcile.exceptions e LEFT JOIN differences d USING (operation_id)
)
SELECT format(E'\n%s  %s  %s, %s s old\n', coalesce(operation_id, kind), operation_type,
		concat_ws(' ', entity_id, 'version ' || version,
			'(' || nullif(entity_state, 'active') || ' here)'), seconds)
	|| format(E'    verdict      %s: %s\n', class, reason)
	|| format(E'    differs      %s\n', coalesce(differences, 'reading: ' || reading, '-'))
	|| format(E'    recommended  %s (risk that another send doubles the effect: %s)\n',
		coalesce(recommended_action, '-'), duplication_risk)
	|| format('    more         %s show %s', :'ctl', operation_id)
FROM cases ORDER BY operation_type, operation_id;
