/* Step times from training logs: local time, milliseconds, lines of other kinds. */
#include <time.h>

#include "tree.h"

#define NAME "train.log"

static struct tree tree;

static int setup(void **state)
{
	(void)state;
	tree_begin(&tree);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_end(&tree);
	return 0;
}

static const struct fsl_file *read_text(const char *text)
{
	tree_write(&tree, NAME, text);
	(void)tree_read(&tree);
	return tree_file(&tree, NAME);
}

static void the_stamp_is_the_end_of_the_step_in_local_time(void **state)
{
	(void)state;
	assert_int_equal(setenv("TZ", "Asia/Shanghai", 1), 0);
	tzset();
	const struct fsl_file *file =
		read_text("starting\n2025-06-15 23:07:20,250 - mindformers - INFO - { Epoch:[1/2], "
			  "step:[10/100], loss: 3.5, per_step_time: 1250ms, lr: 1e-5 }\n");
	assert_int_equal(unsetenv("TZ"), 0);
	tzset();
	assert_string_equal(file->format, "training_log");
	assert_int_equal(file->state, FSL_FILE_READ);
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].step, 10);
	assert_int_equal(rank->steps[0].dur_ns, INT64_C(1250000000));
	/* 2025-06-15T15:07:19Z */
	assert_int_equal(rank->steps[0].begin_ns, INT64_C(1750000039000000000));
}

static void steps_come_in_order_of_time(void **state)
{
	(void)state;
	(void)read_text("2025-06-15 15:07:22,000 per_step_time: 100ms\n"
			"2025-06-15 15:07:20,000 per_step_time:90ms\n"
			"2025-06-15 15:07:21,000 per_step_time: 95.5 ms\n"
			"2025-06-15 15:07:21,000 per_step_time: 95.5 ms\n");
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_int_equal(rank->n_steps, 3);
	assert_int_equal(rank->steps[0].dur_ns, 90000000);
	assert_int_equal(rank->steps[1].dur_ns, 95500000);
	assert_int_equal(rank->steps[2].dur_ns, 100000000);
}

static void broken_lines_are_counted_and_the_first_is_placed(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("no step\n"
						"2025-06-15 15:07:22,000 per_step_time: soon\n"
						"2025-06-15 15:07:22,000 per_step_time: 5 parsec\n"
						"2025-06-15 15:07:22,000 per_step_time: 100ms\n"
						"2025-06-15 15:07:23,000 per_step_time: 10");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_records, 4);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 2);
	assert_int_equal(file->n_dropped[FSL_DROP_CUT], 1);
	assert_contains(file->message, "offset=8");
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 1);
}

static void a_log_whose_steps_come_late_is_found_by_its_name(void **state)
{
	(void)state;
	char text[FSL_FILE_HEAD_BYTES * 3];
	size_t length = 0;
	while (length < FSL_FILE_HEAD_BYTES * 2) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "loading\n");
	}
	(void)snprintf(text + length, sizeof(text) - length,
		       "2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	assert_int_equal(read_text(text)->n_records, 1);
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 1);
}

static void logs_without_steps_are_left_alone_unless_named(void **state)
{
	(void)state;
	char path[512];
	tree_write(&tree, "plog.log", "nothing of interest\n");
	(void)read_text("2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	assert_int_equal(tree.run.n_files, 1);
	tree_path(&tree, "plog.log", path, sizeof(path));
	tree.options.training_log = path;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 2);
	assert_int_equal(tree_file(&tree, "plog.log")->state, FSL_FILE_EMPTY);
}

static void a_log_named_as_such_needs_no_telling_name(void **state)
{
	(void)state;
	char path[512];
	tree_write(&tree, "output", "nothing of interest\n");
	tree_path(&tree, "output", path, sizeof(path));
	tree.options.training_log = path;
	tree.options.log_type_is_log = true;
	tree.options.root_path = NULL;
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_string_equal(tree_file(&tree, "output")->format, "training_log");
}

