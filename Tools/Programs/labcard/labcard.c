/*
 * labcard: a sound card for machines without one.
 *
 * This is a plugin of the ALSA library (an "ioplug"). Programs open it with plain snd_pcm_open and meet what a small, honest
 * card would show them: a pointer that moves by its own clock, sizes granted as asked, real underruns and overruns. There is no
 * daemon, no kernel module and no thread.
 *
 *     labcard:WIRE             play into WIRE, or capture from it
 *     labcard:WIRE,PPM         the card's own clock runs PPM parts per million fast (fractions and signs allowed)
 *     labcard:WIRE,PPM,RATE    the card runs at RATE Hz and at nothing else (8000 to 192000, 48000 when not given)
 *     labcard:WIRE,PPM,RATE,FORMAT    it takes and gives samples in FORMAT only
 *
 * The wire. WIRE is a file of WIRE_FRAMES slots in $LABCARD_DIR (else $XDG_RUNTIME_DIR/labcard, else /dev/shm/labcard-UID),
 * mapped by everyone who plays or captures there. Frame w of a wire sounds when CLOCK_MONOTONIC reads w / 48000 s, so the wire
 * needs no clock, no header and nobody to serve it. A slot carries the lap in which it was written: what nobody played in this
 * lap is silence. What is played is on the wire before its time; what is captured is read after its time. One program at a time
 * may play into a wire (others get EBUSY), any number may capture from it.
 *
 * The card. Its pointer is a function of the time and of nothing else, as with DMA, and two PCMs with equal PPM and RATE tick
 * together like the two halves of one card. A card of 48000 Hz at 0 ppm moves samples as they are (S16 and S32 bit by bit). Any
 * other meets the wire through a 32-tap windowed sinc and is 16 frames later, which snd_pcm_delay includes. Mono plays on both
 * channels of the wire and captures their mean.
 *
 * The poll descriptor is a timerfd, set to the moment when avail reaches avail_min. That moment depends only on the state and
 * on the application's pointer, so setting it again changes nothing, and it stays readable until the program has moved on.
 *
 * Troubles, made by a test: while the file WIRE.unplugged exists in the directory, the wire's PCMs are gone (ENODEV, POLLERR),
 * and stay gone for those who had them open. While WIRE.suspended exists they are asleep (ESTRPIPE); then snd_pcm_resume goes
 * on where it stopped, and snd_pcm_prepare starts afresh. Both are noticed within 5 ms of running. While WIRE.hanging exists,
 * opening and closing do not return, as with a sound server that hangs. While WIRE.quantum exists, which holds a number of frames,
 * the pointer moves so many at a time, as a sound server does: a playing card takes them at the start of each cycle.
 *
 * A PCM whose configuration has a text in `says` writes it to standard error, and to alsa-lib's own handler, when it is opened,
 * as some plugins do.
 *
 * Sizes: S16_LE, S32_LE, FLOAT_LE, S24_LE, 1 or 2 channels, 2 or more periods of 64 bytes to 32 KiB, buffer up to 128 KiB (ALSA lets a
 * plugin limit bytes, not frames): for S16 mono a period of 32 to 16384 frames and a buffer of 64 to 65536.
 *
 * Not modelled: the FIFO behind the DMA (a few ms on USB), pause, and the old sound a card repeats after an underrun that
 * stop_threshold lets pass (silence here).
 */

#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    WIRE_RATE = 48000,
    WIRE_FRAMES = 1 << 18, /* 5.46 s: the longest buffer ahead of now, the longest behind it, and as much again */
    TAPS = 32,
    HALF = TAPS / 2,
    PHASES = 256,
    TROUBLE_INTERVAL_NS = 5000000,
};

/* Clock rates are counted in billionths of a hertz, so that parts per billion of drift stay whole numbers. */
static const uint64_t WIRE_CLOCK = WIRE_RATE * UINT64_C(1000000000);

typedef unsigned __int128 wide;

struct sample {
    int32_t channel[2];
};

struct slot {
    uint32_t lap;
    struct sample sample;
};

struct card {
    snd_pcm_ioplug_t io;
    int directory;
    int wire_file;
    char unplugged[80], suspended[80], hanging[80], quantized[80];
    struct slot *wire;

    uint64_t clock; /* frames per second of CLOCK_MONOTONIC, times 10^9 */
    bool direct;    /* the card's frames are the wire's frames */
    unsigned rate;
    snd_pcm_format_t format; /* the only one; SND_PCM_FORMAT_UNKNOWN: any of formats */
    float *sinc; /* PHASES + 1 rows of TAPS; only when not direct */

