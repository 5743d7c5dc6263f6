/* The program's answer about a simulated job: writes the tree, runs the program, reads its JSON. */
#ifndef TESTS_PROPERTY_JUDGE_H
#define TESTS_PROPERTY_JUDGE_H

#include "support/known_job.h"

enum { JUDGE_CULPRITS_MAX = 32, JUDGE_TEXT_MAX = 32 };

struct judgement {
	char kind[JUDGE_TEXT_MAX];       /* localisation.verdict */
	char perception[JUDGE_TEXT_MAX]; /* perception.verdict */
	int n_culprits;
	int culprits[JUDGE_CULPRITS_MAX]; /* ascending */
	char causes[JUDGE_CULPRITS_MAX][JUDGE_TEXT_MAX];
	double slowdown; /* NaN: not given */
	double lost_ms;  /* lostMsPerStep of the first culprit; NaN: none */
	int n_steps;
	char steps_source[JUDGE_TEXT_MAX]; /* coverage.stepsSource */
	int n_missing;
	int missing[JUDGE_CULPRITS_MAX]; /* coverage.ranksMissing */
	int n_stopped;
	int stopped[JUDGE_CULPRITS_MAX]; /* perception.hang.stoppedFirst */
};

/*
 * Simulates the job, runs `failslow detect` on it with @n_threads threads and fills @out. Fails the
 * test, with the command that repeats the job, when the program does not give a verdict.
 */
void judge(struct judgement *out, const struct known_job *job, int n_threads);
/* Likewise on a tree that is there already, at the present @now_ns; verdict files go to @results.
 */
void judge_tree(struct judgement *out, const char *dir, const char *results, int64_t now_ns,
		int n_threads);

/* Fails the test unless both name the same ranks for the same causes and the same kind. */
void assert_same_verdict(const struct judgement *a, const struct judgement *b, const char *what);
/* Fails the test unless @judgement is what the fault of @job asks for. */
void assert_right_verdict(const struct judgement *judgement, const struct known_job *job);

#endif