static void every_file_of_a_folder_of_logs_is_looked_through(void **state)
{
	(void)state;
	char text[FSL_FILE_HEAD_BYTES * 2] = "";
	tree_folder(&tree, "logs");
	memset(text, '#', FSL_FILE_HEAD_BYTES);
	(void)strcpy(text + FSL_FILE_HEAD_BYTES,
		     "\n2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	tree_write(&tree, "logs/job-0.txt", text);
	tree_write(&tree, "logs/notes.txt", "nothing\n");
	char path[512];
	tree_path(&tree, "logs", path, sizeof(path));
	tree.options.root_path = NULL;
	tree.options.training_log = path;
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	tree.options.log_type_is_log = true;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 1);
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 1);
}

/* A job whose log a case writes. Steps count from 1. */
struct job {
	double before_s, after_s;  /* of a step, before and from @onset on */
	int n_steps, onset, every; /* the log tells every n-th step */
	const char *prefix;
};

static double step_s(const struct job *job, int step)
{
	/* A saw of half a percent: a log of equal steps shows no mistake. */
	return (step < job->onset ? job->before_s : job->after_s) * (1.0 + 0.005 * (step % 3 - 1));
}

/* Seconds up to the end of a step. */
static double end_s(const struct job *job, int step)
{
	double sum_s = 0.0;
	for (int i = 1; i <= step; i++) {
		sum_s += step_s(job, i);
	}
	return sum_s;
}

static void put_stamp(char *out, size_t size, bool has_year, double seconds)
{
	time_t at = (time_t)(1750000000 + (long)seconds);
	struct tm when = {0};
	(void)gmtime_r(&at, &when);
	if (!has_year) {
		(void)strftime(out, size, "%m/%d %H:%M:%S", &when);
		return;
	}
	size_t n = strftime(out, size, "%Y-%m-%d %H:%M:%S", &when);
	(void)snprintf(out + n, size - n, ",%03d",
		       (int)((seconds - (double)(long)seconds) * 1000.0));
}

/* Writes what a placeholder of a form stands for. */
static void put_field(char *out, size_t size, char field, const struct job *job, int step)
{
	enum { STEPS_OF_EPOCH = 20 };
	double end = end_s(job, step), mean = end - end_s(job, step - job->every);
	int whole = (int)end;
	mean /= job->every;
	switch (field) {
	case 'i': /* number from 1 */
		(void)snprintf(out, size, "%d", step);
		break;
	case 'z': /* from 0 */
		(void)snprintf(out, size, "%d", step - 1);
		break;
	case 'e': /* epoch, and number in it */
		(void)snprintf(out, size, "%d", (step - 1) / STEPS_OF_EPOCH + 1);
		break;
	case 'n':
		(void)snprintf(out, size, "%d", (step - 1) % STEPS_OF_EPOCH + 1);
		break;
	case 's':
		(void)snprintf(out, size, "%.4f", mean);
		break;
	case 'm': /* ms */
		(void)snprintf(out, size, "%.2f", mean * 1000.0);
		break;
	case 'f': /* thirds of it, ms */
		(void)snprintf(out, size, "%.2f", mean * 1000.0 / 3.0);
		break;
	case 'r': /* steps in a second, and the same as the mean of all */
		(void)snprintf(out, size, "%.5f", 1.0 / mean);
		break;
	case 'R':
		(void)snprintf(out, size, "%.6f", step / end);
		break;
	case 'c': /* since the begin: ms, clock, words */
		(void)snprintf(out, size, "%.0f", end * 1000.0);
		break;
	case 'k':
		(void)snprintf(out, size, "%d:%02d:%02d", whole / 3600, whole / 60 % 60,
			       whole % 60);
		break;
	case 'w':
		(void)snprintf(out, size, "%dm %ds", whole / 60, whole % 60);
		break;
	case 'T':
		put_stamp(out, size, true, end);
		break;
	case 'S':
		put_stamp(out, size, false, end);
		break;
	default:
		fail_msg("no such field: %c", field);
	}
}

