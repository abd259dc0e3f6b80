/* The wire, and the clocks that determine a card's position on it. */
#define _GNU_SOURCE
#include "labcard.h"

#include <math.h>
#include <time.h>

/* ---- Clocks -------------------------------------------------------------------------------------------------------------- */

int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t tick_at(uint64_t clock, int64_t ns)
{
    return (int64_t)((wide)ns * clock / UINT64_C(1000000000000000000));
}

int64_t time_of(uint64_t clock, int64_t tick)
{
    return (int64_t)(((wide)tick * UINT64_C(1000000000000000000) + clock - 1) / clock);
}

/* Converts a tick of one clock to another: whole ticks, rounded down, and the rest as a fraction of a tick. */
static int64_t convert(int64_t tick, uint64_t from, uint64_t to, float *fraction)
{
    wide product = (wide)tick * to;
    int64_t whole = (int64_t)(product / from);
    *fraction = (float)((double)(uint64_t)(product - (wide)whole * from) / (double)from);
    return whole;
}

/* ---- The wire ------------------------------------------------------------------------------------------------------------ */

static uint32_t lap_of(int64_t frame)
{
    return (uint32_t)(frame / WIRE_FRAMES) + 1;
}

static struct slot *slot_of(const struct card *card, int64_t frame)
{
    return &card->wire[frame & (WIRE_FRAMES - 1)];
}

static struct sample wire_read(const struct card *card, int64_t frame)
{
    struct slot *slot = slot_of(card, frame);
    /* While it is read, the slot could be overwritten for a later lap, but only by a program that writes a whole ring ahead. */
    if (__atomic_load_n(&slot->lap, __ATOMIC_ACQUIRE) != lap_of(frame))
        return (struct sample){{0, 0}};
    return slot->sample;
}

static void wire_write(struct card *card, int64_t frame, struct sample sample)
{
    struct slot *slot = slot_of(card, frame);
    slot->sample = sample;
    __atomic_store_n(&slot->lap, lap_of(frame), __ATOMIC_RELEASE);
}

int32_t clip(double value)
{
    if (value >= 2147483647.0)
        return INT32_MAX;
    if (value <= -2147483648.0)
        return INT32_MIN;
    return value == value ? (int32_t)lrint(value) : 0;
}

void make_sinc(float *table, double cutoff)
{
    for (int phase = 0; phase <= PHASES; phase++) {
        float *row = table + phase * TAPS;
        double sum = 0, values[TAPS];
        for (int tap = 0; tap < TAPS; tap++) {
            double x = tap - (HALF - 1) - (double)phase / PHASES;
            double window = 0.42 + 0.5 * cos(M_PI * x / HALF) + 0.08 * cos(2 * M_PI * x / HALF);
            values[tap] = fabs(x) < 1e-9 ? cutoff : sin(M_PI * cutoff * x) / (M_PI * x);
            values[tap] *= fabs(x) <= HALF ? window : 0;
            sum += values[tap];
        }
        for (int tap = 0; tap < TAPS; tap++)
            row[tap] = (float)(values[tap] / sum);
    }
}

/* Returns the sample between window[HALF - 1] and window[HALF], at a fraction of the distance. */
static struct sample interpolate(const struct card *card, const struct sample window[TAPS], float fraction)
{
    float place = fraction * PHASES;
    int phase = (int)place;
    if (phase >= PHASES)
        phase = PHASES - 1;
    float blend = place - (float)phase;
    const float *row = card->sinc + phase * TAPS, *next = row + TAPS;
    double left = 0, right = 0;
    for (int tap = 0; tap < TAPS; tap++) {
        double weight = row[tap] + blend * (next[tap] - row[tap]);
        left += weight * window[tap].channel[0];
        right += weight * window[tap].channel[1];
    }
    return (struct sample){{clip(left), clip(right)}};
}

static struct sample remembered(const struct card *card, int64_t frame)
{
    return frame < 0 ? (struct sample){{0, 0}} : card->memory[(uint64_t)frame & card->memory_mask];
}

/* Returns the first wire frame that plays at or after a card frame. */
static int64_t wire_frame_for(const struct card *card, int64_t frame)
{
    wide product = (wide)(card->base + frame) * WIRE_CLOCK;
    return (int64_t)((product + card->clock - 1) / card->clock);
}

void publish(struct card *card, int64_t from, int64_t to)
{
    int64_t first = wire_frame_for(card, from), end = wire_frame_for(card, to), now = tick_at(WIRE_CLOCK, now_ns());
    for (int64_t frame = first > now ? first : now; frame < end; frame++) {
        if (card->direct) {
            wire_write(card, frame, remembered(card, frame - card->base));
            continue;
        }
        float fraction;
        int64_t newest = convert(frame, WIRE_CLOCK, card->clock, &fraction) - card->base;
        struct sample window[TAPS];
        for (int tap = 0; tap < TAPS; tap++)
            window[tap] = remembered(card, newest - (TAPS - 1) + tap);
        wire_write(card, frame, interpolate(card, window, fraction));
    }
}

void silence(struct card *card, int64_t end_frame)
{
    int64_t end = wire_frame_for(card, end_frame);
    for (int64_t frame = tick_at(WIRE_CLOCK, now_ns()) + 1; frame < end; frame++) {
        uint32_t lap = lap_of(frame);
        __atomic_compare_exchange_n(&slot_of(card, frame)->lap, &lap, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}

struct sample captured(const struct card *card, int64_t frame)
{
    if (card->direct)
        return wire_read(card, card->base + frame);
    float fraction;
    int64_t newest = convert(card->base + frame, card->clock, WIRE_CLOCK, &fraction);
    struct sample window[TAPS];
    for (int tap = 0; tap < TAPS; tap++)
        window[tap] = wire_read(card, newest - (TAPS - 1) + tap);
    return interpolate(card, window, fraction);
}
