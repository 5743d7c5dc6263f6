#!/usr/bin/env python3
"""Makes variables of the thresholds of src/blame, match and replay, for a build in which the environment sets one.

usage: make_tunable.py SOURCE OUT

Writes OUT/<folder>/limits.h, in which each `#define FSL_X value` names a variable, and OUT/limits.c with the variables.
The program then reads FSL_LIMIT before main: `FSL_X=1.5,FSL_Y=2` sets two, `?` prints all and ends. Enumerators stay as they
are: arrays have them for a size.
"""
import pathlib
import re
import sys

source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
THRESHOLD = re.compile(r"^#define (FSL_[A-Z0-9_]+)[ \t]+(?!_H)(\S.*)$", re.MULTILINE)
rows, names = [], []
# Limits of the judges stand in static tables, which only constants can fill.
for header in (source / "src" / folder / "limits.h" for folder in ("blame", "match", "replay")):
    text = header.read_text()
    folder = header.parent.name
    found = THRESHOLD.findall(text)
    names += [name for name, _ in found]
    rows += [f"__typeof__({value}) fsl_limit_{name} = {value};" for name, value in found]
    body = THRESHOLD.sub(r"extern __typeof__(\2) fsl_limit_\1;\n#define \1 fsl_limit_\1", text)
    target = out / folder / "limits.h"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(body)
if len(set(names)) != len(names):
    sys.exit("a threshold is defined twice: " + ", ".join(sorted(n for n in names if names.count(n) > 1)))
table = [f'\t{{"{name}", &fsl_limit_{name}, KIND_OF(fsl_limit_{name})}},' for name in names]
(out / "limits.c").write_text("""/* Made by tests/limits/make_tunable.py. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

""" + "\n".join(rows) + """

enum kind { KIND_INT, KIND_LONG, KIND_REAL };
#define KIND_OF(x) _Generic((x), int: KIND_INT, double: KIND_REAL, default: KIND_LONG)
static const struct {
	const char *name;
	void *value;
	enum kind kind;
} table[] = {
""" + "\n".join(table) + """
};

static void set_limit(const char *name, size_t length, double value)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strlen(table[i].name) != length || strncmp(table[i].name, name, length) != 0) {
			continue;
		}
		if (table[i].kind == KIND_INT) {
			*(int *)table[i].value = (int)value;
		} else if (table[i].kind == KIND_LONG) {
			*(int64_t *)table[i].value = (int64_t)value;
		} else {
			*(double *)table[i].value = value;
		}
	}
}

static void print_limits(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		enum kind kind = table[i].kind;
		const void *value = table[i].value;
		double real = kind == KIND_INT    ? *(const int *)value
			      : kind == KIND_LONG ? (double)*(const int64_t *)value
						  : *(const double *)value;
		printf("%s %.17g %s\\n", table[i].name, real, kind == KIND_REAL ? "real" : "int");
	}
	fflush(stdout);
	_Exit(0);
}

__attribute__((constructor)) static void read_limits(void)
{
	const char *text = getenv("FSL_LIMIT");
	if (text != NULL && strcmp(text, "?") == 0) {
		print_limits();
	}
	while (text != NULL && *text != '\\0') {
		const char *sign = strchr(text, '=');
		char *end = NULL;
		if (sign == NULL) {
			return;
		}
		set_limit(text, (size_t)(sign - text), strtod(sign + 1, &end));
		text = *end == ',' ? end + 1 : "";
	}
}
""")
