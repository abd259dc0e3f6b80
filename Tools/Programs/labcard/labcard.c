/*
 * labcard: a simulated sound card for machines without one.
 *
 * This is a plugin of the ALSA library (an "ioplug"). Programs open it with plain snd_pcm_open and see what a simple, correct card
 * would show them: a pointer that moves by its own clock, sizes granted as requested, real underruns and overruns. There is no daemon,
 * no kernel module and no thread.
 *
 *     labcard:WIRE             play into WIRE, or capture from it
 *     labcard:WIRE,PPM         the card's own clock runs PPM parts per million fast (fractions and signs allowed)
 *     labcard:WIRE,PPM,RATE    the card runs at RATE Hz only (8000 to 192000, default 48000)
 *     labcard:WIRE,PPM,RATE,FORMAT    it plays and captures samples in FORMAT only
 *
 * The wire. WIRE is a file of WIRE_FRAMES slots in $LABCARD_DIR (else $XDG_RUNTIME_DIR/labcard, else /dev/shm/labcard-UID), mapped
 * by every program that plays or captures there. Frame w of a wire plays when CLOCK_MONOTONIC reads w / 48000 s, so the wire needs no
 * clock, no header and no server. A slot carries the lap in which it was written: a slot that was not written in the current lap is
 * silence. Played audio is on the wire before its time; captured audio is read after its time. One program at a time may play into a
 * wire (others get EBUSY), any number may capture from it.
 *
 * The card. Its pointer is a function of the time only, as with DMA, and two PCMs with equal PPM and RATE advance together like the
 * two halves of one card. A card of 48000 Hz at 0 ppm copies samples unchanged (S16 and S32 bit by bit). Any other card uses a 32-tap
 * windowed sinc between itself and the wire and is 16 frames later, which snd_pcm_delay includes. Mono plays on both channels of the
 * wire and captures their mean.
 *
 * The poll descriptor is a timerfd, set to the time at which avail reaches avail_min. That time depends only on the state and on the
 * application's pointer, so setting it again changes nothing, and it stays readable until the program has advanced.
 *
 * Faults, injected by a test: while the file WIRE.unplugged exists in the directory, the wire's PCMs are gone (ENODEV, POLLERR), and
 * stay gone for programs that had them open. While WIRE.suspended exists they are suspended (ESTRPIPE); then snd_pcm_resume continues
 * where it stopped, and snd_pcm_prepare starts again. Both are noticed within 5 ms of running. While WIRE.hanging exists, opening and
 * closing do not return, as with a sound server that hangs. While WIRE.quantum exists, which contains a number of frames, the pointer
 * moves by this number at a time, as with a sound server: a playing card takes them at the start of each cycle.
 *
 * A PCM whose configuration has a text in `says` writes it to standard error, and to alsa-lib's own handler, when it is opened, as some
 * plugins do.
 *
 * Sizes: S16_LE, S32_LE, FLOAT_LE, S24_LE, 1 or 2 channels, 2 or more periods of 64 bytes to 32 KiB, buffer up to 128 KiB (ALSA lets a
 * plugin limit bytes, not frames): for S16 mono a period of 32 to 16384 frames and a buffer of 64 to 65536.
 *
 * Not modelled: the FIFO behind the DMA (a few ms on USB), pause, and the old audio that a card repeats after an underrun which
 * stop_threshold permits (silence here).
 */

#define _GNU_SOURCE
#include "labcard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Samples in the program's format ------------------------------------------------------------------------------------- */

static unsigned char *place(const snd_pcm_channel_area_t *area, snd_pcm_uframes_t frame)
{
    return (unsigned char *)area->addr + (area->first + frame * area->step) / 8;
}

static int32_t sample_from(const void *bytes, snd_pcm_format_t format)
{
    if (format == SND_PCM_FORMAT_S16_LE) {
        int16_t value;
        memcpy(&value, bytes, sizeof value);
        return value * 65536;
    }
    if (format == SND_PCM_FORMAT_FLOAT_LE) {
        float value;
        memcpy(&value, bytes, sizeof value);
        return clip(value * 2147483648.0);
    }
    int32_t value;
    memcpy(&value, bytes, sizeof value);
    return format == SND_PCM_FORMAT_S24_LE ? (int32_t)((uint32_t)value << 8) : value;
}

