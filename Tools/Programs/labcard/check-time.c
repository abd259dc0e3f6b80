/* Checks the card's clock, and when a waiting program wakes up. */
#define _GNU_SOURCE
#include "check.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Time ------------------------------------------------------------------------------------------------------------ */

bool three_seconds_played_take_three_seconds(void)
{
    static int16_t data[3 * RATE];
    snd_pcm_t *pcm = player("labcard:pace");
    if (!pcm)
        return false;
    double start = now();
    snd_pcm_sframes_t written = snd_pcm_writei(pcm, data, 3 * RATE);
    int drained = snd_pcm_drain(pcm);
    double taken = now() - start;
    snd_pcm_close(pcm);
    EXPECT(written == 3 * RATE && drained == 0, "wrote %ld, drain %d", written, drained);
    EXPECT(taken >= 2.9999 && taken < 3.01, "took %.4f s", taken);
    return true;
}

bool three_seconds_captured_take_three_seconds(void)
{
    static int16_t data[3 * RATE];
    snd_pcm_t *pcm = recorder("labcard:pace");
    if (!pcm)
        return false;
    double start = now();
    snd_pcm_sframes_t got = snd_pcm_readi(pcm, data, 3 * RATE);
    double taken = now() - start;
    snd_pcm_close(pcm);
    EXPECT(got == 3 * RATE, "read %ld", got);
    EXPECT(taken >= 2.9999 && taken < 3.01 + 0.01, "took %.4f s", taken);
    return true;
}

/* Checks the number of frames by which a capture pointer gains on the clock in two seconds. */
static bool pointer_gains(const char *name, unsigned rate, double expected)
{
    struct setup setup = plain;
    setup.rate = rate;
    setup.buffer = 16384;
    setup.period = 1024;
    snd_pcm_t *pcm = device(name, SND_PCM_STREAM_CAPTURE, setup);
    static int16_t sink[4 * RATE];
    if (!pcm)
        return false;
    double begin = 0, end = 0, frames = 0;
    snd_pcm_start(pcm);
    for (int i = 0; i < 20; i++) {
        double from = now();
        snd_pcm_sframes_t avail = snd_pcm_avail(pcm);
        double to = now(), position = frames + (double)avail;
        if (i == 0)
            begin = (from + to) / 2 - position / rate;
        end = (from + to) / 2 - position / rate;
        if (avail < 0 || snd_pcm_readi(pcm, sink, (snd_pcm_uframes_t)avail) != avail)
            break;
        frames += (double)avail;
        pause_for(0.1);
    }
    snd_pcm_close(pcm);
    double gained = (begin - end) * rate;
    EXPECT(frames > 1.5 * rate, "only %.0f frames came", frames);
    EXPECT(fabs(gained - expected * frames / (2 * rate)) < 4, "%+.1f frames in %.2f s", gained, frames / rate);
    return true;
}

bool a_card_at_0_ppm_keeps_the_clock(void) { return pointer_gains("labcard:drift", RATE, 0); }
bool a_card_at_200_ppm_gains(void) { return pointer_gains("labcard:drift,200", RATE, 19.2); }
bool a_card_at_minus_200_ppm_loses(void) { return pointer_gains("labcard:drift,-200", RATE, -19.2); }
bool a_card_at_fractional_ppm_gains(void) { return pointer_gains("labcard:drift,+512.75", RATE, 49.2); }
bool a_card_of_44100_hz_keeps_the_clock(void) { return pointer_gains("labcard:drift,0,44100", 44100, 0); }

