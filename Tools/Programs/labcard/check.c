/*
 * labcard-check: does the card behave as a card should? Prints a line a question and exits 1 when one is answered wrongly.
 *
 * A question about time is asked up to ATTEMPTS times, because a busy machine may be late; a card that is wrong is wrong each
 * time. Run it by Tools/labcard check, which gives it wires of its own.
 */

#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { RATE = 48000, ATTEMPTS = 4 };

static char why[400];

#define EXPECT(condition, ...)                                 \
    do {                                                       \
        if (!(condition)) {                                    \
            snprintf(why, sizeof why, __VA_ARGS__);            \
            return false;                                      \
        }                                                      \
    } while (0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
    while (nanosleep(&t, &t) < 0 && errno == EINTR) {}
}

static uint32_t noise_state;

static int32_t noise(void)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (int32_t)noise_state;
}

/* ---- A device, opened -------------------------------------------------------------------------------------------------- */

struct setup {
    snd_pcm_format_t format;
    unsigned channels, rate;
    snd_pcm_uframes_t period, buffer;
    snd_pcm_access_t access;
};

static const struct setup plain = {SND_PCM_FORMAT_S16_LE, 1, RATE, 480, 9600, SND_PCM_ACCESS_RW_INTERLEAVED};

/* A device with exactly this set-up, or NULL and why. */
static snd_pcm_t *device(const char *name, snd_pcm_stream_t stream, struct setup setup)
{
    snd_pcm_t *pcm;
    snd_pcm_hw_params_t *hw;
    snd_pcm_sw_params_t *sw;
    snd_pcm_uframes_t period = setup.period, buffer = setup.buffer;
    snd_pcm_hw_params_alloca(&hw);
    snd_pcm_sw_params_alloca(&sw);
    int error = snd_pcm_open(&pcm, name, stream, 0);
    if (error < 0) {
        snprintf(why, sizeof why, "open %s: %s", name, snd_strerror(error));
        return NULL;
    }
    if ((error = snd_pcm_hw_params_any(pcm, hw)) < 0 || (error = snd_pcm_hw_params_set_access(pcm, hw, setup.access)) < 0 ||
        (error = snd_pcm_hw_params_set_format(pcm, hw, setup.format)) < 0 ||
        (error = snd_pcm_hw_params_set_channels(pcm, hw, setup.channels)) < 0 ||
        (error = snd_pcm_hw_params_set_rate(pcm, hw, setup.rate, 0)) < 0 ||
        (error = snd_pcm_hw_params_set_period_size_near(pcm, hw, &period, NULL)) < 0 ||
        (error = snd_pcm_hw_params_set_buffer_size_near(pcm, hw, &buffer)) < 0 ||
        (error = snd_pcm_hw_params(pcm, hw)) < 0 || period != setup.period || buffer != setup.buffer ||
        (error = snd_pcm_sw_params_current(pcm, sw)) < 0 ||
        (error = snd_pcm_sw_params_set_start_threshold(pcm, sw, buffer)) < 0 || (error = snd_pcm_sw_params(pcm, sw)) < 0) {
        snprintf(why, sizeof why, "set up %s: asked %lu/%lu, granted %lu/%lu: %s", name, setup.period, setup.buffer, period,
                 buffer, snd_strerror(error));
        snd_pcm_close(pcm);
        return NULL;
    }
    return pcm;
}

static snd_pcm_t *player(const char *name)
{
    return device(name, SND_PCM_STREAM_PLAYBACK, plain);
}

static snd_pcm_t *recorder(const char *name)
{
    return device(name, SND_PCM_STREAM_CAPTURE, plain);
}