/* The log of a job: a line of @form for each step; "{i}" stands for a field. */
static void write_log(const char *name, const char *form, const struct job *job)
{
	char path[512];
	tree_path(&tree, name, path, sizeof(path));
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	for (int step = job->every; step <= job->n_steps; step += job->every) {
		(void)fputs(job->prefix, file);
		for (const char *at = form; *at != '\0'; at++) {
			char text[64] = {*at, '\0'};
			if (at[0] == '{' && at[1] != '\0' && at[2] == '}') {
				put_field(text, sizeof(text), at[1], job, step);
				at += 2;
			}
			(void)fputs(text, file);
		}
	}
	(void)fputc('\n', file);
	assert_int_equal(fclose(file), 0);
}

/* What a form must come to. */
struct form {
	const char *text;
	int first;        /* number of the first step of the job */
	double tolerance; /* of each step time, share */
	bool by_clock;    /* the first line tells only where the clock stands */
};

static const struct form forms[] = {
	{" iteration {i}/ 5000 | consumed samples: 1 | elapsed time per iteration (ms): {m} | lr: 1\n",
	 1, 1e-4, false},
	{" [{T}] iteration {i}/ 5000 | elapsed time per iteration (s): {s} | lm loss: 1.0E+00 |\n",
	 1, 2e-3, false},
	{"{ step:[ {i}/ 200], loss: 1.1, per_step_time:  {m}ms, lr: 1e-5, throughput: 1T }\n", 1,
	 1e-4, false},
	{"{T} - INFO - { Epoch:[ {e}/ 9], step:[ {n}/ 20], loss:[1.0/1.1], per_step_time: {m}ms }\n",
	 1, 2e-3, false},
	{"{T} [INFO] Epoch {e}/9, Step {n}/20, step time: {m} ms\n", 1, 2e-3, false},
	{"time (ms) | fwd: {f} | bwd: {f} | bwd_inner: 1.0 | bwd_allreduce: 1.0 | step: {f}\n", -1,
	 1e-4, false},
	{"steps: {i} loss: 1.5 iter time (s): {s} samples/sec: 3.0\n", 1, 1e-4, false},
	{"epoch=0/micro_step={i}/global_step={i}, CurrSamplesPerSec={r}, [{T}]\n", 1, 2e-3, true},
	{"INFO {T} x.py:3 step:{i} smpl:1K ep:2 loss:1.0 updt_s:{s} data_s:0.000\n", 1, 2e-3,
	 false},
	{"Training epoch 0, iteration {z}/99 | global_step: {z} | train_step_timing in s: {s} | x: 1\n",
	 0, 1e-4, false},
	{"\rEpoch 0: : 10%|#   | {i}/99 [00:01<00:02, v_num=, train_step_timing in s={s}]", 1, 1e-4,
	 false},
	{"[titan] {T} - root - INFO - \033[31mstep: {i}  \033[32mloss: 6.1  \033[34mtps: 5,283\033[0m\n",
	 1, 2e-3, true},
	{"{'loss': 1.0, 'train_speed(iter/s)': {R}, 'global_step/max_steps': '{i}/9000', "
	 "'elapsed_time': '{w}'}\n",
	 1, 5e-3, true},
	{"{T} - mmengine - INFO - Iter(train) [ {i}/9000]  lr: 1e-2  eta: 1 day, 2:03:04  time: {s}  "
	 "data_time: 0.0100  loss: 1\n",
	 1, 2e-3, false},
	{"| INFO | train_inner | {\"epoch\": 1, \"ups\": \"{r}\", \"num_updates\": \"{i}\"}\n", 1,
	 1e-3, false},
	{"loss: 9.8, global_step: {i}, interval_runtime: {s}, interval_steps_per_second: 1.9\n", 1,
	 1e-4, false},
	{"completed step: {z}, seconds: {s}, TFLOP/s/device: 100.1\n", 0, 1e-4, false},
	{"step:{i} - actor/loss:0.1 - timing_s/step:{s} - timing_s/gen:1.0\n", 1, 1e-4, false},
	{"step:{i}/9000 train_time:{c}ms step_avg:3.1ms\n", 1, 2e-3, true},
	{"Epoch: [{e}][{n}/20]\tTime  {s} ( 9.999)\tData  0.010 ( 0.020)\n", 1, 1e-4, false},
	{"{i}/9000 [=>...] - ETA: 1:10 - loss: 1.2 - {m}ms/step\n", -1, 1e-4, false},
	{"global step {i}: loss = 2.3 ({s} sec/step)\n", 1, 1e-4, false},
	{"iter {i}: loss 3.2, time {m}ms, mfu 12.3%\n", 1, 1e-4, false},
	{"train step={i} | loss=1.0 | step_time={s}\n", 1, 1e-4, false},
	{"Iteration {i} speed {r} it/s\n", 1, 1e-3, false},
	{"第 {i} 步 单步耗时: {m} 毫秒\n", 1, 1e-4, false},
	{"{T} finished step {i} of the plan\n", 1, 2e-3, true},
	{"{S} update: {i} step_time: {s}\n", 1, 2.1e-2, false},
};

