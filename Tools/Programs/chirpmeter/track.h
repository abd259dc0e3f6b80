/* The positions of a device over CLOCK_MONOTONIC. A track is written by one thread and read when that thread has ended. */
#ifndef TRACK_H
#define TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame of a device, and the time at which the device was at this frame. */
struct sighting {
    double time;
    int64_t frame;
};

struct track {
    struct sighting *sightings;
    size_t count, max;
    int xruns;
    double xrun_times[64];
};

void prepare_track(struct track *track, size_t max);

/* Records that the device was at a frame at some time between two readings of the clock. */
void see(struct track *track, double before, double after, int64_t frame);
void note_xrun(struct track *track);

/* Returns the time at which a device was at a frame, from the sightings around it, since the device's clock may drift. */
double time_of(const struct track *track, double frame);
double frame_at(const struct track *track, double time);

/* Returns whether the device had an xrun within `distance` seconds of a time. */
bool near_xrun(const struct track *track, double time, double distance);

/* Sorts the values and returns their median; NAN if there are none. */
double median(double *values, size_t count);

#endif
