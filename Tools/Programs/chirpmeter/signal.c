#include "signal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 48000, STEP = 4, SHORT_CHIRP = CHIRP_FRAMES / STEP };

static const double PILOT = 572, CHIRP_AMPLITUDE = 12000, PILOT_AMPLITUDE = 5000, RECOGNISED = 0.4;

size_t schedule_chirps(int64_t lead, int64_t end, int64_t *starts)
{
    uint32_t state = 1;
    size_t count = 0;
    for (int64_t start = lead; start < end && count < CHIRPS_MAX; count++) {
        starts[count] = start;
        state = state * 1664525u + 1013904223u;
        start += RATE / 2 + (int64_t)(state >> 16) * (RATE / 10) / 65536;
    }
    return count;
}

static double chirp(double frame)
{
    double t = frame / RATE, length = (double)CHIRP_FRAMES / RATE, low = 800, high = 3000;
    double phase = 2 * M_PI * (low * t + (high - low) * t * t / (2 * length));
    double edge = fmin(fmin(t, length - t) / 0.004, 1); /* 4 ms of fading at both ends */
    return sin(phase) * (0.5 - 0.5 * cos(M_PI * edge));
}

void compose(int16_t *sound, int64_t first, size_t count, const int64_t *starts, size_t chirps, int pilot)
{
    size_t low = 0, high = chirps;
    while (low < high) { /* the first chirp that ends after `first` */
        size_t middle = (low + high) / 2;
        if (starts[middle] + CHIRP_FRAMES <= first)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t frame = first + (int64_t)i;
        double value = pilot ? PILOT_AMPLITUDE * sin(2 * M_PI * fmod(PILOT * (double)frame / RATE, 1)) : 0;
        while (low < chirps && starts[low] + CHIRP_FRAMES <= frame)
            low++;
        if (low < chirps && frame >= starts[low])
            value += CHIRP_AMPLITUDE * chirp((double)(frame - starts[low]));
        sound[i] = (int16_t)lrint(value);
    }
}

/* ---- Chirps -------------------------------------------------------------------------------------------------------------- */

/* Returns the correlation of the sound with the template, -1 to 1. */
static double likeness(const float *sound, const float *template, size_t length, double template_norm)
{
    double product = 0, energy = 0;
    for (size_t i = 0; i < length; i++) {
        product += (double)sound[i] * template[i];
        energy += (double)sound[i] * sound[i];
    }
    return energy > 0 ? product / sqrt(energy * template_norm) : 0;
}

static double norm(const float *template, size_t length)
{
    double sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += (double)template[i] * template[i];
    return sum;
}

/* Returns the correlation at every fourth frame, computed on averages of four frames (a chirp ends at 3 kHz). */
static float *likeness_of_all(const int16_t *heard, size_t count, size_t *short_count)
{
    static float template[SHORT_CHIRP];
    for (size_t i = 0; i < SHORT_CHIRP; i++)
        template[i] = (float)chirp((double)i * STEP + (STEP - 1) / 2.0);
    double template_norm = norm(template, SHORT_CHIRP);
    size_t length = count / STEP;
    float *sound = calloc(length + SHORT_CHIRP, sizeof *sound), *result = calloc(length + 1, sizeof *result);
    for (size_t i = 0; i < length; i++)
        sound[i] = (float)(heard[STEP * i] + heard[STEP * i + 1] + heard[STEP * i + 2] + heard[STEP * i + 3]) / STEP;
    for (size_t i = 0; i < length; i++)
        result[i] = (float)likeness(sound + i, template, SHORT_CHIRP, template_norm);
    free(sound);
    *short_count = length;
    return result;
}

/* Returns the delay that explains the most chirps together, in frames of the reduced rate. */
static size_t common_delay(const float *like, size_t length, const double *expected, size_t chirps, double max_delay)
{
    size_t best = 0, limit = (size_t)(max_delay / STEP);
    double best_score = -1;
    for (size_t delay = 0; delay <= limit; delay++) {
        double score = 0;
        for (size_t i = 0; i < chirps; i++) {
            double place = expected[i] / STEP + (double)delay;
            if (expected[i] >= 0 && place < (double)length && like[(size_t)place] > 0)
                score += like[(size_t)place];
        }
        if (score > best_score) {
            best_score = score;
            best = delay;
        }
    }
    return best;
}

