/* Loads librsvg and cairo while the program runs, so that it does not need them to start. */
#include "report/page/png.h"

#include <dlfcn.h>
#include <string.h>

#include "base/mem.h"
#include "base/try.h"

enum { PIXELS_WIDE = 1680, FORMAT_ARGB32 = 0 };

/* As in librsvg/rsvg.h. */
struct viewport {
	double x, y, width, height;
};

/* Functions of both libraries, by their names there. */
struct drawing {
	void *rsvg, *cairo;
	void *(*new_from_data)(const unsigned char *, size_t, void **);
	int (*intrinsic)(void *, int *, void *, int *, void *, int *, struct viewport *);
	int (*render)(void *, void *, const struct viewport *, void **);
	void *(*surface_create)(int, int, int);
	void *(*create)(void *);
	void (*set_rgb)(void *, double, double, double);
	void (*paint)(void *);
	int (*write)(void *, int (*)(void *, const unsigned char *, unsigned int), void *);
	void (*destroy)(void *);
	void (*surface_destroy)(void *);
	void (*unref)(void *);
};

/* ISO C knows no way from an object to a function. */
static bool find(void *library, const char *name, void *function)
{
	void *found = library != NULL ? dlsym(library, name) : NULL;
	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static enum fsl_status load(struct drawing *out, struct fsl_error *err)
{
	*out = (struct drawing){0};
	out->rsvg = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
	out->cairo = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
	if (out->rsvg == NULL || out->cairo == NULL ||
	    !find(out->rsvg, "rsvg_handle_new_from_data", &out->new_from_data) ||
	    !find(out->rsvg, "rsvg_handle_get_intrinsic_dimensions", &out->intrinsic) ||
	    !find(out->rsvg, "rsvg_handle_render_document", &out->render) ||
	    !find(out->rsvg, "g_object_unref", &out->unref) ||
	    !find(out->cairo, "cairo_image_surface_create", &out->surface_create) ||
	    !find(out->cairo, "cairo_create", &out->create) ||
	    !find(out->cairo, "cairo_set_source_rgb", &out->set_rgb) ||
	    !find(out->cairo, "cairo_paint", &out->paint) ||
	    !find(out->cairo, "cairo_surface_write_to_png_stream", &out->write) ||
	    !find(out->cairo, "cairo_destroy", &out->destroy) ||
	    !find(out->cairo, "cairo_surface_destroy", &out->surface_destroy)) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"PNG needs librsvg, which is not installed; install librsvg2-2 or "
				"librsvg2, or use --svg");
	}
	return FSL_OK;
}

static int take(void *to, const unsigned char *bytes, unsigned int n_bytes)
{
	fsl_pack_packed(to, bytes, n_bytes);
	return 0; /* CAIRO_STATUS_SUCCESS */
}

static bool draw(struct fsl_pack *out, const struct drawing *with, const struct fsl_pack *svg)
{
	int has_width = 0, has_height = 0, has_box = 0;
	double length[2] = {0.0, 0.0}, other[2] = {0.0, 0.0}; /* an RsvgLength fits */
	struct viewport box = {0};
	void *handle = with->new_from_data(svg->bytes, svg->n_bytes, NULL);
	if (handle == NULL) {
		return false;
	}
	(void)with->intrinsic(handle, &has_width, length, &has_height, other, &has_box, &box);
	double scale = box.width > 0.0 ? PIXELS_WIDE / box.width : 1.0;
	struct viewport whole = {0.0, 0.0, PIXELS_WIDE, box.height * scale};
	void *surface = with->surface_create(FORMAT_ARGB32, PIXELS_WIDE, (int)(whole.height + 1.0));
	void *context = with->create(surface);
	with->set_rgb(context, 1.0, 1.0, 1.0);
	with->paint(context);
	bool is_drawn = has_box != 0 && with->render(handle, context, &whole, NULL) != 0 &&
			with->write(surface, take, out) == 0;
	with->destroy(context);
	with->surface_destroy(surface);
	with->unref(handle);
	return is_drawn;
}

/* Value of a custom property in the first block of the style, which has the light colours; NULL if
 * there is none. *n_bytes: its length. @name: with its dashes. */
static const char *value_of(const char *style, const char *name, size_t n_name, size_t *n_bytes)
{
	const char *end = style != NULL ? strchr(style, '}') : NULL;
	for (const char *at = style; end != NULL && at != NULL && at < end; at = strchr(at, ';')) {
		at += strspn(at, ";\n");
		if (strncmp(at, name, n_name) == 0 && at[n_name] == ':') {
			const char *value = at + n_name + 1;
			*n_bytes = strcspn(value, ";}");
			return value;
		}
	}
	return NULL;
}

/* Copies an SVG with the values of its colours in place of their names: librsvg knows no custom
 * properties, and draws what has none in black or not at all. */
static void name_colours(struct fsl_pack *out, const struct fsl_pack *svg)
{
	struct fsl_pack whole = {0};
	fsl_pack_packed(&whole, svg->bytes, svg->n_bytes);
	fsl_pack_u8(&whole, 0);
	const char *text = whole.is_failed ? "" : (const char *)whole.bytes;
	const char *root = strstr(text, ":root{"), *style = root != NULL ? root + 6 : NULL;
	for (const char *use = strstr(text, "var("); use != NULL; use = strstr(text, "var(")) {
		size_t n_name = strcspn(use + 4, ")"), n_bytes = 0;
		const char *value = value_of(style, use + 4, n_name, &n_bytes);
		fsl_pack_packed(out, text, (size_t)(use - text));
		if (value != NULL) {
			fsl_pack_packed(out, value, n_bytes);
		}
		text = use + 4 + n_name + (use[4 + n_name] == ')');
	}
	fsl_pack_packed(out, text, strlen(text));
	out->is_failed |= whole.is_failed;
	fsl_pack_fini(&whole);
}

enum fsl_status fsl_html_png_of(struct fsl_pack *out, const struct fsl_pack *svg,
				struct fsl_error *err)
{
	struct drawing with;
	struct fsl_pack named = {0};
	FSL_TRY(load(&with, err));
	name_colours(&named, svg);
	enum fsl_status status = FSL_OK;
	if (named.is_failed) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: picture");
	} else if (!draw(out, &with, &named)) {
		status = FSL_FAIL(err, FSL_ERR_INPUT, "librsvg could not draw the picture");
	}
	fsl_pack_fini(&named);
	return status;
}

enum fsl_status fsl_html_make_png(struct fsl_pack *out, const cJSON *document, const char *name,
				  struct fsl_error *err)
{
	struct fsl_pack svg = {0};
	enum fsl_status status = fsl_html_make_chart(&svg, document, name, err);
	FSL_THEN(status, fsl_html_png_of(out, &svg, err));
	fsl_pack_fini(&svg);
	return status;
}
