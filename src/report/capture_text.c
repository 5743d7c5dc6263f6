/* Captures on the terminal: what the verdict rests on, then what could be won. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/language.h"
#include "judge/by_step.h"
#include "report/capture_steps_text.h"
#include "report/capture_text.h"
#include "report/coverage_text.h"
#include "report/screen.h"
#include "text/phrase.h"

enum {
	FINDINGS_SHOWN_MAX = 12, /* those to win most come first; the file has them all */
	FINDINGS_ALIKE_MAX = 3,  /* of one code, so that many of a kind leave room for others */
	SENTENCES_SHOWN_MAX = 6, /* of missing data, and of remarks */
	PROBLEMS_SHOWN_MAX = 3,
	RANGES_SHOWN_MAX = 8,
	RANKS_LISTED_MAX = 4096,
};

/* "ranks 0-3"; of very many only their number. */
static void add_all_ranks(struct fsl_phrase *phrase, const struct fsl_profile *profile)
{
	int32_t ranks[RANKS_LISTED_MAX];
	if (profile->n_ranks > RANKS_LISTED_MAX) {
		fsl_phrase_add_count(phrase, profile->n_ranks, "rank");
		return;
	}
	for (size_t i = 0; i < profile->n_ranks; i++) {
		ranks[i] = profile->ranks[i].rank;
	}
	fsl_phrase_add_ranks(phrase, ranks, profile->n_ranks, RANGES_SHOWN_MAX);
}

/* Largest that any rank's metadata tells; 0: none does. */
static int64_t world_size(const struct fsl_profile *profile)
{
	int64_t size = 0;
	for (size_t i = 0; i < profile->n_ranks; i++) {
		int64_t own = profile->ranks[i].info.world_size;
		size = own > size ? own : size;
	}
	return size;
}

static void add_steps(struct fsl_phrase *phrase, const struct fsl_profile_cluster *cluster)
{
	fsl_phrase_add(phrase, ", ");
	fsl_phrase_add_count(phrase, cluster->n_steps, "step");
	if (cluster->n_steps == 0 || cluster->steps[0] == FSL_STEP_ABSENT) {
		return;
	}
	int64_t first = cluster->steps[0], last = cluster->steps[cluster->n_steps - 1];
	fsl_phrase_add(phrase, first == last ? " (%" PRId64 ")" : " (%" PRId64 " to %" PRId64 ")",
		       first, last);
}

static const char *level_of(const struct fsl_profile_info *info)
{
	return info->level;
}

static const char *torch_of(const struct fsl_profile_info *info)
{
	return info->torch_version;
}

static const char *cann_of(const struct fsl_profile_info *info)
{
	return info->cann_version;
}

/* Adds the version of the first rank that tells one, and whether other ranks have another
 * version. */
static void add_version(struct fsl_phrase *phrase, const struct fsl_profile *profile,
			const char *words, const char *(*of)(const struct fsl_profile_info *info))
{
	const char *first = "";
	bool has_others = false;
	for (size_t i = 0; i < profile->n_ranks; i++) {
		const char *own = of(&profile->ranks[i].info);
		first = *first == '\0' ? own : first;
		has_others |= *own != '\0' && strcmp(own, first) != 0;
	}
	if (*first != '\0') {
		fsl_phrase_add(phrase, ", %s%s%s", words, first, has_others ? " and others" : "");
	}
}

static void print_coverage(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_profile *profile = report->profile;
	struct fsl_phrase phrase = {0};
	int64_t world = world_size(profile);
	add_all_ranks(&phrase, profile);
	if (world > 0) {
		fsl_phrase_add(&phrase, " of a job of %" PRId64, world);
	}
	add_steps(&phrase, report->cluster);
	add_version(&phrase, profile, "", level_of);
	add_version(&phrase, profile, "torch_npu ", torch_of);
	add_version(&phrase, profile, "CANN ", cann_of);
	fsl_coverage_add_description(&phrase, report->described_by);
	fsl_screen_field(screen, "coverage", phrase.text);
}

