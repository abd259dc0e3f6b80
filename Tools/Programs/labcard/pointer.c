/* The card's pointer, the wake-up time of the program, and the faults that a test injects. */
#define _GNU_SOURCE
#include "labcard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { TROUBLE_INTERVAL_NS = 5000000 };

bool is_playback(const struct card *card)
{
    return card->io.stream == SND_PCM_STREAM_PLAYBACK;
}

int64_t position_now(const struct card *card)
{
    int64_t position = tick_at(card->clock, now_ns()) - card->base;
    return position > 0 ? position : 0;
}

int64_t pointer_now(struct card *card)
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

/* Returns the position at which the pointer reaches a frame. */
static int64_t position_of(const struct card *card, int64_t pointer)
{
    if (card->quantum <= 1)
        return pointer;
    int64_t position = (pointer + card->quantum - 1) / card->quantum * card->quantum;
    return is_playback(card) ? position - card->quantum : position;
}

int64_t program_at(const struct card *card, int64_t hardware)
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

int64_t available(const struct card *card, int64_t hardware, int64_t program)
{
    return is_playback(card) ? hardware + (int64_t)card->io.buffer_size - program : hardware - program;
}

void set_timer(struct card *card, int64_t deadline)
{
    if (deadline == card->armed)
        return;
    struct itimerspec when = {{0, 0}, {deadline / 1000000000, deadline % 1000000000}};
    timerfd_settime(card->io.poll_fd, TFD_TIMER_ABSTIME, &when, NULL);
    card->armed = deadline;
}

void rearm(struct card *card, snd_pcm_state_t state, int64_t program)
{
    int64_t buffer = (int64_t)card->io.buffer_size, wanted = (int64_t)card->avail_min;
    if ((snd_pcm_uframes_t)wanted > card->stop_threshold)
        wanted = (int64_t)card->stop_threshold; /* an xrun wakes the program too */
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

int exists(const struct card *card, const char *file)
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

void hang(const struct card *card)
{
    while (exists(card, card->hanging))
        usleep(20000);
}

int look_for_trouble(struct card *card)
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

int locate(struct card *card, int64_t *hardware, int64_t *program)
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
