/* Datagrams to the service manager. */
#include "base/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"

enum { MESSAGE_BYTES = 1024 };
#define NS_PER_US       INT64_C(1000)
#define WATCHDOG_US_MAX (INT64_MAX / NS_PER_US)

/* The number in a variable of the environment; -1: none. */
static int64_t number_of(const char *name)
{
	const char *text = getenv(name);
	int64_t number = -1;
	return text != NULL && fsl_parse_i64(text, strlen(text), &number) ? number : -1;
}

/* False if @text is no address: relative, or too long. */
static bool set_address(struct fsl_notify *notify, const char *text)
{
	size_t length = strlen(text);
	if ((text[0] != '/' && text[0] != '@') || length < 2 ||
	    length >= sizeof(notify->address.sun_path)) {
		return false;
	}
	notify->address.sun_family = AF_UNIX;
	memcpy(notify->address.sun_path, text, length);
	if (text[0] == '@') {
		notify->address.sun_path[0] = '\0';
	}
	/* A name without a file has no NUL at its end. */
	notify->n_address = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length +
					(text[0] == '/' ? 1 : 0));
	return true;
}

void fsl_notify_open(struct fsl_notify *notify)
{
	const char *socket_name = getenv("NOTIFY_SOCKET");
	int64_t watchdog_us = number_of("WATCHDOG_USEC"), pid = number_of("WATCHDOG_PID");
	*notify = (struct fsl_notify){.fd = -1};
	if (socket_name != NULL && set_address(notify, socket_name)) {
		notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	if (watchdog_us > 0 && watchdog_us <= WATCHDOG_US_MAX && (pid < 0 || pid == getpid())) {
		notify->watchdog_ns = watchdog_us * NS_PER_US;
	}
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

void fsl_notify_close(struct fsl_notify *notify)
{
	if (notify->fd >= 0) {
		(void)close(notify->fd);
	}
	notify->fd = -1;
}

void fsl_notify_send(const struct fsl_notify *notify, const char *format, ...)
{
	char message[MESSAGE_BYTES];
	va_list args;
	if (notify->fd < 0) {
		return;
	}
	va_start(args, format);
	int length = vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (length > 0) {
		size_t n = (size_t)length < sizeof(message) ? (size_t)length : sizeof(message) - 1;
		(void)sendto(notify->fd, message, n, MSG_NOSIGNAL | MSG_DONTWAIT,
			     (const struct sockaddr *)&notify->address, notify->n_address);
	}
}