static snd_pcm_sframes_t move(snd_pcm_t *pcm, struct setup setup, void *data, snd_pcm_uframes_t frames)
{
    bool mapped = setup.access == SND_PCM_ACCESS_MMAP_INTERLEAVED;
    if (snd_pcm_stream(pcm) == SND_PCM_STREAM_PLAYBACK)
        return mapped ? snd_pcm_mmap_writei(pcm, data, frames) : snd_pcm_writei(pcm, data, frames);
    return mapped ? snd_pcm_mmap_readi(pcm, data, frames) : snd_pcm_readi(pcm, data, frames);
}

/* ---- Time ---------------------------------------------------------------------------------------------------------------- */

static bool three_seconds_played_take_three_seconds(void)
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

static bool three_seconds_captured_take_three_seconds(void)
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

/* Frames by which a capture pointer gains on the clock in two seconds. */
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

static bool a_card_at_0_ppm_keeps_the_clock(void) { return pointer_gains("labcard:drift", RATE, 0); }
static bool a_card_at_200_ppm_gains(void) { return pointer_gains("labcard:drift,200", RATE, 19.2); }
static bool a_card_at_minus_200_ppm_loses(void) { return pointer_gains("labcard:drift,-200", RATE, -19.2); }
static bool a_card_at_fractional_ppm_gains(void) { return pointer_gains("labcard:drift,+512.75", RATE, 49.2); }
static bool a_card_of_44100_hz_keeps_the_clock(void) { return pointer_gains("labcard:drift,0,44100", 44100, 0); }

/* ---- Sound --------------------------------------------------------------------------------------------------------------- */

struct recording {
    const char *name;
    struct setup setup;
    unsigned char *data;
    snd_pcm_uframes_t frames;
    double delay_before; /* s */
    double begun;        /* s, when the device was started */
    snd_pcm_sframes_t result;
    pthread_t thread;
};

static void *record(void *context)
{
    struct recording *recording = context;
    pause_for(recording->delay_before);
    snd_pcm_t *pcm = device(recording->name, SND_PCM_STREAM_CAPTURE, recording->setup);
    if (!pcm) {
        recording->result = -1;
        return NULL;
    }
    recording->begun = now();
    snd_pcm_start(pcm);
    recording->result = move(pcm, recording->setup, recording->data, recording->frames);
    snd_pcm_close(pcm);
    return NULL;
}

static void begin(struct recording *recording)
{
    size_t bytes = recording->frames * recording->setup.channels * 4;
    recording->data = malloc(bytes);
    memset(recording->data, 0x55, bytes);
    pthread_create(&recording->thread, NULL, record, recording);
}

static snd_pcm_sframes_t finish(struct recording *recording)
{
    pthread_join(recording->thread, NULL);
    return recording->result;
}