static double share_off(double value, double wanted)
{
	return value > wanted ? value / wanted - 1.0 : wanted / value - 1.0;
}

static void check_steps(const struct form *form, const struct job *job)
{
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	int n_lines = job->n_steps / job->every, n_skipped = form->by_clock ? 1 : 0;
	if ((int)rank->n_steps != n_lines - n_skipped) {
		fail_msg("%zu steps of %d lines: %s", rank->n_steps, n_lines, form->text);
	}
	for (int k = 0; k < (int)rank->n_steps; k++) {
		const struct fsl_step_time *step = &rank->steps[k];
		int number = (k + n_skipped + 1) * job->every;
		double wanted_s =
			(end_s(job, number) - end_s(job, number - job->every)) / job->every;
		if (form->first >= 0 && step->step != number - 1 + form->first) {
			fail_msg("step %lld, not %d: %s", (long long)step->step,
				 number - 1 + form->first, form->text);
		}
		if (share_off((double)step->dur_ns / 1e9, wanted_s) > form->tolerance) {
			fail_msg("step %d takes %lld ns, not %g s: %s", number,
				 (long long)step->dur_ns, wanted_s, form->text);
		}
		assert_true(k == 0 || step->begin_ns > step[-1].begin_ns);
	}
}

static void check_forms(const struct job *job)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		write_log(NAME, forms[i].text, job);
		assert_int_equal(tree_read(&tree), FSL_OK);
		check_steps(&forms[i], job);
	}
}

static void steps_of_each_form_are_as_long_as_the_log_says(void **state)
{
	(void)state;
	check_forms(&(const struct job){3.1, 4.2, 40, 21, 1, ""});
	check_forms(&(const struct job){17.25, 12.5, 60, 48, 1, ""});
}

static void prefixes_of_ranks_and_colours_change_nothing(void **state)
{
	(void)state;
	check_forms(&(const struct job){2.5, 5.0, 40, 31, 1, "[rank0]: "});
	check_forms(&(const struct job){2.5, 5.0, 40, 11, 1, "\033[36m(worker pid=77)\033[0m "});
}

static void logs_that_tell_every_tenth_step_tell_their_mean(void **state)
{
	(void)state;
	const struct job job = {3.1, 4.2, 300, 201, 10, ""};
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		/* An epoch is shorter than ten steps are many, and numbers may be missing. */
		bool is_spanned = strstr(forms[i].text, "interval_runtime") != NULL;
		bool fits = forms[i].first >= 0 && strstr(forms[i].text, "{e}") == NULL;
		if (!fits || is_spanned) {
			continue;
		}
		struct form form = forms[i];
		form.first = form.first == 0 ? 0 : 1;
		write_log(NAME, form.text, &job);
		assert_int_equal(tree_read(&tree), FSL_OK);
		check_steps(&form, &job);
	}
}

