/* What the meter found on a path, by the sound alone and the witness. Times are frames on the meter's line of time. */
#ifndef RESULT_H
#define RESULT_H

#include "meter.h"

#include <stdio.h>

/* A bare timer thread, of the priority of the programs under test: where it is late, the machine stood still. */
struct lateness {
    int64_t due, awake; /* frames */
};

struct witness {
    struct lateness late[100000]; /* by `late_ms` and more */
    size_t count;
    double worst_ms;
};

struct path {
    struct line *feed, *sink; /* no feed: something that has the pilot alone is played by others */
};

struct question {
    const struct path *paths;
    size_t path_count;
    const int64_t *chirps;
    size_t chirp_count;
    double settle; /* s after the first sound from which gaps count */
    const struct witness *witness;
};

/* JSON. */
void report(const struct question *question, FILE *out);

#endif