/* Noise played in half a second is captured without a bit changed, by one who was there before and by one who came later. */
static bool capture_equals_playback(const char *name, struct setup setup)
{
    enum { LENGTH = RATE / 2 };
    const size_t width = setup.channels * (size_t)(setup.format == SND_PCM_FORMAT_S16_LE ? 2 : 4);
    unsigned char *played = malloc(LENGTH * width);
    for (size_t i = 0; i < LENGTH * setup.channels; i++) {
        int32_t value = noise();
        if (setup.format == SND_PCM_FORMAT_S16_LE)
            ((int16_t *)played)[i] = (int16_t)(value >> 16) | 1; /* never zero: silence is what surrounds it */
        else if (setup.format == SND_PCM_FORMAT_FLOAT_LE)
            ((float *)played)[i] = (float)((value >> 8) | 1) / 8388608.0f;
        else if (setup.format == SND_PCM_FORMAT_S24_LE)
            ((int32_t *)played)[i] = (value >> 8) | 1;
        else
            ((int32_t *)played)[i] = value | 1;
    }
    struct recording early = {.name = name, .setup = setup, .frames = RATE},
                     late = {.name = name, .setup = setup, .frames = RATE / 2, .delay_before = 0.4};
    begin(&early);
    begin(&late);
    pause_for(0.2);
    snd_pcm_t *pcm = device(name, SND_PCM_STREAM_PLAYBACK, setup);
    double started = now();
    snd_pcm_sframes_t written = -1;
    if (pcm) {
        /* In mapped access it is the program that starts the card. */
        snd_pcm_uframes_t first = setup.access == SND_PCM_ACCESS_MMAP_INTERLEAVED ? setup.buffer / 2 : setup.buffer;
        written = move(pcm, setup, played, first);
        started = now();
        if (snd_pcm_state(pcm) == SND_PCM_STATE_PREPARED)
            snd_pcm_start(pcm);
        if (written == (snd_pcm_sframes_t)first)
            written += move(pcm, setup, played + first * width, LENGTH - first);
        snd_pcm_drain(pcm);
        snd_pcm_close(pcm);
    }
    snd_pcm_sframes_t heard_early = finish(&early), heard_late = finish(&late);
    bool good = written == LENGTH && heard_early == RATE && heard_late == RATE / 2;
    if (!good)
        snprintf(why, sizeof why, "wrote %ld, captured %ld and %ld", written, heard_early, heard_late);

    static const unsigned char zero[16];
    size_t silent = 0, differing = 0, matched = 0;
    while (good && silent < RATE && !memcmp(early.data + silent * width, zero, width))
        silent++;
    if (good && (silent + LENGTH > RATE || memcmp(early.data + silent * width, played, LENGTH * width))) {
        good = false;
        snprintf(why, sizeof why, "the early capture differs after %zu frames of silence", silent);
    }
    for (size_t i = silent + LENGTH; good && i < RATE; i++)
        differing += memcmp(early.data + i * width, zero, width) != 0;
    if (good && differing) {
        good = false;
        snprintf(why, sizeof why, "%zu frames after the end are not silent", differing);
    }
    /* The late one begins in the middle of the noise: find it there, and let it run to the end of the noise. */
    for (size_t i = 0; good && i + 64 < LENGTH && !matched; i++)
        if (!memcmp(late.data, played + i * width, 64 * width) && !memcmp(late.data, played + i * width, (LENGTH - i) * width))
            matched = LENGTH - i;
    if (good && !matched) {
        good = false;
        snprintf(why, sizeof why, "the late capture is not a part of what was played");
    }
    double error = early.begun + (double)silent / RATE - started;
    if (good && setup.access != SND_PCM_ACCESS_MMAP_INTERLEAVED && fabs(error) > 0.002) {
        good = false;
        snprintf(why, sizeof why, "sound came %.1f ms beside its time", error * 1e3);
    }
    free(early.data);
    free(late.data);
    free(played);
    return good && pcm;
}

static struct setup with(snd_pcm_format_t format, unsigned channels, snd_pcm_access_t access)
{
    struct setup setup = plain;
    setup.format = format;
    setup.channels = channels;
    setup.access = access;
    return setup;
}

static bool s16_mono_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", plain);
}

static bool s32_stereo_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", with(SND_PCM_FORMAT_S32_LE, 2, SND_PCM_ACCESS_RW_INTERLEAVED));
}

static bool float_stereo_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", with(SND_PCM_FORMAT_FLOAT_LE, 2, SND_PCM_ACCESS_RW_INTERLEAVED));
}

static bool s24_stereo_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", with(SND_PCM_FORMAT_S24_LE, 2, SND_PCM_ACCESS_RW_INTERLEAVED));
}

static bool mapped_s16_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", with(SND_PCM_FORMAT_S16_LE, 1, SND_PCM_ACCESS_MMAP_INTERLEAVED));
}

