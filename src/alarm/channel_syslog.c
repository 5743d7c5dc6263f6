/* Logs each edge: RFC 5424 to a syslog daemon, or fields to the journal of systemd. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "alarm/channel.h"
#include "base/number.h"
#include "base/os_error.h"
#include "base/try.h"
#include "base/utf8.h"
#include "text/phrase.h"

/* Facility local0 with a severity (RFC 5424, 6.2.1). */
enum { LOCAL0 = 16, SEVERITIES_N = 8, CRITICAL = 2, WARNING = 4, NOTICE = 5 };
enum {
	VALUE_MAX = 1024, /* bytes of one value: a list of ranks is as long as the job is large */
	VALUES_N = 8,     /* in a message, at most */
	MESSAGE_MAX = 2 * VALUE_MAX * VALUES_N, /* with quotes escaped, and names */
};
static const char journal_path[] = "/run/systemd/journal/socket";

static bool is_on(const struct fsl_config *config)
{
	return config->syslog != NULL;
}

static int severity_of(const struct fsl_edge *edge)
{
	bool is_critical = strcmp(fsl_edge_text(edge, "severity"), "critical") == 0;
	return !fsl_edge_is_open(edge) ? NOTICE : is_critical ? CRITICAL : WARNING;
}

/* A text with room for the rest of a message; too long a message is cut. */
struct message {
	char text[MESSAGE_MAX];
	size_t length;
};

static void add_bytes(struct message *message, const char *bytes, size_t n)
{
	size_t room = sizeof(message->text) - message->length;
	n = n < room ? n : room;
	memcpy(message->text + message->length, bytes, n);
	message->length += n;
}

static void add(struct message *message, const char *text)
{
	add_bytes(message, text, strlen(text));
}

/* Bytes of @value that are told: whole characters. */
static size_t told_length(const char *value)
{
	size_t n = 0;
	while (value[n] != '\0') {
		size_t n_next = fsl_utf8_sequence(value + n);
		n_next = n_next > 0 ? n_next : 1;
		if (n + n_next > VALUE_MAX) {
			break;
		}
		n += n_next;
	}
	return n;
}

/* name="value" of structured data: quote, backslash and bracket are escaped (RFC 5424, 6.3.3). */
static void add_parameter(struct message *message, const char *name, const char *value)
{
	size_t n = told_length(value);
	add(message, " ");
	add(message, name);
	add(message, "=\"");
	for (size_t i = 0; i < n; i++) {
		bool is_special = strchr("\"\\]", value[i]) != NULL;
		add(message, is_special ? "\\" : "");
		add_bytes(message, value + i, 1);
	}
	add(message, "\"");
}

/*
 * A field of the journal's native protocol: NAME=value, or, if the value has a line break, the name
 * alone, and the value behind its length, 64 bits, least byte first. A line break in the name of a
 * folder makes no field of its own.
 */
static void add_field(struct message *message, const char *name, const char *value)
{
	size_t n = told_length(value);
	add(message, name);
	if (memchr(value, '\n', n) == NULL) {
		add(message, "=");
	} else {
		char length[8] = {0};
		for (size_t i = 0; i < sizeof(length); i++) {
			length[i] = (char)(unsigned char)((uint64_t)n >> (8 * i) & 0xff);
		}
		add(message, "\n");
		add_bytes(message, length, sizeof(length));
	}
	add_bytes(message, value, n);
	add(message, "\n");
}

/* Members of the edge by the names under which they are logged. */
static const struct {
	const char *name, *field, *key;
} told[] = {
	{"job", "FAILSLOW_JOB", "job"},        {"verdict", "FAILSLOW_VERDICT", "kind"},
	{"cause", "FAILSLOW_CAUSE", "cause"},  {"host", "FAILSLOW_HOST", "hostList"},
	{"rank", "FAILSLOW_RANK", "rankList"}, {"incident", "FAILSLOW_INCIDENT", "incident"},
};

static void make_rfc5424(struct message *message, const struct fsl_config *config,
			 const struct fsl_edge *edge)
{
	char head[512], host[256] = "-";
	if (gethostname(host, sizeof(host) - 1) != 0 || *host == '\0') {
		(void)snprintf(host, sizeof(host), "-");
	}
	(void)snprintf(head, sizeof(head), "<%d>1 %s %s failslow %ld incident-%s [failslow@%lld",
		       LOCAL0 * SEVERITIES_N + severity_of(edge), fsl_edge_text(edge, "time"), host,
		       (long)getpid(), edge->name, (long long)config->syslog_enterprise);
	add(message, head);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		add_parameter(message, told[i].name, fsl_edge_text(edge, told[i].key));
	}
	const char *headline = fsl_edge_text(edge, "headline");
	add(message, "] ");
	add_bytes(message, headline, told_length(headline));
}