/* Lines of a progress bar as tqdm writes them: newer steps count more, times are cut to seconds. */
static void write_bar(const char *name, const char *lead, const struct job *job, bool with_evals)
{
	char path[512];
	double mean = 0.0, weight = 1.0;
	tree_path(&tree, name, path, sizeof(path));
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 1; i <= job->n_steps; i++) {
		mean = 0.3 * step_s(job, i) + 0.7 * mean;
		weight *= 0.7;
		int at = (int)end_s(job, i);
		(void)fprintf(file, "%s%3d%%|###  | %d/%d [%02d:%02d<1:02:03, %5.2fs/it]", lead,
			      100 * i / job->n_steps, i, job->n_steps, at / 60, at % 60,
			      mean / (1.0 - weight));
		for (int k = 1; with_evals && i % 10 == 0 && k <= 30; k++) {
			(void)fprintf(file, "%s 50%%|##   | %d/30 [00:%02d<00:01, 12.00it/s]", lead,
				      k, k / 12);
		}
	}
	(void)fputc('\n', file);
	assert_int_equal(fclose(file), 0);
}

static void one_stall_stays_one_long_step_of_a_smoothed_bar(void **state)
{
	(void)state;
	const struct job job = {3.0, 3.0, 100, 50, 1, ""};
	write_bar(NAME, "\r", &job, true);
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 100);
	const struct job slow = {3.0, 90.0, 100, 99, 1, ""};
	write_bar(NAME, "\n", &slow, false);
	assert_int_equal(tree_read(&tree), FSL_OK);
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_int_equal(rank->n_steps, 100);
	assert_true(share_off((double)rank->steps[97].dur_ns, 3e9) < 0.05);
	assert_true(share_off((double)rank->steps[98].dur_ns, 90e9) < 0.02);
}

static void growing_numbers_are_cumulative_unless_they_jump(void **state)
{
	(void)state;
	char text[16384];
	for (int drifts = 0; drifts < 2; drifts++) {
		size_t n = 0;
		for (int i = 1; i <= 60; i++) {
			double ms = drifts != 0 ? 85000 + 2000 * i + 900 * (i % 3) : 2500.0 * i;
			n += (size_t)snprintf(text + n, sizeof(text) - n, "step %d took %.1f ms\n",
					      i, ms);
		}
		(void)read_text(text);
		const struct fsl_rank *rank = tree_rank(&tree, 0);
		assert_int_equal(rank->n_steps, drifts != 0 ? 60 : 59);
		int64_t wanted_ns =
			drifts != 0 ? INT64_C(207000000000) - 2000000000 : INT64_C(2500000000);
		assert_int_equal(rank->steps[rank->n_steps - 1].dur_ns,
				 drifts != 0 ? INT64_C(205000000000) : wanted_ns);
	}
}

static void restarts_are_counted_and_the_later_run_is_kept(void **state)
{
	(void)state;
	static const struct {
		int first, resumed, n, left;
	} cases[] = {{30, 21, 20, 40}, {50, 1, 60, 60}};
	for (size_t c = 0; c < 2; c++) {
		char text[65536];
		size_t n = 0;
		for (int i = 1; i <= cases[c].first + cases[c].n; i++) {
			int step =
				i <= cases[c].first ? i : i - cases[c].first + cases[c].resumed - 1;
			n += (size_t)snprintf(
				text + n, sizeof(text) - n,
				" iteration %d/ 99 | elapsed time per iteration (ms): "
				"%d.0 |\n",
				step, i <= cases[c].first ? 1000 : 2000);
		}
		(void)read_text(text);
		const struct fsl_rank *rank = tree_rank(&tree, 0);
		assert_int_equal(rank->n_restarts, 1);
		assert_int_equal(rank->n_steps, cases[c].left);
		assert_int_equal(rank->steps[cases[c].resumed - 1].dur_ns, INT64_C(2000000000));
	}
}

