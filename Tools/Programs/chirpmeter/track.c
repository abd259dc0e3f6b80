#include "track.h"
#include "device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void prepare_track(struct track *track, size_t max)
{
    track->max = max;
    track->sightings = malloc(max * sizeof *track->sightings);
    memset(track->sightings, 0, max * sizeof *track->sightings);
}

void see(struct track *track, double before, double after, int64_t frame)
{
    if (after - before < 0.0002 && track->count < track->max) /* not if this thread was interrupted between the two readings */
        track->sightings[track->count++] = (struct sighting){(before + after) / 2, frame};
}

void note_xrun(struct track *track)
{
    if (track->xruns < 64)
        track->xrun_times[track->xruns] = now();
    track->xruns++;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count ? values[count / 2] : NAN;
}

double time_of(const struct track *track, double frame)
{
    enum { AROUND = 200 };
    size_t low = 0, high = track->count;
    double offsets[2 * AROUND];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((double)track->sightings[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    size_t from = low > AROUND ? low - AROUND : 0, count = 0;
    for (size_t i = from; i < track->count && i < low + AROUND; i++)
        offsets[count++] = track->sightings[i].time - (double)track->sightings[i].frame / RATE;
    return median(offsets, count) + frame / RATE;
}

double frame_at(const struct track *track, double time)
{
    double frame = track->count ? (double)track->sightings[track->count / 2].frame : 0;
    for (int i = 0; i < 3; i++)
        frame += (time - time_of(track, frame)) * RATE;
    return frame;
}

bool near_xrun(const struct track *track, double time, double distance)
{
    for (int i = 0; i < track->xruns && i < 64; i++)
        if (fabs(track->xrun_times[i] - time) < distance)
            return true;
    return false;
}
