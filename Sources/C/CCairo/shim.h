#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>

#include "../COnDemand/on-demand.h"

#define TENFOUR_CAIRO(F) \
    F(cairo_close_path) \
    F(cairo_create) \
    F(cairo_destroy) \
    F(cairo_fill) \
    F(cairo_image_surface_create) \
    F(cairo_line_to) \
    F(cairo_move_to) \
    F(cairo_rectangle) \
    F(cairo_select_font_face) \
    F(cairo_set_font_size) \
    F(cairo_set_line_cap) \
    F(cairo_set_line_join) \
    F(cairo_set_line_width) \
    F(cairo_set_source_rgba) \
    F(cairo_show_text) \
    F(cairo_status) \
    F(cairo_status_to_string) \
    F(cairo_stroke) \
    F(cairo_surface_destroy) \
    F(cairo_surface_finish) \
    F(cairo_surface_status) \
    F(cairo_surface_write_to_png_stream) \
    F(cairo_svg_surface_create_for_stream) \
    F(cairo_svg_surface_set_document_unit) \
    F(cairo_text_extents)

TENFOUR_ON_DEMAND(tenfour_cairo, TENFOUR_CAIRO)
