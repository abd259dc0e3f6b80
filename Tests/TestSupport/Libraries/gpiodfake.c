/* Functions of libgpiod 1.6 (libgpiod.so.2) over files, for tests on machines without GPIO lines. A line's name is the path of a
   named pipe, from which its events are read, each as a `struct gpiod_line_event`. Beside it may be

     NAME.denied   the user may not open the chip
     NAME.busy     the line is in use; the file has the name of the user
     NAME.nobias   the chip has no resistors
     NAME.value    '1' if the line is active; otherwise it is not

   and the flags of the last request are written into NAME.request. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Words of Clang. */
#define _Nonnull
#define _Nullable
#include "../../../Sources/C/CGPIOD/shim.h"

struct gpiod_chip {
    int number;
};

struct gpiod_chip_iter {
    struct gpiod_chip chip;
};

struct gpiod_line {
    char name[256];
    char consumer[64];
    int descriptor;
    const char *fixed;
};

static void path(char *path, const struct gpiod_line *line, const char *suffix) { snprintf(path, 320, "%s.%s", line->name, suffix); }

static int has(const struct gpiod_line *line, const char *suffix) {
    char file[320];
    path(file, line, suffix);
    return access(file, F_OK) == 0;
}

struct gpiod_line *gpiod_line_find(const char *name) {
    if (access(name, F_OK) != 0) return NULL;
    struct gpiod_line *line = calloc(1, sizeof *line);
    snprintf(line->name, sizeof line->name, "%s", name);
    line->descriptor = -1;
    if (!has(line, "denied")) return line;
    free(line);
    errno = EACCES;
    return NULL;
}

void gpiod_line_close_chip(struct gpiod_line *line) {
    if (line->descriptor >= 0) close(line->descriptor);
    free(line);
}

int gpiod_line_request(struct gpiod_line *line, const struct gpiod_line_request_config *config, int default_val) {
    (void)default_val;
    char file[320];
    int code = has(line, "busy") ? EBUSY : has(line, "nobias") && config->flags & ~CGPIOD_ACTIVE_LOW ? EINVAL : 0;
    if (code == EBUSY) {
        path(file, line, "busy");
        FILE *busy = fopen(file, "r");
        if (busy && !fgets(line->consumer, sizeof line->consumer, busy)) line->consumer[0] = 0;
        if (busy) fclose(busy);
    }
    if (code) {
        errno = code;
        return -1;
    }
    path(file, line, "request");
    FILE *request = fopen(file, "w");
    fprintf(request, "%s %d %d", config->consumer, config->request_type, config->flags);
    fclose(request);
    line->descriptor = open(line->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return line->descriptor >= 0 ? 0 : -1;
}

const char *gpiod_line_consumer(struct gpiod_line *line) {
    return line->fixed ? "i2c1" : line->consumer[0] ? line->consumer : NULL;
}
int gpiod_line_event_get_fd(struct gpiod_line *line) { return line->descriptor; }

int gpiod_line_event_read_fd_multiple(int fd, struct gpiod_line_event *events, unsigned int num_events) {
    ssize_t count = read(fd, events, num_events * sizeof *events);
    return count < 0 ? -1 : (int)(count / (ssize_t)sizeof *events);
}

int gpiod_line_get_value(struct gpiod_line *line) {
    char file[320], value = '0';
    path(file, line, "value");
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        if (read(descriptor, &value, 1) != 1) value = '0';
        close(descriptor);
    }
    return value == '1';
}

/* Two chips of three lines for lists: the first line is in use, the second has no name. */
struct gpiod_chip_iter *gpiod_chip_iter_new(void) { return calloc(1, sizeof(struct gpiod_chip_iter)); }
void gpiod_chip_iter_free(struct gpiod_chip_iter *iter) { free(iter); }

struct gpiod_chip *gpiod_chip_iter_next(struct gpiod_chip_iter *iter) {
    return iter->chip.number++ < 2 ? &iter->chip : NULL;
}

const char *gpiod_chip_name(struct gpiod_chip *chip) { return chip->number == 1 ? "gpiochip0" : "gpiochip1"; }
unsigned int gpiod_chip_num_lines(struct gpiod_chip *chip) { return chip->number ? 3 : 0; }

struct gpiod_line *gpiod_chip_get_line(struct gpiod_chip *chip, unsigned int offset) {
    static struct gpiod_line lines[] = {{.fixed = "ID_SDA"}, {.fixed = NULL}, {.fixed = "PTT"}};
    (void)chip;
    return &lines[offset];
}

const char *gpiod_line_name(struct gpiod_line *line) { return line->fixed; }
bool gpiod_line_is_used(struct gpiod_line *line) { return line->fixed && strcmp(line->fixed, "ID_SDA") == 0; }
