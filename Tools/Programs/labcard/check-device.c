#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

char why[400];

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
    while (nanosleep(&t, &t) < 0 && errno == EINTR) {}
}

static uint32_t noise_state;

int32_t noise(void)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (int32_t)noise_state;
}

const struct setup plain = {SND_PCM_FORMAT_S16_LE, 1, RATE, 480, 9600, SND_PCM_ACCESS_RW_INTERLEAVED};

snd_pcm_t *device(const char *name, snd_pcm_stream_t stream, struct setup setup)
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

snd_pcm_t *player(const char *name)
{
    return device(name, SND_PCM_STREAM_PLAYBACK, plain);
}

snd_pcm_t *recorder(const char *name)
{
    return device(name, SND_PCM_STREAM_CAPTURE, plain);
}

snd_pcm_sframes_t move_frames(snd_pcm_t *pcm, struct setup setup, void *data, snd_pcm_uframes_t frames)
{
    bool mapped = setup.access == SND_PCM_ACCESS_MMAP_INTERLEAVED;
    if (snd_pcm_stream(pcm) == SND_PCM_STREAM_PLAYBACK)
        return mapped ? snd_pcm_mmap_writei(pcm, data, frames) : snd_pcm_writei(pcm, data, frames);
    return mapped ? snd_pcm_mmap_readi(pcm, data, frames) : snd_pcm_readi(pcm, data, frames);
}