/* A tone from a card of another rate, heard by a card of 48 kHz: its frequency, and how clean it is. */
static bool tone_crosses(const char *name, unsigned rate, double ppm)
{
    struct setup setup = plain;
    setup.rate = rate;
    struct recording heard = {.name = "labcard:tone", .setup = plain, .frames = RATE / 2, .delay_before = 0.2};
    static int16_t tone[RATE];
    const double wanted = 997 * (1 + ppm * 1e-6);
    for (unsigned i = 0; i < rate; i++)
        tone[i] = (int16_t)lrint(16000 * sin(2 * M_PI * 997 * i / rate));
    begin(&heard);
    snd_pcm_t *pcm = device(name, SND_PCM_STREAM_PLAYBACK, setup);
    if (pcm) {
        snd_pcm_writei(pcm, tone, rate);
        snd_pcm_drain(pcm);
        snd_pcm_close(pcm);
    }
    bool complete = finish(&heard) == RATE / 2 && pcm;
    double re = 0, im = 0, power = 0;
    const int16_t *data = (const int16_t *)heard.data;
    for (int i = 0; i < RATE / 2; i++) {
        double hann = 0.5 - 0.5 * cos(2 * M_PI * i / (RATE / 2)), turn = 2 * M_PI * wanted * i / RATE;
        re += hann * data[i] * cos(turn);
        im += hann * data[i] * sin(turn);
        power += hann * (double)data[i] * data[i];
    }
    free(heard.data);
    EXPECT(complete, "the capture is incomplete");
    double amplitude = 2 * sqrt(re * re + im * im) / (RATE / 4), rest = power / (RATE / 4) - amplitude * amplitude / 2;
    double clean = 10 * log10(amplitude * amplitude / 2 / fmax(rest, 1e-9));
    EXPECT(fabs(amplitude - 16000) < 80 && clean > 55, "amplitude %.0f of 16000, %.1f dB clean", amplitude, clean);
    return true;
}

static bool a_tone_of_a_44100_hz_card_is_clean(void) { return tone_crosses("labcard:tone,0,44100", 44100, 0); }
static bool a_tone_of_a_drifting_card_is_clean(void) { return tone_crosses("labcard:tone,300", RATE, 300); }

static bool what_was_dropped_is_not_heard(void)
{
    struct recording heard = {.name = "labcard:drop", .setup = plain, .frames = RATE / 2};
    int16_t data[4800];
    for (int i = 0; i < 4800; i++)
        data[i] = 1000;
    snd_pcm_t *pcm = player("labcard:drop");
    if (!pcm)
        return false;
    begin(&heard);
    pause_for(0.1);
    snd_pcm_writei(pcm, data, 4800);
    snd_pcm_start(pcm);
    pause_for(0.03);
    snd_pcm_drop(pcm);
    snd_pcm_close(pcm);
    finish(&heard);
    int sounding = 0;
    for (int i = 0; i < RATE / 2; i++)
        sounding += ((int16_t *)heard.data)[i] != 0;
    free(heard.data);
    EXPECT(sounding > 0.03 * RATE && sounding < 0.05 * RATE, "%d frames sounded, about 1440 should", sounding);
    return true;
}

/* ---- Sizes --------------------------------------------------------------------------------------------------------------- */

static bool sizes_are_granted_as_asked(void)
{
    static const snd_pcm_uframes_t sizes[][2] = {{32, 64},   {48, 144},   {64, 128},    {120, 480},   {128, 256},
                                                 {240, 720}, {441, 1323}, {480, 960},   {960, 2880},  {1000, 5000},
                                                 {48, 9600}, {4096, 8192}, {16384, 65536}, {32, 65536}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int stream = 0; stream < 2; stream++) {
            struct setup setup = plain;
            setup.period = sizes[i][0];
            setup.buffer = sizes[i][1];
            snd_pcm_t *pcm = device("labcard:sizes", stream ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK, setup);
            if (!pcm)
                return false;
            snd_pcm_close(pcm);
        }
    return true;
}

