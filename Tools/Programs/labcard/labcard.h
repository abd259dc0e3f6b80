/* Declarations shared by the parts of the plugin. labcard.c describes the card. */
#ifndef LABCARD_H
#define LABCARD_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden) /* keeps these names apart from those of the programs that load the plugin */

enum {
    WIRE_RATE = 48000,
    WIRE_FRAMES = 1 << 18, /* 5.46 s: the longest buffer ahead of now, the longest one behind it, and as much again */
    TAPS = 32,
    HALF = TAPS / 2,
    PHASES = 256,
};

/* Clock rates are in billionths of a hertz, so that parts per billion of drift are whole numbers. */
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
    bool direct;    /* whether the card's frames are the wire's frames */
    unsigned rate;
    snd_pcm_format_t format; /* the only format; SND_PCM_FORMAT_UNKNOWN: any of the formats */
    float *sinc; /* PHASES + 1 rows of TAPS; only when not direct */

    struct sample *memory; /* playback: the last frames written, at (frame & memory_mask); the card's own RAM */
    uint64_t memory_mask;

    snd_pcm_uframes_t avail_min, stop_threshold, boundary;

    int64_t base;    /* the clock's tick at which frame 0 plays */
    int64_t frozen;  /* the pointer's position when the machine was suspended */
    int64_t armed;   /* the time that the timer is set to, in ns; 0: not set */
    int64_t quantum; /* frames by which the pointer moves at a time; 0: it moves evenly */
    int64_t reached; /* the furthest position of the pointer since the start */
    int64_t checked; /* the time of the last look for fault files, in ns */
    snd_pcm_state_t before_suspend;
};

/* ---- Clocks (wire.c) ----------------------------------------------------------------------------------------------------- */

int64_t now_ns(void);

/* The tick of a clock at a time, and the first nanosecond of a tick. */
int64_t tick_at(uint64_t clock, int64_t ns);
int64_t time_of(uint64_t clock, int64_t tick);

/* ---- The wire (wire.c) --------------------------------------------------------------------------------------------------- */

/* Fills a card's `sinc`. `cutoff` is the highest frequency that passes, in halves of the slower rate. */
void make_sinc(float *table, double cutoff);

/* Converts a real number to a sample; NaN gives 0. */
int32_t clip(double value);

/* Copies the card frames from..<to from the card's memory to the wire. Frames that are too late for their time are not heard.
   */
void publish(struct card *card, int64_t from, int64_t to);

/* Removes audio from the wire that was to play later, up to a card frame. */
void silence(struct card *card, int64_t end_frame);

/* Returns the sample that the card captures at one of its frames. */
struct sample captured(const struct card *card, int64_t frame);

/* ---- Pointers and the poll descriptor (pointer.c) ------------------------------------------------------------------------ */

bool is_playback(const struct card *card);

/* Returns the frame that plays or is captured now, counted from the start. */
int64_t position_now(const struct card *card);

/* Returns the card's pointer, in frames since it started. */
int64_t pointer_now(struct card *card);

/* Returns the program's position. Unlike ALSA's pointer it does not wrap at the boundary (hours on 32-bit machines). */
int64_t program_at(const struct card *card, int64_t hardware);

/* Returns the number of frames that the program can write or read. */
int64_t available(const struct card *card, int64_t hardware, int64_t program);

enum { NEVER = 0, AT_ONCE = 1 };

/* Sets the timer to `deadline`, in ns of CLOCK_MONOTONIC, or to one of the values above. */
void set_timer(struct card *card, int64_t deadline);

/* Sets the timer to the time at which the program should wake up. */
void rearm(struct card *card, snd_pcm_state_t state, int64_t program);

/* Returns whether a test has put this file into the directory of the wires. */
int exists(const struct card *card, const char *file);

/* Blocks as long as a test lets the card hang. */
void hang(const struct card *card);

/* Returns 0, -ENODEV or -ESTRPIPE. Looks at most every 5 ms, so that the cost for a running stream is negligible. */
int look_for_trouble(struct card *card);

/* Gets the current positions of the pointer and the program. Returns -EPIPE after an xrun, whose state is then set; or -ENODEV
   or -ESTRPIPE. */
int locate(struct card *card, int64_t *hardware, int64_t *program);

/* ---- The card (labcard.c) ------------------------------------------------------------------------------------------------ */

extern const snd_pcm_ioplug_callback_t callbacks;
void release(struct card *card);

#pragma GCC visibility pop

#endif
