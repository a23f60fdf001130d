-- SPDX-License-Identifier: Apache-2.0
-- One migration at a time in a database, until the transaction ends. The number spells "reconcil".
SELECT pg_advisory_xact_lock(8243104023216089452)
