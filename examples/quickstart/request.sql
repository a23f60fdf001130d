-- SPDX-License-Identifier: Apache-2.0
-- One more customer for the CRM, as an application requests it; for psql with the variable number.
SELECT operation_id, status FROM reconcile.request(operation_type => 'sync_customer',
	operation_id => 'sync-' || :'number', business_key => 'customer-' || :'number',
	entity_type => 'customer', entity_id => 'customer-' || :'number', version => '7',
	expected => json_build_object('email', 'customer-' || :'number' || '@example.com'),
	payload => json_build_object('crm_id', 'CRM-' || 1000 + :'number'::int, 'version', 7,
		'email', 'customer-' || :'number' || '@example.com'));