static void sample_to(void *bytes, snd_pcm_format_t format, int32_t sample)
{
    if (format == SND_PCM_FORMAT_S16_LE) {
        int32_t rounded = sample > INT32_MAX - 0x8000 ? INT16_MAX : (sample + 0x8000) >> 16;
        int16_t value = (int16_t)rounded;
        memcpy(bytes, &value, sizeof value);
    } else if (format == SND_PCM_FORMAT_FLOAT_LE) {
        float value = (float)(sample / 2147483648.0);
        memcpy(bytes, &value, sizeof value);
    } else if (format == SND_PCM_FORMAT_S24_LE) {
        int32_t value = sample > INT32_MAX - 0x80 ? 0x7FFFFF : (sample + 0x80) >> 8;
        memcpy(bytes, &value, sizeof value);
    } else {
        memcpy(bytes, &sample, sizeof sample);
    }
}

/* ---- Functions called by ALSA ---------------------------------------------------------------------------------------- */

static snd_pcm_sframes_t on_pointer(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    int64_t hardware, program;
    int error = locate(card, &hardware, &program);
    if (error == -EPIPE)
        return error;
    if (error < 0)
        return (snd_pcm_sframes_t)io->hw_ptr; /* the state reports the error; a negative value would be taken for an xrun */
    if (io->state == SND_PCM_STATE_DRAINING && !is_playback(card))
        return -EPIPE; /* capture has nothing to drain: ALSA stops it */
    rearm(card, io->state, program);
    return (snd_pcm_sframes_t)(card->boundary ? hardware % (int64_t)card->boundary : hardware);
}

static int on_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *delay)
{
    struct card *card = io->private_data;
    int64_t hardware, program;
    int error = locate(card, &hardware, &program);
    if (error < 0)
        return error;
    if (card->io.state == SND_PCM_STATE_RUNNING)
        hardware = position_now(card);
    *delay = (snd_pcm_sframes_t)(is_playback(card) ? program - hardware : hardware - program);
    if (!card->direct)
        *delay += HALF;
    return 0;
}

static snd_pcm_sframes_t on_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
                                     snd_pcm_uframes_t size)
{
    struct card *card = io->private_data;
    int64_t hardware, program;
    int error = locate(card, &hardware, &program);
    if (error < 0)
        return error;
    const snd_pcm_channel_area_t *first = &areas[0], *second = &areas[io->channels - 1];
    bool moves = is_playback(card) || io->access == SND_PCM_ACCESS_RW_INTERLEAVED ||
                 io->access == SND_PCM_ACCESS_RW_NONINTERLEAVED;
    for (snd_pcm_uframes_t i = 0; i < size; i++) {
        int64_t frame = program + (int64_t)i;
        if (is_playback(card)) {
            card->memory[(uint64_t)frame & card->memory_mask] = (struct sample){
                {sample_from(place(first, offset + i), io->format), sample_from(place(second, offset + i), io->format)}};
        } else {
            struct sample sample = captured(card, frame);
            if (io->channels == 1)
                sample.channel[0] = (int32_t)(((int64_t)sample.channel[0] + sample.channel[1]) >> 1);
            sample_to(place(first, offset + i), io->format, sample.channel[0]);
            if (io->channels == 2)
                sample_to(place(second, offset + i), io->format, sample.channel[1]);
        }
    }
    if (is_playback(card) && io->state == SND_PCM_STATE_RUNNING)
        publish(card, program, program + (int64_t)size);
    if (moves) /* a mapped capture only fills the program's view; the program advances later, without a call */
        rearm(card, io->state, program + (int64_t)size);
    return (snd_pcm_sframes_t)size;
}

static int on_start(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    int trouble = look_for_trouble(card);
    if (trouble < 0)
        return trouble;
    int64_t written = (int64_t)io->appl_ptr;
    card->base = tick_at(card->clock, now_ns()) + (is_playback(card) ? 1 : 0);
    card->reached = 0;
    if (is_playback(card))
        publish(card, 0, written);
    rearm(card, SND_PCM_STATE_RUNNING, written);
    return 0;
}

static int on_stop(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    bool running = io->state == SND_PCM_STATE_RUNNING || io->state == SND_PCM_STATE_DRAINING;
    if (is_playback(card) && running)
        silence(card, program_at(card, pointer_now(card)));
    set_timer(card, AT_ONCE);
    return 0;
}

