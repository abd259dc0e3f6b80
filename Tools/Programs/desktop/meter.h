/*
 * The meter's parts for both kinds of sound server: audio on a common time line. Frame 0 is the time at which the meter began; a frame
 * is 1/48000 s of CLOCK_MONOTONIC. Each line is written by one thread and read when that thread has ended.
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

/* The audio played to a sink, or fed to a microphone. */
struct line {
    const char *node; /* the sink, or the feed */
    int16_t *sound;
    _Atomic int64_t next; /* the next frame to be heard; 0 before the first */
    int64_t max;          /* capacity in frames */
    struct hole holes[HOLES_MAX]; /* frames that the meter itself did not record, or could not feed */
    size_t hole_count;
};

extern atomic_bool ending;
extern int64_t origin; /* CLOCK_MONOTONIC of frame 0, ns */
extern int meter_priority; /* the SCHED_FIFO priority of the meter's own threads; 0: ordinary */

int64_t frame_of(int64_t nanoseconds);
int64_t now(void);
void note_hole(struct line *line, int64_t start, int64_t length);

/* Records audio that a server assigns to `frame`. The gap since the previous audio is filled with silence and noted as a hole.
   */
void hear(struct line *line, int64_t frame, const float *sound, size_t count);

/* Writes the frames first..<first + count of the test signal. */
void signal_at(int64_t first, float *sound, size_t count);

void become_real_time(void);

/* A kind of server: both functions are called before `run`, which returns when `ending` is set. If the server goes away, it
   waits for it. */
struct server {
    void (*listen)(struct line *sink);
    void (*feed)(struct line *feed);
    void (*run)(void);
};

extern const struct server pipewire_server, pulse_server;

#endif
