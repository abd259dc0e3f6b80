/*
 * Declarations shared by the parts of the meter: its options, the two ends of the audio path, the bare timers and the result. Each end
 * and each timer is written by a thread of its own and read when that thread has ended.
 */
#ifndef CHIRPMETER_H
#define CHIRPMETER_H

#include "signal.h"
#include "track.h"

#include <alsa/asoundlib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct options {
    const char *mic, *ear, *json, *wav;
    double duration, period_ms, lead, max_delay_ms, late_ms, near_ms;
    int count, priority, pilot, every_cpu;
};

extern struct options options;
extern atomic_bool ending, broken;
extern bool granted; /* whether the requested priority was granted */

/* ---- The mouth and the ear (ends.c) -------------------------------------------------------------------------------------- */

struct mouth {
    struct track track;
    int64_t starts[CHIRPS_MAX];
    size_t chirps;
    int64_t length;
};

struct ear {
    struct track track;
    int16_t *sound;
    size_t count, max;
    snd_pcm_t *pcm;
    snd_pcm_uframes_t period;
};

extern struct mouth mouth;
extern struct ear ear;

/* Thread functions. The `context` of the mouth is the PCM and the address of its period. */
void *run_mouth(void *context);
void *run_ear(void *context);

/* ---- The bare timers (timers.c) ------------------------------------------------------------------------------------------ */

enum { TIMERS_MAX = 64, LATES_MAX = 4096 };

struct timer {
    int cpu; /* the processor to run on; -1: any */
    float *lateness;
    size_t count, max;
    struct {
        double due, awake;
    } late[LATES_MAX];
    size_t lates;
    pthread_t thread;
};

extern struct timer *timers[TIMERS_MAX];
extern int timer_count;

void start_timers(void);

/* Returns the greatest lateness of a timer near a span of time, in ms; 0 if none exceeded the limit. */
double lateness_near(double from, double to);

/* ---- The result (report.c) ----------------------------------------------------------------------------------------------- */

enum { GAPS_MAX = 5000 };

struct dropout {
    double time, length_ms, jump, late_ms; /* time: seconds since the first chirp was sent */
    const char *kind;
    bool excused, ours;
};

struct result {
    size_t sent, heard;
    double delays[CHIRPS_MAX], sorted[CHIRPS_MAX]; /* ms */
    struct dropout dropouts[GAPS_MAX];
    size_t dropout_count, counted, excused;
    double watched; /* s */
    double timer_p50, timer_p99, timer_max;
    size_t timer_late;
};

extern struct result result;

void examine(void);
void report_text(FILE *out);
void report_json(FILE *out);

#endif