static int on_prepare(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    card->checked = 0;
    card->reached = 0;
    if (io->state == SND_PCM_STATE_DISCONNECTED || exists(card, card->unplugged))
        return -ENODEV;
    if (exists(card, card->suspended))
        return -ESTRPIPE;
    rearm(card, SND_PCM_STATE_PREPARED, 0);
    return 0;
}

static int on_resume(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    if (io->state != SND_PCM_STATE_SUSPENDED)
        return -EBADFD;
    if (exists(card, card->suspended)) {
        /* ALSA drops this result, and a suspended program would not call: the pause keeps it from polling in a busy loop. */
        usleep(20000);
        return -EAGAIN;
    }
    int64_t program = program_at(card, card->frozen);
    card->base = tick_at(card->clock, now_ns()) + 1 - card->frozen;
    if (is_playback(card))
        publish(card, card->frozen, program);
    snd_pcm_ioplug_set_state(io, card->before_suspend);
    rearm(card, io->state, program);
    return 0;
}

static int on_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params)
{
    struct card *card = io->private_data;
    (void)params;
    if (exists(card, card->unplugged))
        return -ENODEV;
    card->avail_min = io->period_size;
    card->stop_threshold = io->buffer_size;
    free(card->memory);
    card->memory = NULL;
    if (is_playback(card)) {
        uint64_t frames = 64;
        while (frames < io->buffer_size + TAPS)
            frames *= 2;
        card->memory_mask = frames - 1;
        card->memory = calloc(frames, sizeof *card->memory);
        if (card->memory == NULL)
            return -ENOMEM;
    }
    return 0;
}

static int on_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params)
{
    struct card *card = io->private_data;
    snd_pcm_sw_params_get_avail_min(params, &card->avail_min);
    snd_pcm_sw_params_get_stop_threshold(params, &card->stop_threshold);
    snd_pcm_sw_params_get_boundary(params, &card->boundary);
    int64_t hardware, program;
    if (locate(card, &hardware, &program) == 0)
        rearm(card, io->state, program);
    return 0;
}

static int on_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned count, unsigned short *events)
{
    struct card *card = io->private_data;
    unsigned short ready = is_playback(card) ? POLLOUT : POLLIN;
    int64_t hardware, program;
    (void)descriptors;
    (void)count;
    *events = 0;
    if (locate(card, &hardware, &program) < 0) {
        *events = ready | POLLERR;
        return 0;
    }
    switch (io->state) {
    case SND_PCM_STATE_PREPARED:
    case SND_PCM_STATE_RUNNING:
        if (available(card, hardware, program) >= (int64_t)card->avail_min)
            *events = ready;
        break;
    case SND_PCM_STATE_DRAINING:
        if (!is_playback(card) || hardware >= program)
            *events = ready;
        break;
    default:
        *events = ready | POLLERR;
    }
    rearm(card, io->state, program);
    return 0;
}

static void on_dump(snd_pcm_ioplug_t *io, snd_output_t *output)
{
    struct card *card = io->private_data;
    snd_output_printf(output, "%s, %+.3f ppm\n", io->name, ((double)card->clock / card->rate - 1e9) / 1e3);
    if (io->buffer_size)
        snd_pcm_dump_setup(io->pcm, output);
}

void release(struct card *card)
{
    if (card->wire != NULL)
        munmap(card->wire, WIRE_FRAMES * sizeof *card->wire);
    if (card->wire_file >= 0) {
        /* A process that is just being started holds a copy of the descriptor until it calls exec. */
        flock(card->wire_file, LOCK_UN);
        close(card->wire_file);
    }
    if (card->directory >= 0)
        close(card->directory);
    if (card->io.poll_fd >= 0)
        close(card->io.poll_fd);
    free((char *)card->io.name);
    free(card->memory);
    free(card->sinc);
    free(card);
}

static int on_close(snd_pcm_ioplug_t *io)
{
    hang(io->private_data);
    release(io->private_data);
    return 0;
}

const snd_pcm_ioplug_callback_t callbacks = {
    .start = on_start,
    .stop = on_stop,
    .pointer = on_pointer,
    .transfer = on_transfer,
    .close = on_close,
    .hw_params = on_hw_params,
    .sw_params = on_sw_params,
    .prepare = on_prepare,
    .resume = on_resume,
    .poll_revents = on_poll_revents,
    .dump = on_dump,
    .delay = on_delay,
};