static void make_journal(struct message *message, const struct fsl_edge *edge)
{
	char head[128];
	(void)snprintf(head, sizeof(head),
		       "PRIORITY=%d\nSYSLOG_FACILITY=%d\nSYSLOG_IDENTIFIER=failslow\n",
		       severity_of(edge), LOCAL0);
	add(message, head);
	add_field(message, "FAILSLOW_EDGE", edge->name);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		add_field(message, told[i].field, fsl_edge_text(edge, told[i].key));
	}
	add_field(message, "MESSAGE", fsl_edge_text(edge, "headline"));
}

static enum fsl_status fail(const char *receiver, const char *why, enum fsl_status status,
			    struct fsl_error *err)
{
	return FSL_FAIL(err, status,
			"cannot log, check that the daemon runs: key=\"syslog\", receiver=\"%s\", "
			"reason=\"%s\"",
			receiver, why);
}

static enum fsl_status send_to_path(const struct message *message, const char *path,
				    struct fsl_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		return fail(path, "the path is too long", FSL_ERR_CONFIG, err);
	}
	memcpy(address.sun_path, path, strlen(path));
	int end = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool is_sent = end >= 0 && sendto(end, message->text, message->length, MSG_NOSIGNAL,
					  (const struct sockaddr *)&address,
					  sizeof(address)) == (ssize_t)message->length;
	int code = errno;
	if (end >= 0) {
		close(end);
	}
	return is_sent ? FSL_OK : fail(path, fsl_os_error(code).text, FSL_ERR_IO, err);
}

/* @where: "host:514" or "[::1]:514". */
static enum fsl_status send_to_host(const struct message *message, const char *where,
				    struct fsl_error *err)
{
	char host[256];
	const char *colon = strrchr(where, ':');
	bool has_brackets = *where == '[' && colon > where && colon[-1] == ']';
	size_t n = colon != NULL ? (size_t)(colon - where) : strlen(where);
	const char *port = colon != NULL ? colon + 1 : "514";
	const char *begin = has_brackets ? where + 1 : where;
	n -= has_brackets ? 2 : 0;
	if (n == 0 || n >= sizeof(host)) {
		return fail(where, "no address as in udp://host:514", FSL_ERR_CONFIG, err);
	}
	memcpy(host, begin, n);
	host[n] = '\0';
	const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
	struct addrinfo *found = NULL;
	int code = getaddrinfo(host, port, &hints, &found);
	if (code != 0) {
		return fail(where, gai_strerror(code), FSL_ERR_IO, err);
	}
	int end = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_sent =
		end >= 0 && sendto(end, message->text, message->length, MSG_NOSIGNAL,
				   found->ai_addr, found->ai_addrlen) == (ssize_t)message->length;
	code = errno;
	if (end >= 0) {
		close(end);
	}
	freeaddrinfo(found);
	return is_sent ? FSL_OK : fail(where, fsl_os_error(code).text, FSL_ERR_IO, err);
}

/*
 * Socket of the journal if the receiver is one; NULL: it is not. Under systemd the journal reads
 * /dev/log, too, but does not know RFC 5424.
 */
static const char *find_journal(const char *where)
{
	static const char journald[] = "journald";
	struct stat facts;
	size_t n = strlen(journald);
	if (strncmp(where, journald, n) == 0 && where[n] == ':') {
		return where + n + 1;
	}
	bool is_local = strcmp(where, "local") == 0 && stat(journal_path, &facts) == 0 &&
			S_ISSOCK(facts.st_mode);
	return is_local || strcmp(where, journald) == 0 ? journal_path : NULL;
}

static enum fsl_status send_edge(const struct fsl_config *config, const struct fsl_edge *edge,
				 int64_t deadline_ns, struct fsl_error *err)
{
	static const char udp[] = "udp://", unix_path[] = "unix:";
	struct message message = {.length = 0};
	const char *where = config->syslog, *journal = find_journal(where);
	(void)deadline_ns; /* a datagram does not wait */
	if (journal != NULL) {
		make_journal(&message, edge);
		return send_to_path(&message, journal, err);
	}
	make_rfc5424(&message, config, edge);
	if (strcmp(where, "local") == 0) {
		return send_to_path(&message, "/dev/log", err);
	}
	if (strncmp(where, unix_path, strlen(unix_path)) == 0) {
		return send_to_path(&message, where + strlen(unix_path), err);
	}
	if (strncmp(where, udp, strlen(udp)) == 0) {
		return send_to_host(&message, where + strlen(udp), err);
	}
	return fail(where, "allowed: local, journald, journald:PATH, unix:PATH, udp://host:514",
		    FSL_ERR_CONFIG, err);
}

const struct fsl_channel fsl_channel_syslog = {
	.name = "syslog",
	.summary = "logs begins and ends of incidents, RFC 5424 or journald (syslog)",
	.is_on = is_on,
	.send = send_edge,
};
