/* signal-check: tests that chirps are found at their positions, and breaks where the signal was damaged and nowhere else. */

#include "signal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The delay is longer than the longest skip, so that nothing is received before it is sent. */
enum { RATE = 48000, LENGTH = 6 * RATE, DELAY = 4345, BREAK = 3 * RATE + 17000, MAX = 100 };

static int16_t sent[LENGTH], heard[LENGTH];
static int64_t starts[CHIRPS_MAX];
static double expected[CHIRPS_MAX], heard_at[CHIRPS_MAX];
static size_t chirps;
static struct gap gaps[MAX];
static int wrong;

static void expect(bool good, const char *what, double value)
{
    printf("%s  %s (%g)\n", good ? "ok  " : "FAIL", what, value);
    wrong += !good;
}

static size_t examine(double *worst)
{
    size_t found = find_chirps(heard, LENGTH, expected, chirps, RATE, heard_at);
    double first = LENGTH, last = 0;
    *worst = 0;
    for (size_t i = 0; i < chirps; i++)
        if (heard_at[i] >= 0) {
            first = fmin(first, heard_at[i]);
            last = fmax(last, heard_at[i]);
            *worst = fmax(*worst, fabs(heard_at[i] - expected[i] - DELAY));
        }
    return found + 1 < chirps ? MAX : /* a long skip removes a chirp */
               find_gaps(heard, (size_t)first, (size_t)last, heard_at, chirps, gaps, MAX);
}

static void delay(void)
{
    memset(heard, 0, sizeof heard);
    memcpy(heard + DELAY, sent, (LENGTH - DELAY) * sizeof *heard);
}

int main(void)
{
    double worst;
    char what[200];
    chirps = schedule_chirps(RATE / 2, LENGTH - RATE, starts);
    for (size_t i = 0; i < chirps; i++)
        expected[i] = (double)starts[i];
    compose(sent, 0, LENGTH, starts, chirps, 1);

    delay();
    size_t found = examine(&worst);
    expect(worst < 0.1, "a delay is found to a tenth of a frame", worst);
    expect(found == 0, "a clean tone has no breaks", (double)found);

    for (size_t i = 0; i < LENGTH; i++)
        heard[i] = (int16_t)(heard[i] + (rand() % 1001 - 500) / 2);
    found = examine(&worst);
    expect(found == 0 && worst < 1, "nor has one with noise 30 dB below", (double)found);

    for (size_t i = DELAY; i < LENGTH; i++) { /* 300 ppm fast; linear interpolation is sufficient */
        double place = (double)(i - DELAY) * 1.0003;
        size_t whole = (size_t)place;
        double part = place - (double)whole;
        heard[i] = whole + 1 < LENGTH ? (int16_t)lrint(sent[whole] * (1 - part) + sent[whole + 1] * part) : 0;
    }
    found = examine(&worst);
    expect(found == 0, "nor has one that drifts by 300 ppm", (double)found);

    static const size_t sizes[] = {49, 100, 120, 240, 480, 960, 1920, 2880};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t size = sizes[k];
        delay();
        memset(heard + BREAK, 0, size * sizeof *heard);
        found = examine(&worst);
        snprintf(what, sizeof what, "a hole of %.2f ms is one break, there and so long", (double)size / 48);
        expect(found == 1 && fabs(gaps[0].start - BREAK) < 3 && fabs(gaps[0].length - (double)size) < 5, what, (double)found);

        delay();
        memmove(heard + BREAK, heard + BREAK + size, (LENGTH - BREAK - size) * sizeof *heard);
        found = examine(&worst);
        snprintf(what, sizeof what, "a skip of %.2f ms is one break, there", (double)size / 48);
        expect(found == 1 && fabs(gaps[0].start - BREAK) < 240, what, (double)found);

        delay();
        memmove(heard + BREAK + size, heard + BREAK, (LENGTH - BREAK - size) * sizeof *heard);
        memset(heard + BREAK, 0, size * sizeof *heard);
        found = examine(&worst);
        snprintf(what, sizeof what, "%.2f ms of silence put in are one break, there", (double)size / 48);
        expect(found == 1 && fabs(gaps[0].start - BREAK) < 3, what, (double)found);

        delay();
        size_t chirp = (size_t)starts[chirps / 2] + DELAY + 700;
        memmove(heard + chirp, heard + chirp + size, (LENGTH - chirp - size) * sizeof *heard);
        found = examine(&worst);
        snprintf(what, sizeof what, "a skip of %.2f ms within a chirp is seen", (double)size / 48);
        expect(found == 1 && fabs(gaps[0].start - (double)chirp) < 2400, what, (double)found);
    }
    return wrong ? 1 : 0;
}
