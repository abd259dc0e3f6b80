/*
 * The sound that a mouth-to-ear meter plays, and finding it again in what comes back. Nothing here knows a device or a clock:
 * sound is an array at 48 kHz, times are frames.
 *
 * The chirp sweeps from 800 to 3000 Hz in 30 ms, which speech codecs carry. Chirps come 500 to 600 ms apart at irregular
 * intervals, so that a delay longer than an interval cannot be mistaken for a shorter one.
 *
 * The pilot is a steady tone of 572 Hz beneath the chirps. Any jump by a multiple of 2.5 ms up to 120 ms, the sizes of Opus
 * frames, except 17.5 ms and its multiples, turns it by at least 0.12 of a cycle.
 */
#ifndef SIGNAL_H
#define SIGNAL_H

#include <stddef.h>
#include <stdint.h>

enum { CHIRP_FRAMES = 1440, CHIRPS_MAX = 20000 };

/* When chirps are sent: frames from the beginning, the first after `lead`. Returns how many begin before `end`. */
size_t schedule_chirps(int64_t lead, int64_t end, int64_t *starts);

/* The frames first..<first + count of what is sent. */
void compose(int16_t *sound, int64_t first, size_t count, const int64_t *starts, size_t chirps, int pilot);

/* Where in `heard` each chirp arrived: heard_at[i] is a frame with a fraction, negative when the chirp was not found.
   expected[i] is the frame at which it would have arrived without delay (negative: was not sent). Returns how many arrived. */
size_t find_chirps(const int16_t *heard, size_t count, const double *expected, size_t chirps, double max_delay,
                   double *heard_at);

struct gap {
    double start, length; /* frames */
    double jump;          /* how far the pilot turned across it, in cycles of -0.5 to 0.5 */
    const char *kind;     /* "silence", "dip" or "jump" */
};

/* Looks for breaks in the pilot between two frames. Chirps (by their arrival) are passed over, except for silence, and for the
   turn of the pilot from before to after. Returns how many were found, at most `max`. */
size_t find_gaps(const int16_t *heard, size_t from, size_t to, const double *heard_at, size_t chirps, struct gap *gaps,
                 size_t max);

#endif
