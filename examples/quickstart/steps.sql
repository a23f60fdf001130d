-- SPDX-License-Identifier: Apache-2.0
-- The journal of one operation in short, for psql -A -t with the variable id.
SELECT rtrim(format('  %6s s  %-18s %-9s %-22s %s',
	to_char(extract(epoch FROM j.at - min(j.at) OVER ()), 'FM990.0'),
	split_part(j.actor, ':', 1), j.event, coalesce(j.to_status, '-'),
	coalesce(concat_ws(': ', j.class, j.reason), '')))
FROM reconcile.journal j WHERE j.operation_id = :'id' ORDER BY j.revision;
