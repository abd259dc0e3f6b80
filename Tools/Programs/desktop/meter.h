/*
 * What the two kinds of sound server have in common for the meter: sound on one line of time. Frame 0 is when the meter began;
 * a frame is 1/48000 s of CLOCK_MONOTONIC. Each line is written by one thread and read when that has ended.
 */
#ifndef METER_H
#define METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RATE = 48000, PATHS_MAX = 4, HOLES_MAX = 1000 };

struct hole {
    int64_t start, length; /* frames */
};

/* What was played to a sink, or into a microphone's feed. */
struct line {
    const char *node; /* the sink, or the feed */
    int16_t *sound;
    _Atomic int64_t next; /* the frame that is heard next, 0 before the first */
    int64_t max;          /* room */
    struct hole holes[HOLES_MAX]; /* that the meter itself did not hear, or could not feed */
    size_t hole_count;
};

extern atomic_bool ending;
extern int64_t origin; /* CLOCK_MONOTONIC of frame 0, ns */
extern int meter_priority; /* of the meter's own threads, by SCHED_FIFO; 0: ordinary */

int64_t frame_of(int64_t nanoseconds);
int64_t now(void);
void note_hole(struct line *line, int64_t start, int64_t length);

/* Sound that a server says belongs to `frame`. What lies between this and what came before becomes silence, and a hole. */
void hear(struct line *line, int64_t frame, const float *sound, size_t count);

/* The frames first..<first + count of the signal. */
void signal_at(int64_t first, float *sound, size_t count);

void become_real_time(void);

/* A server: both are called before `run`, which returns when `ending` is set. A server that goes away is waited for. */
struct server {
    void (*listen)(struct line *sink);
    void (*feed)(struct line *feed);
    void (*run)(void);
};

extern const struct server pipewire_server, pulse_server;

#endif
