/* Files of one rank that are read again and again while they grow, for tests of marks and tails. */
#ifndef FSL_TESTS_UNIT_INGEST_MARKS_READINGS_H
#define FSL_TESTS_UNIT_INGEST_MARKS_READINGS_H

#include "marks_documents.h"
#include "readings.h"

#include "source/mark_parts.h"

struct kind {
	const char *name; /* of the file */
	void (*make)(struct marks_text *text, uint64_t *random);
};

static const struct kind kinds[] = {
	{"hccl_activity-h-.0.csv", marks_csv_make},
	{"hccl_activity-h-.0.json", marks_json_make},
	{"h--00000.timeline", marks_timeline_make},
	{"operators.csv", marks_nccl_make},
};

/* One file, and how it is read. */
struct subject {
	struct tree *tree;
	const char *name;
	char path[512];
	struct fsl_input input;
	struct fsl_ingest_options options;
	size_t tail_bytes_max; /* 0: no tails are taken */
};

/* A file that was read. */
struct reading {
	struct fsl_load load;
	struct fsl_mark_taker taker;
	struct fsl_marks marks;
};

static inline void subject_begin(struct subject *subject, struct tree *tree, const char *name,
				 uint64_t *random)
{
	static const int64_t leads_ns[] = {0, 1000, 60000, 500000};
	*subject = (struct subject){.tree = tree, .name = name};
	tree_path(tree, name, subject->path, sizeof(subject->path));
	subject->input = (struct fsl_input){
		.path = subject->path, .name = name, .kinds = 0xf, .is_explicit = true};
	subject->input.told = fsl_file_name_parse(name);
	subject->options.mark_period_ns = MARKS_PERIOD_NS;
	subject->options.mark_lead_ns = leads_ns[random_below(random, 4)];
}

/* @old: what to begin at; NULL: read everything. */
static inline void reading_begin(struct reading *reading, const struct subject *subject,
				 const struct fsl_marks *old, bool is_forgetting)
{
	*reading = (struct reading){.load = {.input = &subject->input}};
	reading->marks.period_ns = subject->options.mark_period_ns;
	reading->marks.lead_ns = subject->options.mark_lead_ns;
	fsl_mark_taker_begin(&reading->taker, &subject->options,
			     old != NULL ? &old->files[0] : NULL);
	reading->taker.is_forgetting = is_forgetting;
	reading->taker.tail_bytes_max = subject->tail_bytes_max;
	reading->load.taker = &reading->taker;
	assert_int_equal(fsl_load_read(&reading->load, INT64_MIN, INT64_MAX, NULL), FSL_OK);
	assert_int_equal(fsl_marks_add(&reading->marks, &reading->load, NULL), FSL_OK);
}

static inline void reading_end(struct reading *reading)
{
	fsl_sink_fini(&reading->load.sink);
	fsl_mark_taker_fini(&reading->taker);
	fsl_marks_fini(&reading->marks);
}

/* The marks of a resumed reading are the last of those of a full one. */
static inline bool are_marks_alike(struct fsl_marks *full, const struct fsl_marks *resumed)
{
	struct fsl_file_marks *file = &full->files[0];
	size_t n = resumed->files[0].n_marks;
	if (n > file->n_marks) {
		return false;
	}
	struct fsl_pack a = {0}, b = {0};
	file->marks += file->n_marks - n;
	file->n_marks = n;
	fsl_marks_pack(full, &a);
	fsl_marks_pack(resumed, &b);
	bool is_alike = a.n_bytes == b.n_bytes && memcmp(a.bytes, b.bytes, a.n_bytes) == 0;
	fsl_pack_fini(&a);
	fsl_pack_fini(&b);
	return is_alike;
}

static inline const char *difference(struct reading *full, const struct reading *resumed)
{
	const char *what =
		difference_of_events(&full->load.sink.events, &resumed->load.sink.events);
	what = what != NULL ? what : difference_of_files(&full->load.file, &resumed->load.file);
	if (what == NULL && !are_names_alike(full->load.sink.names, resumed->load.sink.names)) {
		what = "names";
	}
	if (what == NULL && !are_marks_alike(&full->marks, &resumed->marks)) {
		what = "marks";
	}
	return what;
}

#endif
