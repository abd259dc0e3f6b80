/* A mono S16 device at 48 kHz, and the priority of its thread. */
#ifndef DEVICE_H
#define DEVICE_H

#include <alsa/asoundlib.h>
#include <pthread.h>
#include <stdbool.h>

enum { RATE = 48000 };

/* Opens a device with a period and a buffer as close to the given ones as possible, in frames. Prints an error and exits if it
   cannot. Playback starts when `start` frames have been written. */
snd_pcm_t *open_device(const char *name, snd_pcm_stream_t stream, snd_pcm_uframes_t *period, snd_pcm_uframes_t *buffer,
                       snd_pcm_uframes_t start);

/* Starts a thread with SCHED_FIFO at a priority of 1 to 99 (0: an ordinary thread). Returns false if only an ordinary thread
   was granted. */
bool start_thread(pthread_t *thread, int priority, void *(*body)(void *), void *context);

/* The time of CLOCK_MONOTONIC in seconds. */
double now(void);

#endif