    struct sample *memory; /* playback: the last frames written, at (frame & memory_mask); the card's own RAM */
    uint64_t memory_mask;

    snd_pcm_uframes_t avail_min, stop_threshold, boundary;

    int64_t base;    /* the clock's tick at which frame 0 sounds */
    int64_t frozen;  /* where the pointer stood when the machine was suspended */
    int64_t armed;   /* what the timer is set to, in ns; 0: not set */
    int64_t quantum; /* frames that the pointer moves at a time; 0: it moves evenly */
    int64_t reached; /* the furthest the pointer was since the start */
    int64_t checked; /* when the trouble files were looked for, in ns */
    snd_pcm_state_t before_suspend;
};

/* ---- Clocks -------------------------------------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The tick at which a clock stands at a time, and the first nanosecond at which it stands there. */
static int64_t tick_at(uint64_t clock, int64_t ns)
{
    return (int64_t)((wide)ns * clock / UINT64_C(1000000000000000000));
}

static int64_t time_of(uint64_t clock, int64_t tick)
{
    return (int64_t)(((wide)tick * UINT64_C(1000000000000000000) + clock - 1) / clock);
}

/* Where a tick of one clock lies on another: whole ticks, rounded down, and the rest as a fraction of a tick. */
static int64_t convert(int64_t tick, uint64_t from, uint64_t to, float *fraction)
{
    wide product = (wide)tick * to;
    int64_t whole = (int64_t)(product / from);
    *fraction = (float)((double)(uint64_t)(product - (wide)whole * from) / (double)from);
    return whole;
}

/* ---- The wire ------------------------------------------------------------------------------------------------------------ */

static uint32_t lap_of(int64_t frame)
{
    return (uint32_t)(frame / WIRE_FRAMES) + 1;
}

static struct slot *slot_of(const struct card *card, int64_t frame)
{
    return &card->wire[frame & (WIRE_FRAMES - 1)];
}

static struct sample wire_read(const struct card *card, int64_t frame)
{
    struct slot *slot = slot_of(card, frame);
    /* The slot could be taken for a later lap while it is read, but only by someone writing a whole ring ahead. */
    if (__atomic_load_n(&slot->lap, __ATOMIC_ACQUIRE) != lap_of(frame))
        return (struct sample){{0, 0}};
    return slot->sample;
}

static void wire_write(struct card *card, int64_t frame, struct sample sample)
{
    struct slot *slot = slot_of(card, frame);
    slot->sample = sample;
    __atomic_store_n(&slot->lap, lap_of(frame), __ATOMIC_RELEASE);
}

static int32_t clip(double value)
{
    if (value >= 2147483647.0)
        return INT32_MAX;
    if (value <= -2147483648.0)
        return INT32_MIN;
    return value == value ? (int32_t)lrint(value) : 0;
}

static void make_sinc(float *table, double cutoff)
{
    for (int phase = 0; phase <= PHASES; phase++) {
        float *row = table + phase * TAPS;
        double sum = 0, values[TAPS];
        for (int tap = 0; tap < TAPS; tap++) {
            double x = tap - (HALF - 1) - (double)phase / PHASES;
            double window = 0.42 + 0.5 * cos(M_PI * x / HALF) + 0.08 * cos(2 * M_PI * x / HALF);
            values[tap] = fabs(x) < 1e-9 ? cutoff : sin(M_PI * cutoff * x) / (M_PI * x);
            values[tap] *= fabs(x) <= HALF ? window : 0;
            sum += values[tap];
        }
        for (int tap = 0; tap < TAPS; tap++)
            row[tap] = (float)(values[tap] / sum);
    }
}

/* The sound between window[HALF - 1] and window[HALF], at a fraction of the way. */
static struct sample interpolate(const struct card *card, const struct sample window[TAPS], float fraction)
{
    float place = fraction * PHASES;
    int phase = (int)place;
    if (phase >= PHASES)
        phase = PHASES - 1;
    float blend = place - (float)phase;
    const float *row = card->sinc + phase * TAPS, *next = row + TAPS;
    double left = 0, right = 0;
    for (int tap = 0; tap < TAPS; tap++) {
        double weight = row[tap] + blend * (next[tap] - row[tap]);
        left += weight * window[tap].channel[0];
        right += weight * window[tap].channel[1];
    }
    return (struct sample){{clip(left), clip(right)}};
}

