# SPDX-License-Identifier: Apache-2.0
# Turns sql/NAME.sql into C: one struct sql_statement sql_NAME for each file, and the list of all.
# The comment at the head of a file stays out of the text that is sent.

function finish()
{
	if (symbol != "")
		printf "};\n"
}

BEGIN {
	printf "#include \"statement.h\"\n"
}

FNR == 1 {
	finish()
	symbol = FILENAME
	sub(/.*\//, "", symbol)
	sub(/\.sql$/, "", symbol)
	symbols[++count] = symbol
	printf "\nextern const struct sql_statement sql_%s;\n", symbol
	printf "const struct sql_statement sql_%s = { \"%s\",\n", symbol, symbol
	head = 1
}

head && /^--/ { next }

{
	head = 0
	gsub(/["\\]/, "\\\\&")
	printf "\t\"%s\\n\"\n", $0
}

END {
	finish()
	printf "\nconst struct sql_statement *const sql_statements[] = {\n"
	for (i = 1; i <= count; i++)
		printf "\t&sql_%s,\n", symbols[i]
	printf "};\nconst size_t sql_statements_count = %d;\n", count
}
