#ifndef CGPIOD_SHIM_H
#define CGPIOD_SHIM_H

#include <stdbool.h>
#include <time.h>

#include "../COnDemand/on-demand.h"

/* The part of libgpiod 1.6 (libgpiod.so.2) that is used, declared here, because <gpiod.h> of Debian 13 is that of libgpiod 2, whose
   functions are others. Tests/TestSupport/Libraries/gpiodheader.c compares these declarations with the header of 1.6. */

struct gpiod_chip;
struct gpiod_chip_iter;
struct gpiod_line;

#ifndef CGPIOD_HAS_STRUCTURES
struct gpiod_line_request_config {
    const char *consumer;
    int request_type;
    int flags;
};

struct gpiod_line_event {
    struct timespec ts;
    int event_type;
};
#endif

enum {
    CGPIOD_EVENT_BOTH_EDGES = 6,
    CGPIOD_ACTIVE_LOW = 1 << 2,
    CGPIOD_BIAS_DISABLE = 1 << 3,
    CGPIOD_PULL_DOWN = 1 << 4,
    CGPIOD_PULL_UP = 1 << 5,
    CGPIOD_RISING_EDGE = 1,
};

void gpiod_chip_iter_free(struct gpiod_chip_iter *iter);
struct gpiod_chip_iter *gpiod_chip_iter_new(void);
struct gpiod_chip *gpiod_chip_iter_next(struct gpiod_chip_iter *iter);
struct gpiod_line *gpiod_chip_get_line(struct gpiod_chip *chip, unsigned int offset);
const char *gpiod_chip_name(struct gpiod_chip *chip);
unsigned int gpiod_chip_num_lines(struct gpiod_chip *chip);
void gpiod_line_close_chip(struct gpiod_line *line);
const char *gpiod_line_consumer(struct gpiod_line *line);
int gpiod_line_event_get_fd(struct gpiod_line *line);
int gpiod_line_event_read_fd_multiple(int fd, struct gpiod_line_event *events, unsigned int num_events);
struct gpiod_line *gpiod_line_find(const char *name);
int gpiod_line_get_value(struct gpiod_line *line);
bool gpiod_line_is_used(struct gpiod_line *line);
const char *gpiod_line_name(struct gpiod_line *line);
int gpiod_line_request(struct gpiod_line *line, const struct gpiod_line_request_config *config, int default_val);

#define TENFOUR_GPIOD(F) \
    F(gpiod_chip_iter_free) \
    F(gpiod_chip_iter_new) \
    F(gpiod_chip_iter_next) \
    F(gpiod_chip_get_line) \
    F(gpiod_chip_name) \
    F(gpiod_chip_num_lines) \
    F(gpiod_line_close_chip) \
    F(gpiod_line_consumer) \
    F(gpiod_line_event_get_fd) \
    F(gpiod_line_event_read_fd_multiple) \
    F(gpiod_line_find) \
    F(gpiod_line_get_value) \
    F(gpiod_line_is_used) \
    F(gpiod_line_name) \
    F(gpiod_line_request)

TENFOUR_ON_DEMAND(tenfour_gpiod, TENFOUR_GPIOD)

#endif