static struct sample remembered(const struct card *card, int64_t frame)
{
    return frame < 0 ? (struct sample){{0, 0}} : card->memory[(uint64_t)frame & card->memory_mask];
}

/* The first wire frame that sounds at or after a card frame. */
static int64_t wire_frame_for(const struct card *card, int64_t frame)
{
    wide product = (wide)(card->base + frame) * WIRE_CLOCK;
    return (int64_t)((product + card->clock - 1) / card->clock);
}

/* Puts the card frames from..<to, which are in the card's memory, on the wire. What is too late for its time is not heard. */
static void publish(struct card *card, int64_t from, int64_t to)
{
    int64_t first = wire_frame_for(card, from), end = wire_frame_for(card, to), now = tick_at(WIRE_CLOCK, now_ns());
    for (int64_t frame = first > now ? first : now; frame < end; frame++) {
        if (card->direct) {
            wire_write(card, frame, remembered(card, frame - card->base));
            continue;
        }
        float fraction;
        int64_t newest = convert(frame, WIRE_CLOCK, card->clock, &fraction) - card->base;
        struct sample window[TAPS];
        for (int tap = 0; tap < TAPS; tap++)
            window[tap] = remembered(card, newest - (TAPS - 1) + tap);
        wire_write(card, frame, interpolate(card, window, fraction));
    }
}

