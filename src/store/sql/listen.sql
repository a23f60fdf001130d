-- SPDX-License-Identifier: Apache-2.0
-- Asks for hints that something became due; the payload is the operation type.
LISTEN reconciled