static bool plug_converts_for_any_program(void)
{
    static const char *const names[] = {"plug:lab_speaker", "default", "plug:'labcard:plug,100'"};
    static uint8_t data[44100 * 2];
    for (int i = 0; i < 3; i++) {
        snd_pcm_t *pcm;
        int error = snd_pcm_open(&pcm, names[i], SND_PCM_STREAM_PLAYBACK, 0);
        EXPECT(error == 0, "%s: %s", names[i], snd_strerror(error));
        error = snd_pcm_set_params(pcm, SND_PCM_FORMAT_U8, SND_PCM_ACCESS_RW_INTERLEAVED, 2, 44100, 1, 100000);
        double start = now();
        snd_pcm_sframes_t written = error == 0 ? snd_pcm_writei(pcm, data, 22050) : error;
        snd_pcm_drain(pcm);
        double taken = now() - start;
        snd_pcm_close(pcm);
        EXPECT(written == 22050, "%s: wrote %ld", names[i], written);
        EXPECT(taken > 0.49 && taken < 0.65, "%s: half a second took %.3f s", names[i], taken);
    }
    return true;
}

/* ---- Xruns --------------------------------------------------------------------------------------------------------------- */

static bool a_stalled_player_underruns_and_recovers(void)
{
    int16_t data[9600] = {0};
    snd_pcm_sframes_t delay = 0;
    snd_pcm_t *pcm = player("labcard:xrun");
    if (!pcm)
        return false;
    snd_pcm_writei(pcm, data, 9600);
    pause_for(0.25);
    int delayed = snd_pcm_delay(pcm, &delay), state = snd_pcm_state(pcm);
    snd_pcm_sframes_t written = snd_pcm_writei(pcm, data, 480);
    int recovered = snd_pcm_recover(pcm, -EPIPE, 1);
    snd_pcm_sframes_t again = snd_pcm_writei(pcm, data, 9600);
    int running = snd_pcm_state(pcm), drained = snd_pcm_drain(pcm);
    snd_pcm_close(pcm);
    EXPECT(delayed == -EPIPE && state == SND_PCM_STATE_XRUN, "delay %d, state %s", delayed, snd_pcm_state_name(state));
    EXPECT(written == -EPIPE, "writei %ld", written);
    EXPECT(recovered == 0 && again == 9600 && running == SND_PCM_STATE_RUNNING && drained == 0, "recover %d, writei %ld, %s",
           recovered, again, snd_pcm_state_name(running));
    return true;
}

static bool a_stalled_recorder_overruns_and_recovers(void)
{
    int16_t data[9600];
    snd_pcm_sframes_t delay = 0;
    snd_pcm_t *pcm = recorder("labcard:xrun");
    if (!pcm)
        return false;
    snd_pcm_sframes_t first = snd_pcm_readi(pcm, data, 480);
    pause_for(0.5);
    snd_pcm_sframes_t got = snd_pcm_readi(pcm, data, 480);
    int delayed = snd_pcm_delay(pcm, &delay), state = snd_pcm_state(pcm), recovered = snd_pcm_recover(pcm, -EPIPE, 1);
    snd_pcm_sframes_t again = snd_pcm_readi(pcm, data, 480);
    snd_pcm_close(pcm);
    EXPECT(first == 480 && got == -EPIPE, "readi %ld, after the stall %ld", first, got);
    EXPECT(delayed == -EPIPE && state == SND_PCM_STATE_XRUN, "delay %d, state %s", delayed, snd_pcm_state_name(state));
    EXPECT(recovered == 0 && again == 480, "recover %d, readi %ld", recovered, again);
    return true;
}

static bool without_a_stop_threshold_nothing_underruns(void)
{
    int16_t data[9600] = {0};
    snd_pcm_sw_params_t *sw;
    snd_pcm_uframes_t boundary;
    snd_pcm_sw_params_alloca(&sw);
    snd_pcm_t *pcm = player("labcard:xrun");
    if (!pcm)
        return false;
    snd_pcm_sw_params_current(pcm, sw);
    snd_pcm_sw_params_get_boundary(sw, &boundary);
    snd_pcm_sw_params_set_stop_threshold(pcm, sw, boundary);
    snd_pcm_sw_params(pcm, sw);
    snd_pcm_writei(pcm, data, 9600);
    pause_for(0.4);
    snd_pcm_sframes_t avail = snd_pcm_avail(pcm), delay = 1;
    int delayed = snd_pcm_delay(pcm, &delay);
    snd_pcm_close(pcm);
    EXPECT(avail > 9600 && delayed == 0 && delay < 0, "avail %ld, delay %d %ld", avail, delayed, delay);
    return true;
}

