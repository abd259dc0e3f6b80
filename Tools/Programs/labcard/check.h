/* The checks of labcard-check, and their common functions. */
#ifndef CHECK_H
#define CHECK_H

#include <alsa/asoundlib.h>
#include <stdbool.h>
#include <stdint.h>

enum { RATE = 48000 };

/* The checks in their order. Each returns whether it passed, and otherwise sets `why`. */
#define QUESTIONS(Q) \
    Q(sizes_are_granted_as_asked) \
    Q(three_seconds_played_take_three_seconds) \
    Q(three_seconds_captured_take_three_seconds) \
    Q(s16_mono_passes_bit_by_bit) \
    Q(s32_stereo_passes_bit_by_bit) \
    Q(float_stereo_passes_bit_by_bit) \
    Q(s24_stereo_passes_bit_by_bit) \
    Q(mapped_s16_passes_bit_by_bit) \
    Q(what_was_dropped_is_not_heard) \
    Q(a_card_at_0_ppm_keeps_the_clock) \
    Q(a_card_at_200_ppm_gains) \
    Q(a_card_at_minus_200_ppm_loses) \
    Q(a_card_at_fractional_ppm_gains) \
    Q(a_card_of_44100_hz_keeps_the_clock) \
    Q(a_tone_of_a_44100_hz_card_is_clean) \
    Q(a_tone_of_a_drifting_card_is_clean) \
    Q(delay_counts_what_is_not_yet_heard) \
    Q(poll_wakes_a_recorder_once_a_period) \
    Q(poll_wakes_a_player_once_a_period) \
    Q(draining_waits_without_spinning) \
    Q(a_stalled_player_underruns_and_recovers) \
    Q(a_stalled_recorder_overruns_and_recovers) \
    Q(without_a_stop_threshold_nothing_underruns) \
    Q(plug_converts_for_any_program) \
    Q(a_second_player_finds_the_wire_busy) \
    Q(an_unplugged_player_is_gone) \
    Q(an_unplugged_recorder_is_gone) \
    Q(a_blocked_writer_learns_that_the_card_is_gone) \
    Q(a_suspended_card_resumes) \
    Q(a_suspended_card_starts_afresh) \
    Q(wrong_names_are_refused)

#define DECLARE(name) bool name(void);
QUESTIONS(DECLARE)
#undef DECLARE

extern char why[400];

#define EXPECT(condition, ...)                                 \
    do {                                                       \
        if (!(condition)) {                                    \
            snprintf(why, sizeof why, __VA_ARGS__);            \
            return false;                                      \
        }                                                      \
    } while (0)

double now(void); /* s of CLOCK_MONOTONIC */
void pause_for(double seconds);
int32_t noise(void);

struct setup {
    snd_pcm_format_t format;
    unsigned channels, rate;
    snd_pcm_uframes_t period, buffer;
    snd_pcm_access_t access;
};

/* S16, mono, 48 kHz, periods of 10 ms and a buffer of 200 ms. */
extern const struct setup plain;

/* Opens a device with exactly this set-up. Returns NULL and sets `why` if it cannot. */
snd_pcm_t *device(const char *name, snd_pcm_stream_t stream, struct setup setup);
snd_pcm_t *player(const char *name);
snd_pcm_t *recorder(const char *name);

/* Writes or reads frames with the access mode of the set-up. */
snd_pcm_sframes_t move_frames(snd_pcm_t *pcm, struct setup setup, void *data, snd_pcm_uframes_t frames);

#endif
