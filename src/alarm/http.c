/* Posts documents by libcurl, and signs them by libcrypto; both are loaded when they are needed. */
#include "alarm/http.h"

#include <stdio.h>
#include <string.h>

#include "alarm/channel.h"

#ifdef FSL_HAVE_CURL

#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION /* CURLOPT_PROTOCOLS: its successor is too new for openEuler */
#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/library.h"

/* Functions of libcurl 7.32 and later, and of libcrypto 3, once they are loaded. */
static struct {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_setopt) *set;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_getinfo) *get;
	__typeof__(curl_easy_strerror) *error_text;
	__typeof__(curl_easy_cleanup) *cleanup;
	__typeof__(curl_slist_append) *append;
	__typeof__(curl_slist_free_all) *free_all;
	__typeof__(curl_version_info) *version;
} http;
static struct {
	__typeof__(HMAC) *hmac;
	__typeof__(EVP_sha256) *sha256;
} crypto;

static bool load_http(void)
{
	const struct fsl_symbol symbols[] = {
		{"curl_global_init", &http.global_init}, {"curl_easy_init", &http.init},
		{"curl_easy_setopt", &http.set},         {"curl_easy_perform", &http.perform},
		{"curl_easy_getinfo", &http.get},        {"curl_easy_strerror", &http.error_text},
		{"curl_easy_cleanup", &http.cleanup},    {"curl_slist_append", &http.append},
		{"curl_slist_free_all", &http.free_all}, {"curl_version_info", &http.version},
	};
	return http.version != NULL ||
	       fsl_library_load("libcurl.so.4", symbols, sizeof(symbols) / sizeof(symbols[0]));
}

static bool load_crypto(void)
{
	const struct fsl_symbol symbols[] = {{"EVP_sha256", &crypto.sha256},
					     {"HMAC", &crypto.hmac}};
	return crypto.hmac != NULL || fsl_library_load("libcrypto.so.3", symbols, 2);
}

/* Scheme and host: a path or a user may be secret. */
static int shown_length(const char *url)
{
	const char *host = strstr(url, "://");
	host = host != NULL ? host + strlen("://") : url;
	size_t n = strcspn(host, "/?#");
	const char *user = memchr(host, '@', n);
	return user != NULL ? 0 : (int)((size_t)(host - url) + n);
}

static size_t drop(char *data, size_t size, size_t n, void *unused)
{
	(void)data;
	(void)unused;
	return size * n;
}

static enum fsl_status fail(const struct fsl_http_post *post, enum fsl_status status,
			    const char *why, long answer, struct fsl_error *err)
{
	return FSL_FAIL(err, status,
			"cannot post to a receiver, check its address and log: key=\"%s\", "
			"receiver=\"%.*s\", answer=%ld, reason=\"%s\"",
			post->key, shown_length(post->url), post->url, answer, why);
}

static struct curl_slist *add_headers(const struct fsl_http_post *post)
{
	struct curl_slist *list = http.append(NULL, "Content-Type: application/json");
	for (size_t i = 0; i < FSL_HTTP_HEADERS_MAX && post->headers[i] != NULL; i++) {
		struct curl_slist *longer = http.append(list, post->headers[i]);
		if (list == NULL || longer == NULL) {
			http.free_all(list);
			return NULL;
		}
		list = longer;
	}
	return list;
}

static CURLcode prepare(CURL *curl, const struct fsl_http_post *post, struct curl_slist *headers,
			char *why)
{
	const struct {
		CURLoption option;
		long value;
	} numbers[] = {
		{CURLOPT_TIMEOUT_MS, fsl_clock_left_ms(post->deadline_ns)},
		{CURLOPT_NOSIGNAL, 1L},
		{CURLOPT_FOLLOWLOCATION, 0L},
		{CURLOPT_POSTFIELDSIZE, (long)strlen(post->body)},
		{CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS},
		{CURLOPT_SSL_VERIFYPEER, 1L},
		{CURLOPT_SSL_VERIFYHOST, 2L},
	};
	CURLcode code = http.set(curl, CURLOPT_URL, post->url);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && code == CURLE_OK; i++) {
		code = http.set(curl, numbers[i].option, numbers[i].value);
	}
	code = code == CURLE_OK ? http.set(curl, CURLOPT_POSTFIELDS, post->body) : code;
	code = code == CURLE_OK ? http.set(curl, CURLOPT_HTTPHEADER, headers) : code;
	code = code == CURLE_OK ? http.set(curl, CURLOPT_ERRORBUFFER, why) : code;
	code = code == CURLE_OK ? http.set(curl, CURLOPT_USERAGENT, "failslow") : code;
	return code == CURLE_OK ? http.set(curl, CURLOPT_WRITEFUNCTION, drop) : code;
}