static void print_groups(const struct fsl_screen *screen, const struct fsl_profile_cluster *cluster)
{
	const struct fsl_profile_group *worst = NULL;
	size_t n_incomplete = 0, n_unknown = 0;
	for (size_t g = 0; g < cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		n_unknown += !group->is_p2p && !group->is_size_known ? 1 : 0;
		if (group->n_seen < group->size) {
			n_incomplete++;
			worst = worst == NULL || group->n_seen * worst->size <
							 worst->n_seen * group->size
					? group
					: worst;
		}
	}
	if (cluster->n_groups == 0) {
		return;
	}
	struct fsl_phrase phrase = {0};
	fsl_phrase_add_count(&phrase, cluster->n_groups, "group");
	if (worst != NULL) {
		fsl_phrase_add(&phrase, ", %zu incomplete: %zu of %zu ranks of group %s",
			       n_incomplete, worst->n_seen, worst->size,
			       *worst->name != '\0' ? worst->name : worst->hash);
	} else if (n_unknown > 0) {
		fsl_phrase_add(&phrase, ", %zu of unknown size", n_unknown);
	} else {
		fsl_phrase_add(&phrase, ", all members there");
	}
	(void)fsl_screen_extra(screen, "groups", phrase.text);
}

/* Below the folder that was asked for, its path says nothing new. */
static const char *short_path(const struct fsl_profile *profile, const char *path)
{
	size_t length = strlen(profile->root);
	bool is_below = strncmp(path, profile->root, length) == 0 && path[length] == '/';
	return is_below ? path + length + 1 : path;
}

static void print_problem(const struct fsl_screen *screen, const struct fsl_profile *profile,
			  const struct fsl_file *file)
{
	struct fsl_phrase phrase = {0};
	const char *message = fsl_text_or_empty(file->message);
	fsl_phrase_add(&phrase, "%s: %s", short_path(profile, file->path),
		       *message != '\0' ? message : fsl_file_state_text(file->state));
	fsl_screen_field(screen, "problem", phrase.text);
}

static void print_problems(const struct fsl_screen *screen, const struct fsl_profile *profile)
{
	const size_t n_shown_max = screen->budget != NULL ? 1 : PROBLEMS_SHOWN_MAX;
	size_t n = 0;
	for (size_t i = 0; i < profile->n_ranks; i++) {
		const struct fsl_profile_rank *rank = &profile->ranks[i];
		for (size_t f = 0; f < rank->n_files; f++) {
			if (rank->files[f].state != FSL_FILE_READ && ++n <= n_shown_max) {
				print_problem(screen, profile, &rank->files[f]);
			}
		}
	}
	/* A long screen has all remarks. */
	if (screen->budget != NULL && profile->n_left_out > 0) {
		if (n < n_shown_max) {
			fsl_screen_field(screen, "problem", profile->left_out);
		}
		n += profile->n_left_out;
	}
	if (n > n_shown_max) {
		struct fsl_phrase phrase = {0};
		fsl_phrase_add(&phrase, "and ");
		fsl_phrase_add_count(&phrase, n - n_shown_max, "more file");
		fsl_screen_field(screen, "", phrase.text);
	}
}

static void print_files(const struct fsl_screen *screen, const struct fsl_profile *profile)
{
	size_t n = 0, n_partial = 0, n_unusable = 0;
	uint64_t n_bytes = 0;
	for (size_t i = 0; i < profile->n_ranks; i++) {
		const struct fsl_profile_rank *rank = &profile->ranks[i];
		n += rank->n_files;
		for (size_t f = 0; f < rank->n_files; f++) {
			enum fsl_file_state state = rank->files[f].state;
			n_bytes += rank->files[f].n_bytes;
			n_partial += state == FSL_FILE_PARTIAL;
			n_unusable += state != FSL_FILE_READ && state != FSL_FILE_PARTIAL;
		}
	}
	struct fsl_phrase phrase = {0};
	fsl_phrase_add_count(&phrase, n, "file");
	fsl_phrase_add(&phrase, ", %.1f MB", (double)n_bytes / 1e6);
	if (n_partial + n_unusable > 0) {
		fsl_phrase_add(&phrase, ", %zu read in part, %zu not usable", n_partial,
			       n_unusable);
	}
	(void)fsl_screen_extra(screen, "files", phrase.text);
}

/* True if the verdict tells the finding: one cause is told once. */
static bool is_told(const struct fsl_report *report, const struct fsl_profile_finding *finding)
{
	const struct fsl_localisation *verdict = report->localisation;
	const char *reason = fsl_text_or_empty(verdict->reason);
	bool names = fsl_code_row(finding->code)->names != FSL_NAMES_NOBODY;
	for (size_t i = 0; names && i < verdict->n_culprits; i++) {
		if (verdict->culprits[i].rank == finding->rank) {
			return true;
		}
	}
	return *finding->what != '\0' && strstr(reason, finding->what) != NULL;
}

const char *fsl_capture_advice(const struct fsl_report *report)
{
	const struct fsl_profile_findings *findings = report->findings;
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct fsl_profile_finding *item = &findings->items[i];
		if (*item->advice != '\0' && is_told(report, item)) {
			return item->advice;
		}
	}
	return NULL;
}

