/* Posts documents over HTTP and HTTPS, by libcurl if the program was built with it. */
#ifndef FSL_ALARM_HTTP_H
#define FSL_ALARM_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

enum { FSL_HTTP_HEADERS_MAX = 4 };

struct fsl_http_post {
	const char *key;                           /* of the configuration, for messages */
	const char *url;                           /* never told whole: it may hold a secret */
	const char *body;                          /* JSON */
	const char *headers[FSL_HTTP_HEADERS_MAX]; /* "Name: value"; NULL ends them */
	int64_t deadline_ns;                       /* fsl_clock_ns */
};

/*
 * FSL_OK if the receiver answered with 2xx. Certificates are verified; redirects are not followed,
 * and no other protocol is spoken. FSL_ERR_CONFIG: the address is none, the receiver refuses the
 * document (4xx but 408 and 429), or the program was built without libcurl. FSL_ERR_IO: anything
 * that may pass.
 */
enum fsl_status fsl_http_send(const struct fsl_http_post *post, struct fsl_error *err);

enum { FSL_HMAC_CHARS = 64 };
/* HMAC-SHA256 of @text as 64 hexadecimal digits. FSL_ERR_CONFIG: built without libcrypto. */
enum fsl_status fsl_hmac_sha256(char out[FSL_HMAC_CHARS + 1], const char *key, const char *text,
				struct fsl_error *err);

/* Version of libcurl, "7.88.1"; "no": the program does without, or it is not installed. */
const char *fsl_http_version(void);

#endif