/* Returns the position of the peak near a frame, interpolated between frames by a parabola. */
static double refine(const int16_t *heard, size_t count, size_t around)
{
    static float template[CHIRP_FRAMES];
    enum { REACH = 3 * STEP };
    for (size_t i = 0; i < CHIRP_FRAMES; i++)
        template[i] = (float)chirp((double)i);
    double template_norm = norm(template, CHIRP_FRAMES), values[2 * REACH + 1];
    if (around < REACH || around + REACH + CHIRP_FRAMES >= count)
        return (double)around;
    int best = 1;
    for (int i = 0; i <= 2 * REACH; i++) {
        float window[CHIRP_FRAMES];
        for (size_t k = 0; k < CHIRP_FRAMES; k++)
            window[k] = heard[around - REACH + (size_t)i + k];
        values[i] = likeness(window, template, CHIRP_FRAMES, template_norm);
        if (i > 0 && i < 2 * REACH && values[i] > values[best])
            best = i;
    }
    double before = values[best - 1], top = values[best], after = values[best + 1], bend = before - 2 * top + after;
    double fraction = bend < 0 ? fmax(-0.5, fmin(0.5, 0.5 * (before - after) / bend)) : 0;
    return (double)around - REACH + best + fraction;
}

size_t find_chirps(const int16_t *heard, size_t count, const double *expected, size_t chirps, double max_delay,
                   double *heard_at)
{
    size_t length, found = 0, reach = RATE * 6 / 25 / STEP; /* within a call the delay may change by 240 ms, as chirps are 500 ms apart */
    float *like = likeness_of_all(heard, count, &length);
    size_t delay = common_delay(like, length, expected, chirps, max_delay);
    for (size_t i = 0; i < chirps; i++) {
        heard_at[i] = -1;
        if (expected[i] < 0)
            continue;
        size_t middle = (size_t)(expected[i] / STEP) + delay, earliest = (size_t)(expected[i] / STEP), best = 0;
        size_t from = middle > reach ? middle - reach : 0;
        for (size_t place = from > earliest ? from : earliest; place < length && place <= middle + reach; place++)
            if (like[place] > like[best] || best == 0)
                best = place;
        if (best == 0 || like[best] < RECOGNISED)
            continue;
        heard_at[i] = refine(heard, count, best * STEP);
        found++;
    }
    free(like);
    return found;
}

/* ---- Gaps ---------------------------------------------------------------------------------------------------------------- */

enum {
    CYCLE = 84,           /* frames in one cycle of the pilot, the length of the analysis window */
    MILLISECOND = 48,
    MARGIN = 12 * 48,     /* ignored around a chirp, because codecs smear it */
    SPAN = 3 * 48,        /* the pilot's phases are compared over this distance to either side */
    MERGE = 15 * 48,      /* breaks closer than this are merged */
};

struct pilot {
    float *strength, *phase; /* of the cycle that begins at a frame; phase in cycles relative to a steady 572 Hz */
};

