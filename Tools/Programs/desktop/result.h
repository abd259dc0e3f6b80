/* The meter's results for a path, computed from the recordings and the witness only. Times are frames on the meter's time line.
   */
#ifndef RESULT_H
#define RESULT_H

#include "meter.h"

#include <stdio.h>

/* A thread with only a timer and the priority of the programs under test: if it is late, the machine stalled. */
struct lateness {
    int64_t due, awake; /* frames */
};

struct witness {
    struct lateness late[100000]; /* all that were late by `late_ms` or more */
    size_t count;
    double worst_ms;
};

struct path {
    struct line *feed, *sink; /* `feed` is NULL if other programs play a file that has only the pilot */
};

struct question {
    const struct path *paths;
    size_t path_count;
    const int64_t *chirps;
    size_t chirp_count;
    double settle; /* gaps count from this number of seconds after the first audible frame */
    const struct witness *witness;
};

/* Writes the results as JSON. */
void report(const struct question *question, FILE *out);

#endif
