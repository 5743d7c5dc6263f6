/* What the environment says about the service manager, and what it gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/notify.h"

static struct fsl_notify opened(const char *address, const char *watchdog_us, const char *pid)
{
	struct fsl_notify notify;
	(void)setenv("NOTIFY_SOCKET", address, 1);
	(void)setenv("WATCHDOG_USEC", watchdog_us, 1);
	(void)setenv("WATCHDOG_PID", pid, 1);
	fsl_notify_open(&notify);
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_null(getenv("WATCHDOG_USEC"));
	assert_null(getenv("WATCHDOG_PID"));
	return notify;
}

static void without_a_manager_nothing_is_sent(void **state)
{
	(void)state;
	char address[200];
	memset(address, 'a', sizeof(address) - 1);
	address[0] = '/';
	address[sizeof(address) - 1] = '\0';
	const char *const none[] = {"", "relative", "@", "/", "vsock:2:1", address};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct fsl_notify notify = opened(none[i], "", "");
		assert_int_equal(notify.fd, -1);
		fsl_notify_send(&notify, "READY=%d", 1);
		fsl_notify_close(&notify);
	}
}

static void a_message_arrives_at_a_name_without_a_file(void **state)
{
	(void)state;
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	char address[64], message[2048];
	int listener = socket(AF_UNIX, SOCK_DGRAM, 0);
	int length = snprintf(address, sizeof(address), "@fsl-notify-%d", (int)getpid());
	memcpy(name.sun_path + 1, address + 1, (size_t)length - 1);
	assert_int_equal(bind(listener, (const struct sockaddr *)&name,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length)),
			 0);
	struct fsl_notify notify = opened(address, "", "");
	fsl_notify_send(&notify, "STATUS=%s", "rank 3");
	assert_int_equal(recv(listener, message, sizeof(message), MSG_DONTWAIT), 13);
	assert_memory_equal(message, "STATUS=rank 3", 13);
	fsl_notify_send(&notify, "%2000d", 7); /* cut */
	assert_int_equal(recv(listener, message, sizeof(message), MSG_DONTWAIT), 1023);
	fsl_notify_close(&notify);
	(void)close(listener);
}

static void the_watchdog_is_that_of_this_process(void **state)
{
	(void)state;
	char own[32];
	(void)snprintf(own, sizeof(own), "%d", (int)getpid());
	assert_int_equal(opened("", "2000000", own).watchdog_ns, INT64_C(2000000000));
	assert_int_equal(opened("", "30", "").watchdog_ns, 30000);
	assert_int_equal(opened("", "2000000", "1").watchdog_ns, 0);
	assert_int_equal(opened("", "0", own).watchdog_ns, 0);
	assert_int_equal(opened("", "-5", own).watchdog_ns, 0);
	assert_int_equal(opened("", "soon", own).watchdog_ns, 0);
	assert_int_equal(opened("", "9223372036854775807", own).watchdog_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_manager_nothing_is_sent),
		cmocka_unit_test(a_message_arrives_at_a_name_without_a_file),
		cmocka_unit_test(the_watchdog_is_that_of_this_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
