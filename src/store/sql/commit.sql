-- SPDX-License-Identifier: Apache-2.0
-- Ends a migration.
COMMIT