/* A copy of a line by another rank comes at once, a line of a step that ran again does not. */
static void a_restart_of_one_or_two_steps_is_no_copy(void **state)
{
	(void)state;
	for (int back = 1; back <= 2; back++) {
		for (int gap_s = 0; gap_s <= 60; gap_s += 60) {
			char text[65536];
			size_t n = 0;
			for (int i = 0; i < 40; i++) {
				int at = i + (i < 20 ? 0 : gap_s),
				    step = 100 + i - (i < 20 ? 0 : back);
				n += (size_t)snprintf(
					text + n, sizeof(text) - n,
					"[2025-06-15 15:%02d:%02d] iteration %d/ 999 | "
					"elapsed time per iteration (ms): 1000.0 |\n",
					at / 60, at % 60, step);
			}
			(void)read_text(text);
			const struct fsl_rank *rank = tree_rank(&tree, 0);
			assert_int_equal(rank->n_restarts, gap_s > 0);
			assert_int_equal(rank->n_steps, 40 - back);
		}
	}
}

static void of_several_ranks_in_a_log_the_lowest_counts(void **state)
{
	(void)state;
	char text[65536];
	size_t n = 0;
	for (int i = 1; i <= 40; i++) {
		for (int rank = 3; rank >= 1; rank--) {
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "%d: iter %d: loss 1.0, time %d ms\n", rank, i,
					      1000 * rank);
		}
	}
	(void)read_text(text);
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 40);
	assert_int_equal(tree_rank(&tree, 0)->steps[7].dur_ns, 1000000000);
}

static void loading_stands_beside_the_step(void **state)
{
	(void)state;
	(void)read_text("step:1 smpl:1 loss:1 updt_s:2.000 data_s:0.500\n"
			"step:2 smpl:1 loss:1 updt_s:2.250 data_s:0.750\n");
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_int_equal(rank->n_steps, 2);
	assert_int_equal(rank->steps[0].dur_ns, INT64_C(2500000000));
	assert_int_equal(rank->steps[1].dur_ns, INT64_C(3000000000));
	assert_int_equal(rank->steps[1].data_ns, INT64_C(750000000));
}

static void patterns_of_the_user_come_first(void **state)
{
	(void)state;
	static const char *const patterns[] = {
		"turn (?<step>\\d+) of \\d+ needed (?<time>[\\d.]+) ?(?<unit>ms|s)"};
	tree.options.log_patterns = patterns;
	tree.options.n_log_patterns = 1;
	(void)read_text("turn 7 of 9 needed 12.5 s\nturn 8 of 9 needed 750 ms\n");
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_int_equal(rank->n_steps, 2);
	assert_int_equal(rank->steps[0].step, 7);
	assert_int_equal(rank->steps[0].dur_ns, INT64_C(12500000000));
	assert_int_equal(rank->steps[1].dur_ns, INT64_C(750000000));
}

static void a_log_of_an_unknown_form_tells_its_nearest_lines(void **state)
{
	(void)state;
	char path[512];
	const char *text = "begin\nstep 1 is fine\nstep 2 is \"fine\"\nend\n";
	tree_write(&tree, "some.log", text);
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_contains(fsl_error_root(&tree.err), "log_patterns");
	tree_path(&tree, "some.log", path, sizeof(path));
	tree.options.root_path = path;
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_int_equal(tree_file(&tree, "some.log")->state, FSL_FILE_UNUSABLE);
	assert_contains(tree_file(&tree, "some.log")->message, "step 2 is ?fine?");
}

