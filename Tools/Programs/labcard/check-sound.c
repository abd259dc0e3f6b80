/* Checks that captured audio equals the played audio. */
#define _GNU_SOURCE
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    recording->result = move_frames(pcm, recording->setup, recording->data, recording->frames);
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

/* Checks that half a second of noise is captured bit for bit, by a program that captured before and by one that joined later.
   */
static bool capture_equals_playback(const char *name, struct setup setup)
{
    enum { LENGTH = RATE / 2 };
    const size_t width = setup.channels * (size_t)(setup.format == SND_PCM_FORMAT_S16_LE ? 2 : 4);
    unsigned char *played = malloc(LENGTH * width);
    for (size_t i = 0; i < LENGTH * setup.channels; i++) {
        int32_t value = noise();
        if (setup.format == SND_PCM_FORMAT_S16_LE)
            ((int16_t *)played)[i] = (int16_t)(value >> 16) | 1; /* never zero, because silence surrounds it */
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
        /* In mapped access the program itself starts the card. */
        snd_pcm_uframes_t first = setup.access == SND_PCM_ACCESS_MMAP_INTERLEAVED ? setup.buffer / 2 : setup.buffer;
        written = move_frames(pcm, setup, played, first);
        started = now();
        if (snd_pcm_state(pcm) == SND_PCM_STATE_PREPARED)
            snd_pcm_start(pcm);
        if (written == (snd_pcm_sframes_t)first)
            written += move_frames(pcm, setup, played + first * width, LENGTH - first);
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
    /* The late capture begins in the middle of the noise: finds this position, and compares up to the end of the noise. */
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

bool s16_mono_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", plain);
}

bool s32_stereo_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", with(SND_PCM_FORMAT_S32_LE, 2, SND_PCM_ACCESS_RW_INTERLEAVED));
}

bool float_stereo_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", with(SND_PCM_FORMAT_FLOAT_LE, 2, SND_PCM_ACCESS_RW_INTERLEAVED));
}

bool s24_stereo_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", with(SND_PCM_FORMAT_S24_LE, 2, SND_PCM_ACCESS_RW_INTERLEAVED));
}

bool mapped_s16_passes_bit_by_bit(void)
{
    return capture_equals_playback("labcard:bits", with(SND_PCM_FORMAT_S16_LE, 1, SND_PCM_ACCESS_MMAP_INTERLEAVED));
}

/* Checks the frequency and the purity of a tone played by a card of another rate and captured by a card of 48 kHz. */
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

bool a_tone_of_a_44100_hz_card_is_clean(void) { return tone_crosses("labcard:tone,0,44100", 44100, 0); }
bool a_tone_of_a_drifting_card_is_clean(void) { return tone_crosses("labcard:tone,300", RATE, 300); }

bool what_was_dropped_is_not_heard(void)
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
