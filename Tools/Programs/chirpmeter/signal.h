/*
 * The test signal of a mouth-to-ear meter, and its detection in a recording. This module knows no devices or clocks: sound is an array
 * at 48 kHz, times are frames.
 *
 * The chirp sweeps from 800 to 3000 Hz in 30 ms, which speech codecs transmit. Chirps come 500 to 600 ms apart at irregular
 * intervals, so that a delay longer than an interval cannot be mistaken for a shorter one.
 *
 * The pilot is a steady tone of 572 Hz beneath the chirps. Any jump by a multiple of 2.5 ms up to 120 ms, the durations of Opus
 * frames, except 17.5 ms and its multiples, changes its phase by at least 0.12 of a cycle.
 */
#ifndef SIGNAL_H
#define SIGNAL_H

#include <stddef.h>
#include <stdint.h>

enum { CHIRP_FRAMES = 1440, CHIRPS_MAX = 20000 };

/* Writes the times at which chirps are sent, in frames from the beginning, the first after `lead`. Returns the number that
   begin before `end`. */
size_t schedule_chirps(int64_t lead, int64_t end, int64_t *starts);

/* Writes the frames first..<first + count of the signal. */
void compose(int16_t *sound, int64_t first, size_t count, const int64_t *starts, size_t chirps, int pilot);

/* Finds the position in `heard` at which each chirp arrived: heard_at[i] is a fractional frame, negative if the chirp was not
   found. expected[i] is the frame at which it would have arrived without delay (negative: was not sent). Returns the number
   found. */
size_t find_chirps(const int16_t *heard, size_t count, const double *expected, size_t chirps, double max_delay,
                   double *heard_at);

struct gap {
    double start, length; /* frames */
    double jump;          /* the change of the pilot's phase across the gap, in cycles, -0.5 to 0.5 */
    const char *kind;     /* "silence", "dip" or "jump" */
};

/* Finds breaks of the pilot between two frames. Under chirps (at their arrival) only silence is found, and the change of the
   pilot's phase from before to after. Returns the number found, at most `max`. */
size_t find_gaps(const int16_t *heard, size_t from, size_t to, const double *heard_at, size_t chirps, struct gap *gaps,
                 size_t max);

#endif