/* Prints a finding: the possible gain is the label, then the sentence; a long screen has the advice
 * below it. False if it does not fit. */
static bool print_finding(const struct fsl_screen *screen,
			  const struct fsl_profile_finding *finding)
{
	struct fsl_phrase gain = {0}, text = {0}, advice = {0};
	if (isfinite(finding->gain_ms)) {
		fsl_phrase_add_ms(&gain, finding->gain_ms);
	} else {
		fsl_phrase_add(&gain, "-");
	}
	fsl_phrase_add(&text, "%s: %s", fsl_code_text(finding->code), finding->what);
	if (!fsl_screen_extra(screen, gain.text, text.text)) {
		return false;
	}
	if (*finding->advice != '\0' && screen->budget == NULL) {
		fsl_phrase_add(&advice, "-> %s", finding->advice);
		fsl_screen_field(screen, "", advice.text);
	}
	return true;
}

/* True when so many of @shown[n] have this code that one more tells nothing new. */
static bool is_one_more(const struct fsl_profile_finding *const *shown, size_t n,
			enum fsl_code code)
{
	size_t n_alike = 0;
	for (size_t i = 0; i < n; i++) {
		n_alike += shown[i]->code == code ? 1 : 0;
	}
	return n_alike == FINDINGS_ALIKE_MAX;
}

static void print_findings(const struct fsl_screen *screen, const struct fsl_report *report)
{
	const struct fsl_profile_findings *findings = report->findings;
	const struct fsl_profile_finding *shown[FINDINGS_SHOWN_MAX];
	const bool is_short = screen->budget != NULL;
	size_t n = 0, n_more = 0;
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct fsl_profile_finding *item = &findings->items[i];
		if (item->is_overview || (is_short && is_told(report, item))) {
			continue;
		}
		if (n == FINDINGS_SHOWN_MAX || is_one_more(shown, n, item->code)) {
			n_more++;
			continue;
		}
		if (n == 0 && !is_short) {
			fsl_screen_field(screen, "per step",
					 "findings: what could be won, most first");
		}
		if (!print_finding(screen, item) && is_short) {
			break; /* less of them does not matter more */
		}
		shown[n++] = item;
	}
	if (n_more > 0) {
		struct fsl_phrase more = {0};
		fsl_phrase_add(&more, "and %zu more with --format json", n_more);
		(void)fsl_screen_extra(screen, "", more.text);
	}
}

/* Prints findings that are no faults, behind the faults and without their advice, which is in the
 * document. */
static void print_overview(const struct fsl_screen *screen,
			   const struct fsl_profile_findings *findings)
{
	const char *label = N_("overview");
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct fsl_profile_finding *item = &findings->items[i];
		struct fsl_phrase text = {0};
		fsl_phrase_add(&text, "%s: %s", fsl_code_text(item->code), item->what);
		if (item->is_overview && fsl_screen_extra(screen, label, text.text)) {
			label = "";
		}
	}
}

static void print_sentences(const struct fsl_screen *screen, const char *label,
			    const char *const *sentences, size_t n)
{
	for (size_t i = 0; i < n && i < SENTENCES_SHOWN_MAX; i++) {
		(void)fsl_screen_extra(screen, i == 0 ? label : "", sentences[i]);
	}
	if (n > SENTENCES_SHOWN_MAX) {
		struct fsl_phrase phrase = {0};
		fsl_phrase_add(&phrase, "and %zu more with --format json", n - SENTENCES_SHOWN_MAX);
		(void)fsl_screen_extra(screen, "", phrase.text);
	}
}

bool fsl_capture_is_compared(const struct fsl_report *report)
{
	const struct fsl_profile_findings *findings = report->findings;
	for (size_t i = 0; i < findings->n_items; i++) {
		if (fsl_code_row(findings->items[i].code)->judge == FSL_JUDGE_baseline) {
			return true;
		}
	}
	return false;
}

void fsl_capture_coverage_text(const struct fsl_screen *screen, const struct fsl_report *report)
{
	print_coverage(screen, report);
	print_problems(screen, report->profile);
}

void fsl_capture_details_text(const struct fsl_screen *screen, const struct fsl_report *report)
{
	print_findings(screen, report);
	fsl_profile_steps_text(screen, report);
	fsl_profile_stages_text(screen, report);
	print_overview(screen, report->findings);
	print_groups(screen, report->cluster);
	print_files(screen, report->profile);
	print_sentences(screen, "missing", report->findings->missing, report->findings->n_missing);
	print_sentences(screen, "remarks", report->profile->remarks, report->profile->n_remarks);
}