static struct pilot follow_pilot(const int16_t *heard, size_t count)
{
    struct pilot pilot = {calloc(count, sizeof(float)), calloc(count, sizeof(float))};
    double *re = calloc(count + 1, sizeof(double)), *im = calloc(count + 1, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        double turn = 2 * M_PI * fmod(PILOT * (double)i / RATE, 1);
        re[i + 1] = re[i] + heard[i] * cos(turn);
        im[i + 1] = im[i] - heard[i] * sin(turn);
    }
    for (size_t i = 0; i + CYCLE < count; i++) {
        double x = re[i + CYCLE] - re[i], y = im[i + CYCLE] - im[i];
        pilot.strength[i] = (float)(2 * sqrt(x * x + y * y) / CYCLE);
        pilot.phase[i] = (float)(atan2(y, x) / (2 * M_PI));
    }
    free(re);
    free(im);
    return pilot;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static double median_strength(const struct pilot *pilot, size_t from, size_t to)
{
    size_t count = 0, stride = (to - from) / 4096 + 1;
    float values[4200];
    for (size_t i = from; i < to && count < 4200; i += stride)
        values[count++] = pilot->strength[i];
    qsort(values, count, sizeof *values, compare_floats);
    return count ? values[count / 2] : 0;
}

static double turn_between(const struct pilot *pilot, size_t before, size_t after)
{
    double turn = pilot->phase[after] - pilot->phase[before];
    return turn - round(turn);
}

struct gaps {
    struct gap *list;
    size_t count, max;
};

static void add(struct gaps *gaps, double start, double length, double jump, const char *kind)
{
    if (gaps->count < gaps->max)
        gaps->list[gaps->count++] = (struct gap){start, length, jump, kind};
}

static int by_start(const void *a, const void *b)
{
    double x = ((const struct gap *)a)->start, y = ((const struct gap *)b)->start;
    return x < y ? -1 : x > y;
}

/* Merges breaks that were found in several ways or are close together. */
static size_t merge(struct gap *gaps, size_t count)
{
    size_t kept = 0;
    qsort(gaps, count, sizeof *gaps, by_start);
    for (size_t i = 0; i < count; i++) {
        struct gap *last = kept ? &gaps[kept - 1] : NULL;
        if (last == NULL || gaps[i].start > last->start + last->length + MERGE) {
            gaps[kept++] = gaps[i];
            continue;
        }
        if (!strcmp(gaps[i].kind, "silence") && strcmp(last->kind, "silence")) {
            last->kind = "silence"; /* silence is located most exactly, so its position and length are kept */
            last->start = gaps[i].start;
            last->length = gaps[i].length;
        } else if (!strcmp(gaps[i].kind, last->kind)) {
            last->length = fmax(last->length, gaps[i].start + gaps[i].length - last->start);
        }
        if (fabs(gaps[i].jump) > fabs(last->jump))
            last->jump = gaps[i].jump;
    }
    return kept;
}

size_t find_gaps(const int16_t *heard, size_t from, size_t to, const double *heard_at, size_t chirps, struct gap *list,
                 size_t max)
{
    struct gaps gaps = {list, 0, max};
    if (to < from + 4 * SPAN + CYCLE)
        return 0;
    struct pilot pilot = follow_pilot(heard, to);
    const size_t last = to - CYCLE - SPAN - 1;
    double usual = median_strength(&pilot, from, last);
    if (usual < 20) {
        free(pilot.strength);
        free(pilot.phase);
        return 0;
    }
    bool *masked = calloc(to + 1, sizeof *masked);
    for (size_t i = 0; i < chirps; i++)
        if (heard_at[i] >= 0) {
            size_t start = heard_at[i] > MARGIN + CYCLE ? (size_t)heard_at[i] - MARGIN - CYCLE : 0;
            size_t end = (size_t)heard_at[i] + CHIRP_FRAMES + MARGIN;
            for (size_t k = start; k < end && k < to; k++)
                masked[k] = true;
        }

    /* Silence for a millisecond: a tone never stays so close to zero. */
    for (size_t i = from, run = 0; i <= to; i++) {
        if (i < to && fabs((double)heard[i]) < usual / 50) {
            run++;
            continue;
        }
        if (run >= MILLISECOND)
            add(&gaps, (double)(i - run), (double)run, 0, "silence");
        run = 0;
    }
    /* A cycle with a millisecond missing has less than 0.6 of its usual strength. */
    for (size_t i = from, run = 0; i <= last; i++) {
        if (i < last && !masked[i] && pilot.strength[i] < 0.6 * usual) {
            run++;
            continue;
        }
        if (run)
            add(&gaps, (double)(i - run + CYCLE / 2), (double)run, 0, "dip");
        run = 0;
    }
    /* The pilot's phase jumped within a few milliseconds, or somewhere under a chirp. */
    for (size_t i = from + SPAN; i < last;) {
        size_t before = i - SPAN, after = i + CYCLE + SPAN < last ? i + SPAN : last;
        if (masked[before]) {
            i++;
            continue;
        }
        bool crossing = false;
        while (after < last && masked[after]) {
            after++;
            crossing = true;
        }
        double turn = turn_between(&pilot, before, after), allowed = crossing ? 0.11 : 0.1;
        if (after < last && fabs(turn) > allowed) {
            /* The position within the span at which the phase changed fastest. */
            size_t place = before;
            double fastest = 0;
            for (size_t k = before; k + MILLISECOND < after; k++)
                if (!masked[k] && !masked[k + MILLISECOND] && fabs(turn_between(&pilot, k, k + MILLISECOND)) > fastest) {
                    fastest = fabs(turn_between(&pilot, k, k + MILLISECOND));
                    place = k + MILLISECOND;
                }
            add(&gaps, (double)(crossing ? before + (after - before) / 2 : place + CYCLE / 2), MILLISECOND, turn, "jump");
            i = after + SPAN + CYCLE;
        } else {
            i = crossing ? after + SPAN : i + 1;
        }
    }
    free(masked);
    free(pilot.strength);
    free(pilot.phase);
    return merge(list, gaps.count);
}
