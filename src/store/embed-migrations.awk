# SPDX-License-Identifier: Apache-2.0
# Turns migrations/NNNN_name.sql into the C table of migration.h. The text stays byte for byte as
# it is, because its checksum is compared with what was applied. A file ends in a newline.

function finish()
{
	if (open)
		printf "\t},\n"
	open = 1
}

BEGIN {
	printf "#include \"migration.h\"\n\nconst struct migration migrations[] = {\n"
}

FNR == 1 {
	finish()
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.sql$/, "", name)
	version = substr(name, 1, 4) + 0
	printf "\t{ %d, \"%s\",\n", version, substr(name, 6)
	count++
}

{
	gsub(/["\\]/, "\\\\&")
	gsub(/\t/, "\\t")
	printf "\t\t\"%s\\n\"\n", $0
}

END {
	finish()
	printf "};\nconst size_t migrations_count = %d;\n", count
}