/* ---- Waiting ------------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* A loop over bare poll(): the descriptor is ready once a period, at its time, and quiet in between. */
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
        double woken = now();
        if (ready != 1 || (events & POLLERR)) {
            snd_pcm_close(pcm);
            EXPECT(false, "poll gave %d, events %x at wake %d", ready, events, i);
        }
        if (!(events & (POLLIN | POLLOUT)) && ++spurious < 1000)
            continue;
        lasting += poll(&descriptor, 1, 0) == 1; /* level-triggered: as long as nothing was moved, it stays ready */
        gaps[i++] = woken - last;
        last = woken;
        if (move(pcm, plain, data, 480) != 480)
            break;
    }
    snd_pcm_close(pcm);
    qsort(gaps, WAKES, sizeof *gaps, compare);
    EXPECT(spurious == 0 && lasting == WAKES, "%d wakes for nothing, %d of %d lasted", spurious, lasting, WAKES);
    EXPECT(fabs(gaps[WAKES / 2] - 0.01) < 0.0003 && gaps[WAKES * 9 / 10] < 0.012, "intervals p50 %.2f p90 %.2f ms",
           gaps[WAKES / 2] * 1e3, gaps[WAKES * 9 / 10] * 1e3);
    return true;
}

static bool poll_wakes_a_recorder_once_a_period(void) { return poll_wakes_once_a_period(SND_PCM_STREAM_CAPTURE); }
static bool poll_wakes_a_player_once_a_period(void) { return poll_wakes_once_a_period(SND_PCM_STREAM_PLAYBACK); }

static bool draining_waits_without_spinning(void)
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

/* ---- Delay --------------------------------------------------------------------------------------------------------------- */

static bool delay_counts_what_is_not_yet_heard(void)
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

/* ---- Troubles ------------------------------------------------------------------------------------------------------------ */

static void trouble(const char *file, bool there)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", getenv("LABCARD_DIR"), file);
    if (there)
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    else
        unlink(path);
}

static bool a_second_player_finds_the_wire_busy(void)
{
    snd_pcm_t *first = player("labcard:busy"), *second = NULL;
    if (!first)
        return false;
    int error = snd_pcm_open(&second, "labcard:busy", SND_PCM_STREAM_PLAYBACK, 0);
    snd_pcm_close(first);
    int later = snd_pcm_open(&first, "labcard:busy", SND_PCM_STREAM_PLAYBACK, 0);
    if (later == 0)
        snd_pcm_close(first);
    EXPECT(error == -EBUSY && later == 0, "open %d, after the first closed %d", error, later);
    return true;
}

