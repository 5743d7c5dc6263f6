/* A timer that ends the process. Its handler needs no lock and no memory. */
#include "base/deadline.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/language.h"
#include "base/log.h"

enum {
	FILES_MAX = 64,   /* threads that read at the same time; more files are not told */
	FILES_TOLD = 4,   /* of them, in the message */
	PATH_BYTES = 256, /* of a path, its end; longer ones are cut in front */
	MESSAGE_BYTES = 1400,
};
#define SECONDS_PER_MINUTE 60.0
#define US_PER_S           1e6

enum file_state { FILE_FREE, FILE_CHANGING, FILE_READ };

/* A file that is being read. The handler may see a text that is half that of another file: it has
 * an end in any case. */
struct file {
	_Atomic int state; /* enum file_state */
	char path[PATH_BYTES];
};

static struct {
	_Atomic bool is_on;
	int exit_code;
	char minutes[32];
	char word[32];      /* for "error", as the reader of the log has it */
	char sentence[512]; /* likewise */
	_Atomic(const char *) stage;
	struct file files[FILES_MAX];
} deadline;

struct message {
	char text[MESSAGE_BYTES];
	size_t n;
};

static void add(struct message *message, const char *text)
{
	size_t length = strnlen(text, PATH_BYTES), room = MESSAGE_BYTES - 1 - message->n;
	length = length < room ? length : room;
	memcpy(message->text + message->n, text, length);
	message->n += length;
	message->text[message->n] = '\0';
}

/* Handler of SIGALRM: the time is over. It stays after the deadline for a signal that is on its
 * way; other programs that the process starts do not get it. */
static void end_process(int number)
{
	struct message message = {.n = 0};
	(void)number;
	if (!atomic_load(&deadline.is_on)) {
		return;
	}
	add(&message, deadline.sentence);
	add(&message, ": minutes=");
	add(&message, deadline.minutes);
	add(&message, ", stage=\"");
	add(&message, atomic_load(&deadline.stage));
	add(&message, "\"");
	for (int i = 0, n_told = 0; i < FILES_MAX && n_told < FILES_TOLD; i++) {
		if (atomic_load(&deadline.files[i].state) == FILE_READ) {
			add(&message, ", file=\"");
			add(&message, deadline.files[i].path);
			add(&message, "\"");
			n_told++;
		}
	}
	fsl_log_make_plain(message.text);
	fsl_log_from_handler("deadline", deadline.word, message.text);
	_exit(deadline.exit_code);
}

static void set_timer(double seconds)
{
	struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
	double rest_us = (seconds - (double)timer.it_value.tv_sec) * US_PER_S;
	timer.it_value.tv_usec = (suseconds_t)rest_us;
	if (seconds > 0.0 && timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) {
		timer.it_value.tv_usec = 1; /* 0 would switch the timer off */
	}
	(void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* Nothing can be looked up in a handler. */
static void tell_before(void)
{
	struct fsl_told told;
	(void)snprintf(deadline.word, sizeof(deadline.word), "%s",
		       fsl_log_tell(N_("error"), &told));
	(void)snprintf(deadline.sentence, sizeof(deadline.sentence), "%s",
		       fsl_log_tell("the run takes longer than max_run_minutes, raise it, or judge "
				    "less",
				    &told));
}

void fsl_deadline_begin(double minutes, int exit_code)
{
	struct sigaction action = {.sa_handler = end_process, .sa_flags = SA_RESTART};
	sigset_t own;
	if (!(minutes > 0.0)) {
		return;
	}
	deadline.exit_code = exit_code;
	(void)snprintf(deadline.minutes, sizeof(deadline.minutes), "%g", minutes);
	atomic_store(&deadline.stage, "beginning");
	tell_before();
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(SIGALRM, &action, NULL);
	/* Whoever started the program may have blocked the signal. */
	(void)sigemptyset(&own);
	(void)sigaddset(&own, SIGALRM);
	(void)sigprocmask(SIG_UNBLOCK, &own, NULL);
	atomic_store(&deadline.is_on, true);
	set_timer(minutes * SECONDS_PER_MINUTE);
}

void fsl_deadline_end(void)
{
	if (atomic_exchange(&deadline.is_on, false)) {
		set_timer(0.0);
	}
}

void fsl_deadline_stage(const char *stage)
{
	atomic_store(&deadline.stage, stage);
}

int fsl_deadline_file_begin(const char *path)
{
	if (!atomic_load(&deadline.is_on)) {
		return -1;
	}
	for (int i = 0; i < FILES_MAX; i++) {
		struct file *file = &deadline.files[i];
		int wanted = FILE_FREE;
		if (!atomic_compare_exchange_strong(&file->state, &wanted, FILE_CHANGING)) {
			continue;
		}
		size_t length = strlen(path);
		size_t begin = length < PATH_BYTES ? 0 : length - (PATH_BYTES - 1);
		memcpy(file->path, path + begin, length - begin + 1);
		atomic_store(&file->state, FILE_READ);
		return i;
	}
	return -1;
}

void fsl_deadline_file_end(int number)
{
	if (number >= 0) {
		atomic_store(&deadline.files[number].state, FILE_FREE);
	}
}
