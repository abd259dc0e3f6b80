/* What the parts of the plugin share. labcard.c says what the card is. */
#ifndef LABCARD_H
#define LABCARD_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden) /* programs load the plugin beside code of their own */

enum {
    WIRE_RATE = 48000,
    WIRE_FRAMES = 1 << 18, /* 5.46 s: the longest buffer ahead of now, the longest behind it, and as much again */
    TAPS = 32,
    HALF = TAPS / 2,
    PHASES = 256,
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

/* ---- Clocks (wire.c) ----------------------------------------------------------------------------------------------------- */

int64_t now_ns(void);

/* The tick at which a clock stands at a time, and the first nanosecond at which it stands there. */
int64_t tick_at(uint64_t clock, int64_t ns);
int64_t time_of(uint64_t clock, int64_t tick);

/* ---- The wire (wire.c) --------------------------------------------------------------------------------------------------- */

/* Fills a card's `sinc`. `cutoff` is the highest frequency that passes, in halves of the slower rate. */
void make_sinc(float *table, double cutoff);

/* A sample from a real number; 0 from NaN. */
int32_t clip(double value);

/* Puts the card frames from..<to, which are in the card's memory, on the wire. What is too late for its time is not heard. */
void publish(struct card *card, int64_t from, int64_t to);

/* Takes back what was played ahead of now, up to a card frame. */
void silence(struct card *card, int64_t end_frame);

/* What the card hears at one of its frames. */
struct sample captured(const struct card *card, int64_t frame);

/* ---- Pointers and the poll descriptor (pointer.c) ------------------------------------------------------------------------ */

bool is_playback(const struct card *card);

/* Which frame sounds or is heard now, counted from the start. */
int64_t position_now(const struct card *card);

/* Where the card's pointer is, as frames since it started. */
int64_t pointer_now(struct card *card);

/* Where the program is: ALSA's pointer runs around at the boundary (hours on 32-bit machines), this one does not. */
int64_t program_at(const struct card *card, int64_t hardware);

/* How many frames the program can write or read. */
int64_t available(const struct card *card, int64_t hardware, int64_t program);

enum { NEVER = 0, AT_ONCE = 1 };

/* `deadline` in ns of CLOCK_MONOTONIC, or one of the above. */
void set_timer(struct card *card, int64_t deadline);

/* Sets the timer to the moment at which the program should wake. */
void rearm(struct card *card, snd_pcm_state_t state, int64_t program);

/* Whether a file of a test's is in the directory of the wires. */
int exists(const struct card *card, const char *file);

/* Does not return while a test has the card hang. */
void hang(const struct card *card);

/* 0, -ENODEV or -ESTRPIPE; looks at most every 5 ms, so that it costs a running stream nothing worth measuring. */
int look_for_trouble(struct card *card);

/* The pointer and the program's place at this moment. -EPIPE after an xrun, whose state is then set; -ENODEV, -ESTRPIPE. */
int locate(struct card *card, int64_t *hardware, int64_t *program);

/* ---- The card (labcard.c) ------------------------------------------------------------------------------------------------ */

extern const snd_pcm_ioplug_callback_t callbacks;
void release(struct card *card);

#pragma GCC visibility pop

#endif