/* ---- Waiting --------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Checks with bare poll() that the descriptor is ready once a period, on time, and not in between. */
static bool poll_wakes_once_a_period(snd_pcm_stream_t stream)
{
    enum { WAKES = 100 };
    int16_t data[9600] = {0};
    double gaps[WAKES], last = 0;
    struct pollfd descriptor;
    unsigned short events;
    int spurious = 0, lasting = 0;
    snd_pcm_t *pcm = device("labcard:poll", stream, plain);
    if (!pcm)
        return false;
    if (stream == SND_PCM_STREAM_PLAYBACK)
        snd_pcm_writei(pcm, data, 9600);
    else
        snd_pcm_start(pcm);
    snd_pcm_poll_descriptors(pcm, &descriptor, 1);
    for (int i = 0; i < WAKES;) {
        int ready = poll(&descriptor, 1, 1000);
        snd_pcm_poll_descriptors_revents(pcm, &descriptor, 1, &events);
        double awake = now();
        if (ready != 1 || (events & POLLERR)) {
            snd_pcm_close(pcm);
            EXPECT(false, "poll gave %d, events %x at wake %d", ready, events, i);
        }
        if (!(events & (POLLIN | POLLOUT)) && ++spurious < 1000)
            continue;
        lasting += poll(&descriptor, 1, 0) == 1; /* level-triggered: it stays ready as long as no frames were moved */
        gaps[i++] = awake - last;
        last = awake;
        if (move_frames(pcm, plain, data, 480) != 480)
            break;
    }
    snd_pcm_close(pcm);
    qsort(gaps, WAKES, sizeof *gaps, compare);
    EXPECT(spurious == 0 && lasting == WAKES, "%d wakes for nothing, %d of %d lasted", spurious, lasting, WAKES);
    EXPECT(fabs(gaps[WAKES / 2] - 0.01) < 0.0003 && gaps[WAKES * 9 / 10] < 0.012, "intervals p50 %.2f p90 %.2f ms",
           gaps[WAKES / 2] * 1e3, gaps[WAKES * 9 / 10] * 1e3);
    return true;
}

bool poll_wakes_a_recorder_once_a_period(void) { return poll_wakes_once_a_period(SND_PCM_STREAM_CAPTURE); }
bool poll_wakes_a_player_once_a_period(void) { return poll_wakes_once_a_period(SND_PCM_STREAM_PLAYBACK); }

bool draining_waits_without_spinning(void)
{
    int16_t data[9600] = {0};
    struct pollfd descriptor;
    unsigned short events;
    int wakes = 0, result;
    snd_pcm_t *pcm = player("labcard:drain");
    if (!pcm)
        return false;
    snd_pcm_writei(pcm, data, 9600);
    snd_pcm_nonblock(pcm, 1);
    snd_pcm_poll_descriptors(pcm, &descriptor, 1);
    double start = now();
    while ((result = snd_pcm_drain(pcm)) == -EAGAIN && wakes < 1000) {
        poll(&descriptor, 1, 1000);
        snd_pcm_poll_descriptors_revents(pcm, &descriptor, 1, &events);
        wakes++;
    }
    double taken = now() - start;
    snd_pcm_close(pcm);
    EXPECT(result == 0 && wakes <= 2, "drain %d after %d wakes", result, wakes);
    EXPECT(taken > 0.18 && taken < 0.22, "draining 200 ms took %.1f", taken * 1e3);
    return true;
}

/* ---- Delay ----------------------------------------------------------------------------------------------------------- */

bool delay_counts_what_is_not_yet_heard(void)
{
    int16_t data[9600] = {0};
    snd_pcm_sframes_t before = 0, first = 0, second = 0, third = 0;
    snd_pcm_t *pcm = player("labcard:delay");
    if (!pcm)
        return false;
    snd_pcm_writei(pcm, data, 4800);
    snd_pcm_delay(pcm, &before);
    snd_pcm_start(pcm);
    double start = now();
    snd_pcm_delay(pcm, &first);
    pause_for(0.05);
    double middle = now();
    int error = snd_pcm_delay(pcm, &second);
    snd_pcm_writei(pcm, data, 1000);
    snd_pcm_delay(pcm, &third);
    double end = now();
    snd_pcm_close(pcm);
    double played = (middle - start) * RATE, more = (end - middle) * RATE;
    EXPECT(before == 4800 && first > 4700, "delay %ld before the start, %ld after", before, first);
    EXPECT(error == 0 && fabs((double)(first - second) - played) < 24, "delay fell by %ld in %.0f frames", first - second,
           played);
    EXPECT(fabs((double)(third - second) - 1000 + more) < 24, "writing 1000 changed the delay by %ld", third - second);
    return true;
}
