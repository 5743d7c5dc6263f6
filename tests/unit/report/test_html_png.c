/* PNG of a chart: its colours are those of the style, whose names librsvg does not know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "report/page/png.h"

/* First pixel of a PNG of colours. That of the first line is the same with all filters. */
static uint32_t first_pixel(const struct fsl_pack *png)
{
	z_stream stream = {.next_in = Z_NULL};
	uint8_t pixel[4] = {0};
	assert_int_equal(inflateInit(&stream), Z_OK);
	stream.next_out = pixel;
	stream.avail_out = sizeof(pixel);
	for (size_t at = 8; at + 12 <= png->n_bytes && stream.avail_out > 0;) {
		const uint8_t *chunk = png->bytes + at;
		uint32_t n = (uint32_t)chunk[0] << 24 | (uint32_t)chunk[1] << 16 |
			     (uint32_t)chunk[2] << 8 | chunk[3];
		assert_true(at + 12 + n <= png->n_bytes);
		if (memcmp(chunk + 4, "IDAT", 4) == 0) {
			stream.next_in = (uint8_t *)chunk + 8;
			stream.avail_in = n;
			(void)inflate(&stream, Z_SYNC_FLUSH);
		}
		at += 12 + n;
	}
	assert_int_equal(stream.avail_out, 0);
	(void)inflateEnd(&stream);
	return (uint32_t)pixel[1] << 16 | (uint32_t)pixel[2] << 8 | pixel[3];
}

/* Colour of a picture that is filled with @fill. Skips the test without librsvg. */
static uint32_t colour_of(const char *fill)
{
	char svg[512];
	struct fsl_pack in = {0}, out = {0};
	struct fsl_error err = {0};
	(void)snprintf(svg, sizeof(svg),
		       "<svg viewBox=\"0 0 560 2\" xmlns=\"http://www.w3.org/2000/svg\"><style>\n"
		       ":root{--bg:#010203;--hot:#c84a12;\n--hotink:#fff}"
		       "@media (prefers-color-scheme:dark){:root{--hot:#f0804a}}"
		       ".x{fill:%s}</style><rect class=\"x\" width=\"560\" height=\"2\"/></svg>",
		       fill);
	fsl_pack_packed(&in, svg, strlen(svg));
	enum fsl_status status = fsl_html_png_of(&out, &in, &err);
	fsl_pack_fini(&in);
	if (status == FSL_ERR_INPUT && strstr(fsl_error_root(&err), "not installed") != NULL) {
		fsl_pack_fini(&out);
		skip();
	}
	assert_int_equal(status, FSL_OK);
	uint32_t colour = first_pixel(&out);
	fsl_pack_fini(&out);
	return colour;
}

static void names_of_colours_have_their_light_values(void **state)
{
	(void)state;
	assert_int_equal(colour_of("#123456"), 0x123456);
	assert_int_equal(colour_of("var(--hot)"), 0xc84a12);
	assert_int_equal(colour_of("var(--bg)"), 0x010203);
	assert_int_equal(colour_of("var(--hotink)"), 0xffffff);
}

static void a_broken_picture_is_an_error(void **state)
{
	(void)state;
	const char *texts[] = {"", "var(", "<svg>", ":root{--hot:#fff", "<svg fill=\"var(--hot\""};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct fsl_pack in = {0}, out = {0};
		fsl_pack_packed(&in, texts[i], strlen(texts[i]));
		assert_int_equal(fsl_html_png_of(&out, &in, NULL), FSL_ERR_INPUT);
		fsl_pack_fini(&in);
		fsl_pack_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_colours_have_their_light_values),
		cmocka_unit_test(a_broken_picture_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
