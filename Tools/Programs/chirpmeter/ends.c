#include "chirpmeter.h"
#include "device.h"
#include "signal.h"

#include <stdlib.h>

struct mouth mouth;
struct ear ear;

void *run_mouth(void *context)
{
    snd_pcm_t *pcm = ((void **)context)[0];
    snd_pcm_uframes_t period = *(snd_pcm_uframes_t *)((void **)context)[1];
    int16_t *sound = malloc(period * sizeof *sound);
    for (int64_t frame = 0; frame < mouth.length && !atomic_load(&ending);) {
        compose(sound, frame, period, mouth.starts, mouth.chirps, options.pilot);
        snd_pcm_sframes_t written = snd_pcm_writei(pcm, sound, period), delay;
        if (written < 0) {
            note_xrun(&mouth.track);
            if (snd_pcm_recover(pcm, (int)written, 1) < 0) {
                atomic_store(&broken, true);
                break;
            }
            continue;
        }
        frame += written;
        if (snd_pcm_state(pcm) == SND_PCM_STATE_RUNNING) {
            double before = now();
            if (snd_pcm_delay(pcm, &delay) == 0)
                see(&mouth.track, before, now(), frame - delay);
        }
    }
    snd_pcm_drain(pcm);
    snd_pcm_close(pcm);
    free(sound);
    return NULL;
}

void *run_ear(void *context)
{
    (void)context;
    snd_pcm_start(ear.pcm);
    while (!atomic_load(&ending) && ear.count + ear.period <= ear.max) {
        snd_pcm_sframes_t got = snd_pcm_readi(ear.pcm, ear.sound + ear.count, ear.period);
        if (got < 0) {
            /* Missed frames are recorded as silence, according to the clock, so that later frames keep their times. */
            note_xrun(&ear.track);
            if (snd_pcm_recover(ear.pcm, (int)got, 1) < 0 || snd_pcm_start(ear.pcm) < 0) {
                atomic_store(&broken, true);
                break;
            }
            double place = ear.track.count ? frame_at(&ear.track, now()) : 0;
            if (place > (double)ear.count)
                ear.count = place < (double)ear.max ? (size_t)place : ear.max;
            continue;
        }
        ear.count += (size_t)got;
        double before = now();
        snd_pcm_sframes_t waiting = snd_pcm_avail(ear.pcm);
        if (waiting >= 0)
            see(&ear.track, before, now(), (int64_t)ear.count + waiting);
    }
    snd_pcm_close(ear.pcm);
    return NULL;
}
