#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int error, const char *name, const char *what)
{
    if (error >= 0)
        return;
    fprintf(stderr, "%s: cannot %s: %s\n", name, what, snd_strerror(error));
    exit(1);
}

snd_pcm_t *open_device(const char *name, snd_pcm_stream_t stream, snd_pcm_uframes_t *period, snd_pcm_uframes_t *buffer,
                       snd_pcm_uframes_t start)
{
    snd_pcm_t *pcm;
    snd_pcm_hw_params_t *hw;
    snd_pcm_sw_params_t *sw;
    snd_pcm_hw_params_alloca(&hw);
    snd_pcm_sw_params_alloca(&sw);
    must(snd_pcm_open(&pcm, name, stream, 0), name, stream == SND_PCM_STREAM_PLAYBACK ? "open to play" : "open to capture");
    must(snd_pcm_hw_params_any(pcm, hw), name, "find its parameters");
    must(snd_pcm_hw_params_set_access(pcm, hw, SND_PCM_ACCESS_RW_INTERLEAVED), name, "use read and write");
    must(snd_pcm_hw_params_set_format(pcm, hw, SND_PCM_FORMAT_S16_LE), name, "use S16_LE (try plug:)");
    must(snd_pcm_hw_params_set_channels(pcm, hw, 1), name, "use one channel (try plug:)");
    must(snd_pcm_hw_params_set_rate(pcm, hw, RATE, 0), name, "use 48000 Hz (try plug:)");
    must(snd_pcm_hw_params_set_period_size_near(pcm, hw, period, NULL), name, "set the period");
    must(snd_pcm_hw_params_set_buffer_size_near(pcm, hw, buffer), name, "set the buffer");
    must(snd_pcm_hw_params(pcm, hw), name, "set the parameters");
    must(snd_pcm_sw_params_current(pcm, sw), name, "find its software parameters");
    must(snd_pcm_sw_params_set_start_threshold(pcm, sw, start), name, "set the start threshold");
    must(snd_pcm_sw_params(pcm, sw), name, "set the software parameters");
    return pcm;
}

bool start_thread(pthread_t *thread, int priority, void *(*body)(void *), void *context)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    bool granted = true;
    if (priority > 0) {
        struct sched_param parameter = {.sched_priority = priority};
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        pthread_attr_setschedparam(&attributes, &parameter);
        granted = pthread_create(thread, &attributes, body, context) == 0;
    }
    if (priority == 0 || !granted) {
        int error = pthread_create(thread, NULL, body, context);
        if (error != 0) {
            fprintf(stderr, "cannot start a thread: %s\n", strerror(error));
            exit(1);
        }
    }
    pthread_attr_destroy(&attributes);
    return granted;
}
