/*
 * Tells a service manager what a service does: the protocol of systemd, one datagram to the socket
 * that $NOTIFY_SOCKET names. Without that variable nothing is sent.
 */
#ifndef FSL_BASE_NOTIFY_H
#define FSL_BASE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/socket.h>
#include <sys/un.h>

struct fsl_notify {
	int fd; /* -1: nobody listens */
	struct sockaddr_un address;
	socklen_t n_address;
	int64_t watchdog_ns; /* the manager ends the service without a sign of life for so long; 0:
			      * never */
};

/*
 * Reads $NOTIFY_SOCKET (a path, or @name for a name without a file), $WATCHDOG_USEC and
 * $WATCHDOG_PID, and removes them from the environment, so that processes that are started later do
 * not speak for this one. Release with fsl_notify_close.
 */
void fsl_notify_open(struct fsl_notify *notify);
void fsl_notify_close(struct fsl_notify *notify);

/* Sends "NAME=value" lines made by @format. A manager that does not listen is no failure. */
void fsl_notify_send(const struct fsl_notify *notify, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