/* True if a step is found behind 10 MB of a line. */
static bool is_found_behind(const char *line)
{
	enum { BYTES = 10 << 20 };
	size_t n_line = strlen(line), length = 0;
	char *text = malloc(BYTES + 256);
	assert_non_null(text);
	for (; length + n_line < BYTES; length += n_line) {
		memcpy(text + length, line, n_line);
	}
	(void)strcpy(text + length, "2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	tree_write(&tree, NAME, text);
	free(text);
	return tree_read(&tree) == FSL_OK && tree_file(&tree, NAME)->n_records == 1;
}

static void a_log_is_given_up_when_much_of_it_only_looks_like_steps(void **state)
{
	(void)state;
	assert_true(is_found_behind("2025-06-15 15:07:22,000 worker 10.1.0.1 loads a shard\n"));
	assert_true(is_found_behind("2025-06-15 https://10.1.0.1/shards?n=17 is loaded\n"));
	assert_false(is_found_behind("epoch begins, loading shard 17 of the data\n"));
	assert_false(is_found_behind("the step size of the optimizer is 0.001, beta 0.99\n"));
}

static void hostile_bytes_cost_their_lines_alone(void **state)
{
	(void)state;
	char path[512];
	static const char line[] = "step %d took 100 ms\r\n";
	tree_path(&tree, NAME, path, sizeof(path));
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	for (int i = 1; i <= 20; i++) {
		(void)fprintf(file, line, i);
	}
	for (int i = 0; i < 3 << 20; i++) { /* one line of 3 MiB */
		(void)fputs("x", file);
	}
	(void)fputc('\n', file);
	(void)fwrite("step 21 \0\xff\xfe took 100 ms\n", 1, 25, file);
	(void)fprintf(file, "step 99999999999999999999999 took 100 ms\n");
	(void)fprintf(file, "step 22 took 1e300 ms\nstep 23 took 100 ms\nstep 24 took 1");
	assert_int_equal(fclose(file), 0);
	(void)tree_read(&tree);
	const struct fsl_file *read = tree_file(&tree, NAME);
	assert_int_equal(read->state, FSL_FILE_PARTIAL);
	assert_int_equal(read->n_dropped[FSL_DROP_TOO_LONG], 1);
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_true(rank->n_steps >= 21 && rank->n_steps <= 23);
	for (size_t i = 0; i < rank->n_steps; i++) {
		assert_int_equal(rank->steps[i].dur_ns, 100000000);
	}
}

static void a_log_of_each_rank_is_read(void **state)
{
	(void)state;
	const struct job job = {1.0, 2.0, 30, 20, 1, ""};
	tree_folder(&tree, "rank_1");
	write_log("worker_0.log", forms[2].text, &job);
	write_log("rank_1/info.log", forms[2].text, &job);
	write_log("log_rank7.txt", forms[2].text, &job);
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 30);
	assert_int_equal(tree_rank(&tree, 1)->n_steps, 30);
	assert_int_equal(tree_rank(&tree, 7)->n_steps, 30);
}

/* Adds @form with @step in place of its '#'. */
static size_t add_line(char *to, size_t size, const char *form, int step)
{
	const char *at = strchr(form, '#');
	assert_non_null(at);
	return (size_t)snprintf(to, size, "%.*s%d%s", (int)(at - form), form, step, at + 1);
}

/* 20 lines of @form, of the steps up to @last, and then @behind. */
static bool is_finished(const char *form, int last, const char *behind)
{
	char text[8192];
	size_t length = 0;
	for (int step = last - 19; step <= last; step++) {
		length += add_line(text + length, sizeof(text) - length, form, step);
	}
	(void)snprintf(text + length, sizeof(text) - length, "%s", behind);
	(void)read_text(text);
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_true(rank->n_steps >= 20);
	assert_true(rank->finished_ns == 0 || rank->finished_ns == rank->last_event_ns);
	return rank->finished_ns > 0;
}

#define MEGATRON    " iteration #/ 90 | elapsed time per iteration (ms): 900.0 |\n"
#define MEGATRON_71 " iteration 71/ 90 | elapsed time per iteration (ms): 900.0 |\n"
#define MINDFORMERS                                                                                \
	"2025-06-15 15:07:22,000 - INFO - { Epoch:[ 2/ 3], step:[#/ 40], per_step_time: 100ms }\n"
#define LAST_EPOCH                                                                                 \
	"2025-06-15 15:07:22,000 - INFO - { Epoch:[ 3/ 3], step:[#/ 40], per_step_time: 100ms }\n"
#define BAR "60%|==  | #/90 [00:30<00:20,  1.00s/it]\n"