/* Takes back what was played ahead of now. */
static void silence(struct card *card, int64_t end_frame)
{
    int64_t end = wire_frame_for(card, end_frame);
    for (int64_t frame = tick_at(WIRE_CLOCK, now_ns()) + 1; frame < end; frame++) {
        uint32_t lap = lap_of(frame);
        __atomic_compare_exchange_n(&slot_of(card, frame)->lap, &lap, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}

static struct sample captured(const struct card *card, int64_t frame)
{
    if (card->direct)
        return wire_read(card, card->base + frame);
    float fraction;
    int64_t newest = convert(card->base + frame, card->clock, WIRE_CLOCK, &fraction);
    struct sample window[TAPS];
    for (int tap = 0; tap < TAPS; tap++)
        window[tap] = wire_read(card, newest - (TAPS - 1) + tap);
    return interpolate(card, window, fraction);
}

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

/* ---- Pointers and the poll descriptor ------------------------------------------------------------------------------------ */

static bool is_playback(const struct card *card)
{
    return card->io.stream == SND_PCM_STREAM_PLAYBACK;
}

/* Which frame sounds or is heard now, counted from the start. */
static int64_t position_now(const struct card *card)
{
    int64_t position = tick_at(card->clock, now_ns()) - card->base;
    return position > 0 ? position : 0;
}

/* Where the card's pointer is, as frames since it started. */
static int64_t pointer_now(struct card *card)
{
    int64_t pointer = position_now(card);
    if (card->quantum > 1) {
        pointer = pointer / card->quantum * card->quantum;
        if (is_playback(card))
            pointer += card->quantum;
    }
    if (pointer > card->reached)
        card->reached = pointer;
    return card->reached;
}

/* The position at which the pointer reaches a frame. */
static int64_t position_of(const struct card *card, int64_t pointer)
{
    if (card->quantum <= 1)
        return pointer;
    int64_t position = (pointer + card->quantum - 1) / card->quantum * card->quantum;
    return is_playback(card) ? position - card->quantum : position;
}

/* Where the program is: ALSA's pointer runs around at the boundary (hours on 32-bit machines), this one does not. */
static int64_t program_at(const struct card *card, int64_t hardware)
{
    if (card->boundary == 0)
        return (int64_t)card->io.appl_ptr;
    int64_t boundary = (int64_t)card->boundary, ahead = (int64_t)card->io.appl_ptr - hardware % boundary;
    if (ahead > boundary / 2)
        ahead -= boundary;
    if (ahead < -boundary / 2)
        ahead += boundary;
    return hardware + ahead;
}

static int64_t available(const struct card *card, int64_t hardware, int64_t program)
{
    return is_playback(card) ? hardware + (int64_t)card->io.buffer_size - program : hardware - program;
}

static void set_timer(struct card *card, int64_t deadline)
{
    if (deadline == card->armed)
        return;
    struct itimerspec when = {{0, 0}, {deadline / 1000000000, deadline % 1000000000}};
    timerfd_settime(card->io.poll_fd, TFD_TIMER_ABSTIME, &when, NULL);
    card->armed = deadline;
}

enum { NEVER = 0, AT_ONCE = 1 };

/* Sets the timer to the moment at which the program should wake. */
static void rearm(struct card *card, snd_pcm_state_t state, int64_t program)
{
    int64_t buffer = (int64_t)card->io.buffer_size, wanted = (int64_t)card->avail_min;
    if ((snd_pcm_uframes_t)wanted > card->stop_threshold)
        wanted = (int64_t)card->stop_threshold; /* an xrun wakes too */
    switch (state) {
    case SND_PCM_STATE_PREPARED:
        set_timer(card, is_playback(card) && buffer - program >= wanted ? AT_ONCE : NEVER);
        break;
    case SND_PCM_STATE_DRAINING:
        set_timer(card, is_playback(card) ? time_of(card->clock, card->base + program) : AT_ONCE);
        break;
    case SND_PCM_STATE_RUNNING: {
        int64_t target = is_playback(card) ? program - buffer + wanted : program + wanted;
        set_timer(card, target <= 0 ? AT_ONCE : time_of(card->clock, card->base + position_of(card, target)));
        break;
    }
    default:
        set_timer(card, AT_ONCE);
    }
}

static int exists(const struct card *card, const char *file)
{
    return faccessat(card->directory, file, F_OK, 0) == 0;
}

static int64_t read_quantum(const struct card *card)
{
    char text[16] = "";
    int file = openat(card->directory, card->quantized, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    long frames = count > 0 ? strtol(text, NULL, 10) : 0;
    return frames > 1 && frames <= 8192 ? frames : 0;
}

static void hang(const struct card *card)
{
    while (exists(card, card->hanging))
        usleep(20000);
}

/* 0, -ENODEV or -ESTRPIPE; looks at most every 5 ms, so that it costs a running stream nothing worth measuring. */
static int look_for_trouble(struct card *card)
{
    snd_pcm_state_t state = card->io.state;
    int64_t now = now_ns();
    if (state == SND_PCM_STATE_DISCONNECTED)
        return -ENODEV;
    if (state == SND_PCM_STATE_SUSPENDED)
        return -ESTRPIPE;
    if (now - card->checked < TROUBLE_INTERVAL_NS)
        return 0;
    card->checked = now;
    card->quantum = read_quantum(card);
    if (exists(card, card->unplugged)) {
        snd_pcm_ioplug_set_state(&card->io, SND_PCM_STATE_DISCONNECTED);
        set_timer(card, AT_ONCE);
        return -ENODEV;
    }
    if ((state == SND_PCM_STATE_RUNNING || state == SND_PCM_STATE_DRAINING) && exists(card, card->suspended)) {
        card->before_suspend = state;
        card->frozen = pointer_now(card);
        if (is_playback(card))
            silence(card, program_at(card, card->frozen));
        snd_pcm_ioplug_set_state(&card->io, SND_PCM_STATE_SUSPENDED);
        set_timer(card, AT_ONCE);
        return -ESTRPIPE;
    }
    return 0;
}

/* The pointer and the program's place at this moment. -EPIPE after an xrun, whose state is then set; -ENODEV, -ESTRPIPE. */
static int locate(struct card *card, int64_t *hardware, int64_t *program)
{
    snd_pcm_state_t state = card->io.state;
    *hardware = 0;
    *program = (int64_t)card->io.appl_ptr;
    int trouble = look_for_trouble(card);
    if (trouble < 0)
        return trouble;
    if (state == SND_PCM_STATE_XRUN)
        return -EPIPE;
    if (state != SND_PCM_STATE_RUNNING && state != SND_PCM_STATE_DRAINING)
        return 0;
    *hardware = pointer_now(card);
    *program = program_at(card, *hardware);
    if (state == SND_PCM_STATE_DRAINING) {
        if (*hardware > *program)
            *hardware = *program;
        return 0;
    }
    if ((snd_pcm_uframes_t)(available(card, *hardware, *program)) >= card->stop_threshold &&
        available(card, *hardware, *program) >= 0) {
        snd_pcm_ioplug_set_state(&card->io, SND_PCM_STATE_XRUN);
        set_timer(card, AT_ONCE);
        return -EPIPE;
    }
    return 0;
}

/* ---- What ALSA calls ----------------------------------------------------------------------------------------------------- */

static snd_pcm_sframes_t on_pointer(snd_pcm_ioplug_t *io)
{
    struct card *card = io->private_data;
    int64_t hardware, program;
    int error = locate(card, &hardware, &program);
    if (error == -EPIPE)
        return error;
    if (error < 0)
        return (snd_pcm_sframes_t)io->hw_ptr; /* the state tells; a negative answer would be taken for an xrun */
    if (io->state == SND_PCM_STATE_DRAINING && !is_playback(card))
        return -EPIPE; /* capture has nothing to wait for: ALSA stops it */
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
    if (moves) /* a mapped capture only fills the program's view; the program moves on later, without telling us */
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
        /* ALSA drops this answer, and a program asleep would not be asking: do not let it ask in a circle. */
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

static void release(struct card *card)
{
    if (card->wire != NULL)
        munmap(card->wire, WIRE_FRAMES * sizeof *card->wire);
    if (card->wire_file >= 0)
        close(card->wire_file);
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

static const snd_pcm_ioplug_callback_t callbacks = {
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

/* ---- Opening ------------------------------------------------------------------------------------------------------------- */

/* The directory of the wires, made when it is not there. In a place others can write to, it must be our own. */
static int open_directory(void)
{
    char path[4096];
    const char *given = getenv("LABCARD_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
    if (given != NULL && *given != 0)
        snprintf(path, sizeof path, "%s", given);
    else if (runtime != NULL && *runtime != 0)
        snprintf(path, sizeof path, "%s/labcard", runtime);
    else
        snprintf(path, sizeof path, "/dev/shm/labcard-%u", (unsigned)geteuid());
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return -errno;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    struct stat about;
    if ((given == NULL || *given == 0) && (fstat(directory, &about) < 0 || about.st_uid != geteuid())) {
        close(directory);
        return -EACCES;
    }
    return directory;
}

static int open_wire(struct card *card, const char *name, snd_pcm_stream_t stream)
{
    card->directory = open_directory();
    if (card->directory < 0)
        return card->directory;
    snprintf(card->unplugged, sizeof card->unplugged, "%s.unplugged", name);
    snprintf(card->suspended, sizeof card->suspended, "%s.suspended", name);
    snprintf(card->quantized, sizeof card->quantized, "%s.quantum", name);
    snprintf(card->hanging, sizeof card->hanging, "%s.hanging", name);
    hang(card);
    if (exists(card, card->unplugged))
        return -ENODEV;
    card->wire_file = openat(card->directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (card->wire_file < 0)
        return -errno;
    if (stream == SND_PCM_STREAM_PLAYBACK && flock(card->wire_file, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    size_t size = WIRE_FRAMES * sizeof *card->wire;
    int error = posix_fallocate(card->wire_file, 0, (off_t)size); /* a full disk must not become a SIGBUS later */
    if (error != 0)
        return -error;
    card->wire = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, card->wire_file, 0);
    if (card->wire == MAP_FAILED) {
        card->wire = NULL;
        return -errno;
    }
    return 0;
}

static const unsigned formats[] = {SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_FLOAT_LE, SND_PCM_FORMAT_S24_LE};

enum { FORMATS = sizeof formats / sizeof *formats };

static int limit(snd_pcm_ioplug_t *io)
{
    static const unsigned accesses[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_RW_NONINTERLEAVED,
                                        SND_PCM_ACCESS_MMAP_INTERLEAVED, SND_PCM_ACCESS_MMAP_NONINTERLEAVED};
    struct card *card = io->private_data;
    int error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 4, accesses);
    if (error >= 0)
        error = card->format == SND_PCM_FORMAT_UNKNOWN
                    ? snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, FORMATS, formats)
                    : snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, (unsigned *)&card->format);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, 1, 2);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_RATE, card->rate, card->rate);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 64, 32768);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 128, 131072);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, 2048);
    return error;
}

static int open_card(snd_pcm_t **pcm, const char *name, const char *wire, double ppm, long rate, snd_pcm_format_t format,
                     snd_pcm_stream_t stream, int mode)
{
    struct card *card = calloc(1, sizeof *card);
    if (card == NULL)
        return -ENOMEM;
    card->directory = card->wire_file = card->io.poll_fd = -1;
    card->rate = (unsigned)rate;
    card->format = format;
    card->clock = (uint64_t)rate * (uint64_t)(1000000000 + llrint(ppm * 1000));
    card->direct = card->clock == WIRE_CLOCK;
    card->stop_threshold = 1;

    char *title = NULL;
    int error = open_wire(card, wire, stream);
    if (error == 0 && asprintf(&title, "labcard %s", wire) < 0)
        error = -ENOMEM;
    if (error == 0 && !card->direct) {
        double ratio = stream == SND_PCM_STREAM_PLAYBACK ? (double)WIRE_CLOCK / card->clock : (double)card->clock / WIRE_CLOCK;
        card->sinc = malloc((PHASES + 1) * TAPS * sizeof *card->sinc);
        if (card->sinc == NULL)
            error = -ENOMEM;
        else
            make_sinc(card->sinc, ratio < 0.999 ? ratio * 0.92 : 0.97);
    }
    if (error == 0) {
        card->io.poll_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        error = card->io.poll_fd < 0 ? -errno : 0;
    }
    if (error == 0) {
        card->io.version = SND_PCM_IOPLUG_VERSION;
        card->io.name = title;
        card->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
        card->io.poll_events = POLLIN;
        card->io.callback = &callbacks;
        card->io.private_data = card;
        error = snd_pcm_ioplug_create(&card->io, name, stream, mode);
    }
    if (error < 0) {
        release(card);
        return error;
    }
    error = limit(&card->io);
    if (error < 0) {
        snd_pcm_ioplug_delete(&card->io); /* this closes, and so releases */
        return error;
    }
    *pcm = card->io.pcm;
    return 0;
}

static bool is_wire_name(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length <= 64 && name[length] == 0;
}

/* A number from the configuration, whether it stands there as a number or as text. */
static int get_number(const snd_config_t *node, double *value)
{
    char *text = NULL, *end;
    int error = snd_config_get_ascii(node, &text);
    if (error < 0)
        return error;
    *value = strtod(text, &end);
    error = end == text || *end != 0 ? -EINVAL : 0;
    free(text);
    return error;
}

/* The name of a format that the card has; an empty one means any of them. */
static int get_format(const snd_config_t *node, snd_pcm_format_t *format)
{
    const char *text = NULL;
    int error = snd_config_get_string(node, &text);
    if (error < 0 || *text == 0)
        return error;
    *format = snd_pcm_format_value(text);
    for (int i = 0; i < FORMATS; i++)
        if ((int)formats[i] == *format)
            return 0;
    return -EINVAL;
}

SND_PCM_PLUGIN_DEFINE_FUNC(labcard)
{
    const char *wire = NULL, *says = NULL;
    snd_pcm_format_t format = SND_PCM_FORMAT_UNKNOWN;
    double ppm = 0, rate = WIRE_RATE;
    snd_config_iterator_t i, next;
    (void)root;
    snd_config_for_each(i, next, conf)
    {
        snd_config_t *node = snd_config_iterator_entry(i);
        const char *id;
        int error = 0;
        if (snd_config_get_id(node, &id) < 0 || !strcmp(id, "comment") || !strcmp(id, "type") || !strcmp(id, "hint"))
            continue;
        if (!strcmp(id, "wire"))
            error = snd_config_get_string(node, &wire);
        else if (!strcmp(id, "ppm"))
            error = get_number(node, &ppm);
        else if (!strcmp(id, "rate"))
            error = get_number(node, &rate);
        else if (!strcmp(id, "format"))
            error = get_format(node, &format);
        else if (!strcmp(id, "says") && (error = snd_config_get_string(node, &says)) >= 0) {
            fprintf(stderr, "%s\n", says);
            SNDERR("%s", says);
        }
        else
            error = -EINVAL;
        if (error < 0) {
            SNDERR("labcard: %s is not understood", id);
            return error;
        }
    }
    if (wire == NULL || !is_wire_name(wire)) {
        SNDERR("labcard: a wire's name is 1 to 64 letters, digits, '_' and '-'");
        return -EINVAL;
    }
    if (!(fabs(ppm) <= 50000)) {
        SNDERR("labcard: the drift must lie between -50000 and 50000 ppm");
        return -EINVAL;
    }
    if (!(rate >= 8000 && rate <= 192000) || rate != floor(rate)) {
        SNDERR("labcard: the rate must be a whole number between 8000 and 192000");
        return -EINVAL;
    }
    return open_card(pcmp, name, wire, ppm, (long)rate, format, stream, mode);
}

SND_PCM_PLUGIN_SYMBOL(labcard);
