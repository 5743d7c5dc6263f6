/* Header-driven access to CSV rows whose names may hold commas that nobody quoted. */
#include "source/csv_rows.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

enum { PLACE_BYTES = 48 };

bool fsl_csv_head_has(const struct fsl_probe *probe, const char *name)
{
	const char *newline = memchr(probe->head, '\n', probe->n_head);
	const char *end = newline != NULL ? newline : probe->head + probe->n_head;
	const char *text = probe->head;
	size_t n_name = strlen(name);
	if (end - text >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
		text += 3; /* byte order mark */
	}
	while (text < end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *field_end = comma != NULL ? comma : end;
		const char *next = comma != NULL ? comma + 1 : end;
		while (text < field_end && strchr(" \"", *text) != NULL) {
			text++;
		}
		while (text < field_end && strchr(" \"\r", field_end[-1]) != NULL) {
			field_end--;
		}
		if ((size_t)(field_end - text) == n_name && memcmp(text, name, n_name) == 0) {
			return true;
		}
		text = next;
	}
	return false;
}

/* True when a column behind the one found has the same name. */
static bool stands_twice(const struct fsl_csv_row *header, size_t at)
{
	const struct fsl_csv_field *field = &header->fields[at];
	for (size_t i = at + 1; i < header->n_fields; i++) {
		const struct fsl_csv_field *other = &header->fields[i];
		if (other->length == field->length &&
		    memcmp(other->text, field->text, field->length) == 0) {
			return true;
		}
	}
	return false;
}

bool fsl_csv_layout_find(struct fsl_csv_layout *layout, const struct fsl_csv_row *header,
			 const struct fsl_csv_column_spec *columns, size_t text_column,
			 const char *kind, struct fsl_sink *sink)
{
	*layout = (struct fsl_csv_layout){.n_fields = header->n_fields};
	for (size_t i = 0; i < FSL_CSV_COLUMNS_MAX && columns[i].name != NULL; i++) {
		layout->at[i] = header->state == FSL_CSV_ROW
					? fsl_csv_column(header, columns[i].name)
					: SIZE_MAX;
		if (layout->at[i] == SIZE_MAX && columns[i].is_needed) {
			fsl_sink_unusable(sink,
					  "the header lacks a column: not %s; collect it again "
					  "or move it away: column=\"%s\", line=%llu",
					  kind, columns[i].name, (unsigned long long)header->line);
			return false;
		}
		if (layout->at[i] != SIZE_MAX && stands_twice(header, layout->at[i])) {
			fsl_sink_unusable(sink,
					  "a column stands twice in the first line, and which of "
					  "them counts is not known; collect the file again: "
					  "column=\"%s\", line=%llu",
					  columns[i].name, (unsigned long long)header->line);
			return false;
		}
	}
	layout->text = layout->at[text_column];
	FSL_REQUIRE(layout->text < layout->n_fields);
	return true;
}

struct fsl_csv_field fsl_csv_layout_field(const struct fsl_csv_layout *layout,
					  const struct fsl_csv_row *row, size_t column)
{
	size_t at = layout->at[column];
	if (at == SIZE_MAX) {
		return (struct fsl_csv_field){"", 0};
	}
	FSL_REQUIRE(row->n_fields >= layout->n_fields);
	return row->fields[at > layout->text ? at + (row->n_fields - layout->n_fields) : at];
}

bool fsl_csv_layout_text(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
			 char *buffer, struct fsl_csv_field *text)
{
	size_t first = layout->text;
	size_t last = first + (row->n_fields - layout->n_fields);
	size_t length = 0;
	*text = row->fields[first];
	for (size_t i = first; last > first && i <= last; i++) {
		const struct fsl_csv_field *part = &row->fields[i];
		if (part->length + 1 > FSL_NAME_BYTES_MAX - length) {
			return false;
		}
		if (i > first) {
			buffer[length++] = ',';
		}
		memcpy(buffer + length, part->text, part->length);
		length += part->length;
		*text = (struct fsl_csv_field){buffer, length};
	}
	return text->length <= FSL_NAME_BYTES_MAX && memchr(text->text, '\0', text->length) == NULL;
}

bool fsl_csv_layout_is_header(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
			      const struct fsl_csv_column_spec *columns, size_t column)
{
	if (row->state != FSL_CSV_ROW || row->n_fields != layout->n_fields) {
		return false;
	}
	const struct fsl_csv_field *field = &row->fields[layout->at[column]];
	return field->length == strlen(columns[column].name) &&
	       memcmp(field->text, columns[column].name, field->length) == 0;
}

enum fsl_drop fsl_csv_row_drop(const struct fsl_csv_row *row)
{
	if (row->state == FSL_CSV_CUT_ROW) {
		return FSL_DROP_CUT;
	}
	return strstr(row->reason, "longer") != NULL ? FSL_DROP_TOO_LONG : FSL_DROP_MALFORMED;
}

void fsl_csv_bad_row(struct fsl_sink *sink, const struct fsl_csv_row *row, enum fsl_drop why,
		     const char *reason)
{
	char line[PLACE_BYTES] = ""; /* not known if reading began in the middle of the file */
	if (row->line > 0) {
		(void)snprintf(line, sizeof(line), "line=%llu, ", (unsigned long long)row->line);
	}
	if (why == FSL_DROP_CUT) {
		fsl_sink_bad_record(sink, why,
				    "the file ends in the middle of a row (still being written, or "
				    "the disk was full): %soffset=%llu",
				    line, (unsigned long long)row->offset);
		return;
	}
	fsl_sink_bad_record(
		sink, why, "broken rows were left out, the first: %soffset=%llu, reason=\"%s\"",
		line, (unsigned long long)row->offset, reason != NULL ? reason : row->reason);
}
