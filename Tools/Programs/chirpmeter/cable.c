/*
 * cable: copies audio from a capture device to a playback device, and does nothing else. No program can have a shorter path, so its
 * delay shows what a meter and a card add themselves: it is one period of capture and the fill of the playback buffer. With --opus it
 * is the shortest path through a codec: 20 ms frames, libopus in between, no network.
 */

#define _GNU_SOURCE
#include "device.h"

#include <getopt.h>
#include <opus/opus.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *from, *to;
    double period_ms, duration;
    int fill, priority, opus;
} options = {"lab_mic", "lab_speaker", 5, 0, 1, 0, 0};

static atomic_bool ending;
static atomic_int xruns;

static void end(int signal)
{
    (void)signal;
    atomic_store(&ending, true);
}

/* Fills the playback buffer with silence, so that each block is written `fill` periods before it plays. */
static void prepare(snd_pcm_t *capture, snd_pcm_t *playback, snd_pcm_uframes_t block)
{
    static int16_t silence[RATE];
    snd_pcm_drop(capture);
    snd_pcm_drop(playback);
    snd_pcm_prepare(capture);
    snd_pcm_prepare(playback);
    snd_pcm_writei(playback, silence, block * (snd_pcm_uframes_t)options.fill);
    snd_pcm_start(capture);
}

static void *carry(void *context)
{
    (void)context;
    OpusEncoder *encoder = NULL;
    OpusDecoder *decoder = NULL;
    if (options.opus) {
        encoder = opus_encoder_create(RATE, 1, OPUS_APPLICATION_VOIP, NULL);
        decoder = opus_decoder_create(RATE, 1, NULL);
        opus_encoder_ctl(encoder, OPUS_SET_BITRATE(options.opus * 1000));
    }
    snd_pcm_uframes_t period = (snd_pcm_uframes_t)(options.period_ms * RATE / 1000 + 0.5);
    snd_pcm_uframes_t block = options.opus ? RATE / 50 : period, buffer = block * (snd_pcm_uframes_t)(options.fill + 8);
    snd_pcm_uframes_t capture_period = period, capture_buffer = buffer;
    /* The first block after the silence starts playback; from then on both devices run in step. */
    snd_pcm_uframes_t start = block * (snd_pcm_uframes_t)options.fill + block;
    snd_pcm_t *capture = open_device(options.from, SND_PCM_STREAM_CAPTURE, &capture_period, &capture_buffer, 1);
    snd_pcm_t *playback = open_device(options.to, SND_PCM_STREAM_PLAYBACK, &period, &buffer, start);
    int16_t *sound = calloc(block, sizeof *sound);
    prepare(capture, playback, block);
    while (!atomic_load(&ending)) {
        snd_pcm_sframes_t moved = snd_pcm_readi(capture, sound, block);
        if (moved == (snd_pcm_sframes_t)block) {
            if (options.opus) {
                unsigned char packet[1500];
                int size = opus_encode(encoder, sound, (int)block, packet, sizeof packet);
                if (opus_decode(decoder, packet, size, sound, (int)block, 0) < 0)
                    memset(sound, 0, block * sizeof *sound);
            }
            moved = snd_pcm_writei(playback, sound, block);
        }
        if (moved == -EPIPE || moved == -ESTRPIPE) {
            atomic_fetch_add(&xruns, 1);
            prepare(capture, playback, block);
        } else if (moved < 0) {
            fprintf(stderr, "cable: %s\n", snd_strerror((int)moved));
            exit(1);
        }
    }
    snd_pcm_close(capture);
    snd_pcm_close(playback);
    if (options.opus) {
        opus_encoder_destroy(encoder);
        opus_decoder_destroy(decoder);
    }
    free(sound);
    return NULL;
}

static void usage(FILE *stream)
{
    fputs("cable: carry sound from one device to another, as directly as a program can\n\n"
          "  --from PCM        capture from this device (default: lab_mic)\n"
          "  --to PCM          play to this device (default: lab_speaker)\n"
          "  --period MS       period of both devices, in milliseconds (default: 5)\n"
          "  --fill PERIODS    number of periods that are written ahead (default: 1)\n"
          "  --priority 1-99   run with SCHED_FIFO at this priority (default: ordinary priority)\n"
          "  --opus KBIT/S     encode and decode with Opus at this bit rate, in frames of 20 ms\n"
          "  --duration S      end after S seconds (default: when interrupted)\n",
          stream);
}

int main(int count, char **arguments)
{
    static const struct option known[] = {{"from", 1, 0, 'f'},     {"to", 1, 0, 't'},   {"period", 1, 0, 'p'},
                                          {"fill", 1, 0, 'i'},     {"priority", 1, 0, 'r'}, {"opus", 1, 0, 'o'},
                                          {"duration", 1, 0, 'd'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    int option;
    while ((option = getopt_long(count, arguments, "hd:", known, NULL)) != -1)
        switch (option) {
        case 'f': options.from = optarg; break;
        case 't': options.to = optarg; break;
        case 'p': options.period_ms = atof(optarg); break;
        case 'i': options.fill = atoi(optarg); break;
        case 'r': options.priority = atoi(optarg); break;
        case 'o': options.opus = atoi(optarg); break;
        case 'd': options.duration = atof(optarg); break;
        case 'h': usage(stdout); return 0;
        default: usage(stderr); return 2;
        }
    if (options.period_ms < 0.5 || options.period_ms > 100 || options.fill < 0 || options.fill > 9) {
        usage(stderr);
        return 2;
    }
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    pthread_t thread;
    if (!start_thread(&thread, options.priority, carry, NULL))
        fprintf(stderr, "cable: SCHED_FIFO %d was not granted\n", options.priority);
    double until = options.duration > 0 ? now() + options.duration : 1e18;
    while (!atomic_load(&ending) && now() < until) {
        struct timespec nap = {0, 50000000};
        nanosleep(&nap, NULL);
    }
    atomic_store(&ending, true);
    pthread_join(thread, NULL);
    fprintf(stderr, "cable: %d xruns\n", atomic_load(&xruns));
    return 0;
}