static void the_planned_step_is_the_end_of_the_job(void **state)
{
	(void)state;
	assert_true(is_finished(MEGATRON, 90, ""));
	assert_false(is_finished(MEGATRON, 89, ""));
	assert_true(is_finished(LAST_EPOCH, 40, "saving\n"));
	assert_false(is_finished(LAST_EPOCH, 39, "saving\n"));
	assert_false(is_finished(MINDFORMERS, 40, "saving\n"));
}

static void a_total_that_may_be_that_of_an_epoch_ends_no_job(void **state)
{
	(void)state;
	assert_false(is_finished(BAR, 90, ""));
	assert_true(is_finished(BAR, 90, "{'train_runtime': 90.1, 'epoch': 1.0}\n"));
}

static void a_line_behind_the_last_step_tells_the_end(void **state)
{
	(void)state;
	static const char *const ends[] = {
		"[after training is done] datetime: 2025-06-15 15:20:00\n",
		"exiting program at iteration 70\n", "INFO - .........Training Over!.............",
		"`Trainer.fit` stopped: `max_steps=70` reached.\n", "- Training completed\n"};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		assert_true(is_finished(MEGATRON, 70, ends[i]));
	}
	assert_false(is_finished(MEGATRON, 70, "epoch 1: training complete, evaluating\n"));
	assert_false(is_finished(MEGATRON, 70, "training overview: none\nsaving\n"));
	/* A job that goes on in the same file. */
	assert_false(is_finished(MEGATRON "training is done\n", 70, MEGATRON_71));
}

/* More bytes than the reader holds lie between the last step and the end of the file. */
static void an_end_is_found_at_the_end_of_a_large_file(void **state)
{
	(void)state;
	enum { LARGE = 1 << 20 };
	char *text = fsl_calloc(LARGE + 64, 1);
	assert_non_null(text);
	size_t length = 0;
	for (int step = 51; step <= 70; step++) {
		length += add_line(text + length, LARGE - length, MEGATRON, step);
	}
	for (; length < LARGE; length++) {
		text[length] = length % 64 == 0 ? '\n' : '.';
	}
	(void)snprintf(text + length, 64, "\nfinished training\n");
	(void)read_text(text);
	assert_true(tree_rank(&tree, 0)->finished_ns > 0);
	text[length] = '\0';
	(void)read_text(text);
	assert_int_equal(tree_rank(&tree, 0)->finished_ns, 0);
	fsl_free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_stamp_is_the_end_of_the_step_in_local_time),
		TEST(steps_come_in_order_of_time),
		TEST(broken_lines_are_counted_and_the_first_is_placed),
		TEST(a_log_whose_steps_come_late_is_found_by_its_name),
		TEST(logs_without_steps_are_left_alone_unless_named),
		TEST(every_file_of_a_folder_of_logs_is_looked_through),
		TEST(a_log_named_as_such_needs_no_telling_name),
		TEST(steps_of_each_form_are_as_long_as_the_log_says),
		TEST(prefixes_of_ranks_and_colours_change_nothing),
		TEST(logs_that_tell_every_tenth_step_tell_their_mean),
		TEST(one_stall_stays_one_long_step_of_a_smoothed_bar),
		TEST(growing_numbers_are_cumulative_unless_they_jump),
		TEST(restarts_are_counted_and_the_later_run_is_kept),
		TEST(a_restart_of_one_or_two_steps_is_no_copy),
		TEST(of_several_ranks_in_a_log_the_lowest_counts),
		TEST(loading_stands_beside_the_step),
		TEST(patterns_of_the_user_come_first),
		TEST(a_log_of_an_unknown_form_tells_its_nearest_lines),
		TEST(a_log_is_given_up_when_much_of_it_only_looks_like_steps),
		TEST(hostile_bytes_cost_their_lines_alone),
		TEST(a_log_of_each_rank_is_read),
		TEST(the_planned_step_is_the_end_of_the_job),
		TEST(a_total_that_may_be_that_of_an_epoch_ends_no_job),
		TEST(a_line_behind_the_last_step_tells_the_end),
		TEST(an_end_is_found_at_the_end_of_a_large_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