static enum fsl_status judge(const struct fsl_http_post *post, CURL *curl, CURLcode code,
			     const char *why, struct fsl_error *err)
{
	enum { REQUEST_TIMEOUT = 408, TOO_MANY_REQUESTS = 429 };
	long answer = 0;
	(void)http.get(curl, CURLINFO_RESPONSE_CODE, &answer);
	if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
		return fail(post, FSL_ERR_CONFIG, "no address as in https://host/path", 0, err);
	}
	if (code != CURLE_OK) {
		return fail(post, FSL_ERR_IO, *why != '\0' ? why : http.error_text(code), answer,
			    err);
	}
	if (answer / 100 == 2) {
		return FSL_OK;
	}
	bool is_final =
		answer / 100 == 4 && answer != REQUEST_TIMEOUT && answer != TOO_MANY_REQUESTS;
	return fail(post, is_final ? FSL_ERR_CONFIG : FSL_ERR_IO, "it did not take the document",
		    answer, err);
}

enum fsl_status fsl_http_send(const struct fsl_http_post *post, struct fsl_error *err)
{
	char why[CURL_ERROR_SIZE] = "";
	if (fsl_clock_left_ms(post->deadline_ns) == 0) {
		return fail(post, FSL_ERR_IO, "no time is left (alarm_timeout_s)", 0, err);
	}
	if (!load_http()) {
		return fail(post, FSL_ERR_CONFIG, "libcurl is not installed", 0, err);
	}
	CURL *curl = http.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? http.init() : NULL;
	struct curl_slist *headers = curl != NULL ? add_headers(post) : NULL;
	enum fsl_status status = FSL_OK;
	if (headers == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: key=\"%s\"", post->key);
	} else {
		CURLcode code = prepare(curl, post, headers, why);
		code = code == CURLE_OK ? http.perform(curl) : code;
		status = judge(post, curl, code, why, err);
	}
	http.free_all(headers);
	if (curl != NULL) {
		http.cleanup(curl);
	}
	return status;
}

enum fsl_status fsl_hmac_sha256(char out[FSL_HMAC_CHARS + 1], const char *key, const char *text,
				struct fsl_error *err)
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	if (!load_crypto()) {
		return FSL_FAIL(err, FSL_ERR_CONFIG,
				"libcrypto is not installed: key=\"webhook_secret_file\"");
	}
	if (crypto.hmac(crypto.sha256(), key, (int)strlen(key), (const unsigned char *)text,
			strlen(text), bytes, &n) == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"signature\"");
	}
	for (unsigned i = 0; i < n && i < FSL_HMAC_CHARS / 2; i++) {
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	}
	return FSL_OK;
}

const char *fsl_http_version(void)
{
	return load_http() ? http.version(CURLVERSION_NOW)->version : "no";
}

#else

enum fsl_status fsl_http_send(const struct fsl_http_post *post, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_CONFIG,
			"built without libcurl, install a build with it or remove the key: "
			"key=\"%s\"",
			post->key);
}

enum fsl_status fsl_hmac_sha256(char out[FSL_HMAC_CHARS + 1], const char *key, const char *text,
				struct fsl_error *err)
{
	(void)key;
	(void)text;
	*out = '\0';
	return FSL_FAIL(err, FSL_ERR_CONFIG,
			"built without libcrypto: key=\"webhook_secret_file\"");
}

const char *fsl_http_version(void)
{
	return "no";
}

#endif