static bool an_unplugged_card_is_gone(snd_pcm_stream_t stream)
{
    int16_t data[9600] = {0};
    struct pollfd descriptor;
    unsigned short events = 0;
    snd_pcm_t *pcm = device("labcard:plugged", stream, plain), *other = NULL;
    if (!pcm)
        return false;
    if (stream == SND_PCM_STREAM_PLAYBACK)
        snd_pcm_writei(pcm, data, 9600);
    else
        snd_pcm_start(pcm);
    snd_pcm_poll_descriptors(pcm, &descriptor, 1);
    trouble("plugged.unplugged", true);
    pause_for(0.02);
    double start = now();
    int ready = poll(&descriptor, 1, 1000);
    snd_pcm_poll_descriptors_revents(pcm, &descriptor, 1, &events);
    double waited = now() - start;
    snd_pcm_sframes_t moved = move(pcm, plain, data, 480), delay;
    int delayed = snd_pcm_delay(pcm, &delay), prepared = snd_pcm_prepare(pcm), still = poll(&descriptor, 1, 0);
    int opened = snd_pcm_open(&other, "labcard:plugged", stream, 0);
    trouble("plugged.unplugged", false);
    snd_pcm_sframes_t after = move(pcm, plain, data, 480);
    snd_pcm_close(pcm);
    int reopened = snd_pcm_open(&other, "labcard:plugged", stream, 0);
    if (reopened == 0)
        snd_pcm_close(other);
    EXPECT(ready == 1 && (events & POLLERR) && waited < 0.1 && still == 1, "poll %d, events %x, after %.1f ms", ready, events,
           waited * 1e3);
    EXPECT(moved == -ENODEV && delayed == -ENODEV && prepared == -ENODEV && opened == -ENODEV,
           "move %ld, delay %d, prepare %d, open %d", moved, delayed, prepared, opened);
    EXPECT(after == -ENODEV && reopened == 0, "plugged in again: the old one %ld, a new one %d", after, reopened);
    return true;
}

static bool an_unplugged_player_is_gone(void) { return an_unplugged_card_is_gone(SND_PCM_STREAM_PLAYBACK); }
static bool an_unplugged_recorder_is_gone(void) { return an_unplugged_card_is_gone(SND_PCM_STREAM_CAPTURE); }

static bool a_blocked_writer_learns_that_the_card_is_gone(void)
{
    static int16_t data[RATE];
    snd_pcm_t *pcm = player("labcard:blocked");
    if (!pcm)
        return false;
    snd_pcm_writei(pcm, data, 9600);
    trouble("blocked.unplugged", true);
    double start = now();
    snd_pcm_sframes_t written = snd_pcm_writei(pcm, data, RATE), then = snd_pcm_writei(pcm, data, 480);
    double taken = now() - start;
    int drained = snd_pcm_drain(pcm);
    trouble("blocked.unplugged", false);
    snd_pcm_close(pcm);
    EXPECT(then == -ENODEV && written < RATE && taken < 0.3, "writei %ld then %ld in %.3f s", written, then, taken);
    EXPECT(drained < 0, "drain %d", drained);
    return true;
}

static bool a_suspended_card_goes_on(bool resuming)
{
    static int16_t data[9600];
    snd_pcm_t *pcm = player("labcard:asleep");
    if (!pcm)
        return false;
    snd_pcm_writei(pcm, data, 9600);
    trouble("asleep.suspended", true);
    pause_for(0.01);
    snd_pcm_avail(pcm); /* whoever asks first finds out */
    snd_pcm_sframes_t asleep = snd_pcm_writei(pcm, data, 480);
    int state = snd_pcm_state(pcm);
    pause_for(0.3); /* longer than the buffer lasts */
    trouble("asleep.suspended", false);
    int woken = resuming ? snd_pcm_recover(pcm, -ESTRPIPE, 1) : snd_pcm_prepare(pcm), awake = snd_pcm_state(pcm);
    snd_pcm_sframes_t avail = snd_pcm_avail(pcm), written = snd_pcm_writei(pcm, data, 9600);
    snd_pcm_close(pcm);
    EXPECT(asleep == -ESTRPIPE && state == SND_PCM_STATE_SUSPENDED, "writei %ld, %s", asleep, snd_pcm_state_name(state));
    EXPECT(woken == 0 && written == 9600, "waking gave %d, writei %ld", woken, written);
    EXPECT(awake == (resuming ? SND_PCM_STATE_RUNNING : SND_PCM_STATE_PREPARED) && (!resuming || avail < 4800),
           "awake %s, avail %ld", snd_pcm_state_name(awake), avail);
    return true;
}

static bool a_suspended_card_resumes(void) { return a_suspended_card_goes_on(true); }
static bool a_suspended_card_starts_afresh(void) { return a_suspended_card_goes_on(false); }

static bool wrong_names_are_refused(void)
{
    static const char *const names[] = {"labcard:../x", "labcard:x,fast", "labcard:x,60000", "labcard:x,0,1000"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snd_pcm_t *pcm;
        int error = snd_pcm_open(&pcm, names[i], SND_PCM_STREAM_CAPTURE, 0);
        if (error == 0)
            snd_pcm_close(pcm);
        EXPECT(error == -EINVAL, "%s: open gave %d", names[i], error);
    }
    return true;
}

/* ---- The list ------------------------------------------------------------------------------------------------------------ */

static void quiet(const char *file, int line, const char *function, int error, const char *format, ...)
{
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

int main(int count, char **arguments)
{
#define QUESTION(name) {#name, name}
    static const struct {
        const char *name;
        bool (*answer)(void);
    } questions[] = {
        QUESTION(sizes_are_granted_as_asked),
        QUESTION(three_seconds_played_take_three_seconds),
        QUESTION(three_seconds_captured_take_three_seconds),
        QUESTION(s16_mono_passes_bit_by_bit),
        QUESTION(s32_stereo_passes_bit_by_bit),
        QUESTION(float_stereo_passes_bit_by_bit),
        QUESTION(s24_stereo_passes_bit_by_bit),
        QUESTION(mapped_s16_passes_bit_by_bit),
        QUESTION(what_was_dropped_is_not_heard),
        QUESTION(a_card_at_0_ppm_keeps_the_clock),
        QUESTION(a_card_at_200_ppm_gains),
        QUESTION(a_card_at_minus_200_ppm_loses),
        QUESTION(a_card_at_fractional_ppm_gains),
        QUESTION(a_card_of_44100_hz_keeps_the_clock),
        QUESTION(a_tone_of_a_44100_hz_card_is_clean),
        QUESTION(a_tone_of_a_drifting_card_is_clean),
        QUESTION(delay_counts_what_is_not_yet_heard),
        QUESTION(poll_wakes_a_recorder_once_a_period),
        QUESTION(poll_wakes_a_player_once_a_period),
        QUESTION(draining_waits_without_spinning),
        QUESTION(a_stalled_player_underruns_and_recovers),
        QUESTION(a_stalled_recorder_overruns_and_recovers),
        QUESTION(without_a_stop_threshold_nothing_underruns),
        QUESTION(plug_converts_for_any_program),
        QUESTION(a_second_player_finds_the_wire_busy),
        QUESTION(an_unplugged_player_is_gone),
        QUESTION(an_unplugged_recorder_is_gone),
        QUESTION(a_blocked_writer_learns_that_the_card_is_gone),
        QUESTION(a_suspended_card_resumes),
        QUESTION(a_suspended_card_starts_afresh),
        QUESTION(wrong_names_are_refused),
    };
    if (getenv("LABCARD_DIR") == NULL) {
        fputs("labcard-check: run me by Tools/labcard check\n", stderr);
        return 2;
    }
    snd_lib_error_set_handler(quiet);
    int wrong = 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (count > 1 && strstr(questions[i].name, arguments[1]) == NULL)
            continue;
        int attempt = 1;
        char reasons[1000] = "";
        while (attempt <= ATTEMPTS && !questions[i].answer()) {
            size_t length = strlen(reasons);
            snprintf(reasons + length, sizeof reasons - length, "%s%s", length ? " | " : "", why);
            attempt++;
        }
        bool good = attempt <= ATTEMPTS;
        char name[120];
        snprintf(name, sizeof name, "%s", questions[i].name);
        for (char *c = name; *c; c++)
            if (*c == '_')
                *c = ' ';
        printf("%s  %s%s%s\n", good ? "ok  " : "FAIL", name, *reasons ? "   " : "", reasons);
        fflush(stdout);
        wrong += !good;
    }
    return wrong ? 1 : 0;
}
