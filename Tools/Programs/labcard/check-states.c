/* Checks sizes, xruns, and the faults that a test injects. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Sizes ----------------------------------------------------------------------------------------------------------- */

bool sizes_are_granted_as_asked(void)
{
    static const snd_pcm_uframes_t sizes[][2] = {{32, 64},   {48, 144},   {64, 128},    {120, 480},   {128, 256},
                                                 {240, 720}, {441, 1323}, {480, 960},   {960, 2880},  {1000, 5000},
                                                 {48, 9600}, {4096, 8192}, {16384, 65536}, {32, 65536}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int stream = 0; stream < 2; stream++) {
            struct setup setup = plain;
            setup.period = sizes[i][0];
            setup.buffer = sizes[i][1];
            snd_pcm_t *pcm = device("labcard:sizes", stream ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK, setup);
            if (!pcm)
                return false;
            snd_pcm_close(pcm);
        }
    return true;
}

bool plug_converts_for_any_program(void)
{
    static const char *const names[] = {"plug:lab_speaker", "default", "plug:'labcard:plug,100'"};
    static uint8_t data[44100 * 2];
    for (int i = 0; i < 3; i++) {
        snd_pcm_t *pcm;
        int error = snd_pcm_open(&pcm, names[i], SND_PCM_STREAM_PLAYBACK, 0);
        EXPECT(error == 0, "%s: %s", names[i], snd_strerror(error));
        error = snd_pcm_set_params(pcm, SND_PCM_FORMAT_U8, SND_PCM_ACCESS_RW_INTERLEAVED, 2, 44100, 1, 100000);
        double start = now();
        snd_pcm_sframes_t written = error == 0 ? snd_pcm_writei(pcm, data, 22050) : error;
        snd_pcm_drain(pcm);
        double taken = now() - start;
        snd_pcm_close(pcm);
        EXPECT(written == 22050, "%s: wrote %ld", names[i], written);
        EXPECT(taken > 0.49 && taken < 0.65, "%s: half a second took %.3f s", names[i], taken);
    }
    return true;
}

/* ---- Xruns ----------------------------------------------------------------------------------------------------------- */

bool a_stalled_player_underruns_and_recovers(void)
{
    int16_t data[9600] = {0};
    snd_pcm_sframes_t delay = 0;
    snd_pcm_t *pcm = player("labcard:xrun");
    if (!pcm)
        return false;
    snd_pcm_writei(pcm, data, 9600);
    pause_for(0.25);
    int delayed = snd_pcm_delay(pcm, &delay), state = snd_pcm_state(pcm);
    snd_pcm_sframes_t written = snd_pcm_writei(pcm, data, 480);
    int recovered = snd_pcm_recover(pcm, -EPIPE, 1);
    snd_pcm_sframes_t again = snd_pcm_writei(pcm, data, 9600);
    int running = snd_pcm_state(pcm), drained = snd_pcm_drain(pcm);
    snd_pcm_close(pcm);
    EXPECT(delayed == -EPIPE && state == SND_PCM_STATE_XRUN, "delay %d, state %s", delayed, snd_pcm_state_name(state));
    EXPECT(written == -EPIPE, "writei %ld", written);
    EXPECT(recovered == 0 && again == 9600 && running == SND_PCM_STATE_RUNNING && drained == 0, "recover %d, writei %ld, %s",
           recovered, again, snd_pcm_state_name(running));
    return true;
}

bool a_stalled_recorder_overruns_and_recovers(void)
{
    int16_t data[9600];
    snd_pcm_sframes_t delay = 0;
    snd_pcm_t *pcm = recorder("labcard:xrun");
    if (!pcm)
        return false;
    snd_pcm_sframes_t first = snd_pcm_readi(pcm, data, 480);
    pause_for(0.5);
    snd_pcm_sframes_t got = snd_pcm_readi(pcm, data, 480);
    int delayed = snd_pcm_delay(pcm, &delay), state = snd_pcm_state(pcm), recovered = snd_pcm_recover(pcm, -EPIPE, 1);
    snd_pcm_sframes_t again = snd_pcm_readi(pcm, data, 480);
    snd_pcm_close(pcm);
    EXPECT(first == 480 && got == -EPIPE, "readi %ld, after the stall %ld", first, got);
    EXPECT(delayed == -EPIPE && state == SND_PCM_STATE_XRUN, "delay %d, state %s", delayed, snd_pcm_state_name(state));
    EXPECT(recovered == 0 && again == 480, "recover %d, readi %ld", recovered, again);
    return true;
}

bool without_a_stop_threshold_nothing_underruns(void)
{
    int16_t data[9600] = {0};
    snd_pcm_sw_params_t *sw;
    snd_pcm_uframes_t boundary;
    snd_pcm_sw_params_alloca(&sw);
    snd_pcm_t *pcm = player("labcard:xrun");
    if (!pcm)
        return false;
    snd_pcm_sw_params_current(pcm, sw);
    snd_pcm_sw_params_get_boundary(sw, &boundary);
    snd_pcm_sw_params_set_stop_threshold(pcm, sw, boundary);
    snd_pcm_sw_params(pcm, sw);
    snd_pcm_writei(pcm, data, 9600);
    pause_for(0.4);
    snd_pcm_sframes_t avail = snd_pcm_avail(pcm), delay = 1;
    int delayed = snd_pcm_delay(pcm, &delay);
    snd_pcm_close(pcm);
    EXPECT(avail > 9600 && delayed == 0 && delay < 0, "avail %ld, delay %d %ld", avail, delayed, delay);
    return true;
}

/* ---- Faults --------------------------------------------------------------------------------------------------------- */

static void trouble(const char *file, bool there)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", getenv("LABCARD_DIR"), file);
    if (there)
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    else
        unlink(path);
}

bool a_second_player_finds_the_wire_busy(void)
{
    snd_pcm_t *first = player("labcard:busy"), *second = NULL;
    if (!first)
        return false;
    int error = snd_pcm_open(&second, "labcard:busy", SND_PCM_STREAM_PLAYBACK, 0);
    pid_t child = fork(); /* has copies of the descriptors, as a program has that is just being started */
    if (child == 0) {
        pause();
        _exit(0);
    }
    snd_pcm_close(first);
    int later = snd_pcm_open(&first, "labcard:busy", SND_PCM_STREAM_PLAYBACK, 0);
    if (later == 0)
        snd_pcm_close(first);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    EXPECT(error == -EBUSY && later == 0, "open %d, after the first closed %d", error, later);
    return true;
}

static bool an_unplugged_card_is_gone(snd_pcm_stream_t stream)
{
    int16_t data[9600] = {0};
    struct pollfd descriptor;
    unsigned short events = 0;
    snd_pcm_t *pcm = device("labcard:plugged", stream, plain), *other = NULL;
    if (!pcm)
        return false;
    if (stream == SND_PCM_STREAM_PLAYBACK)
        snd_pcm_writei(pcm, data, 9600);
    else
        snd_pcm_start(pcm);
    snd_pcm_poll_descriptors(pcm, &descriptor, 1);
    trouble("plugged.unplugged", true);
    pause_for(0.02);
    double start = now();
    int ready = poll(&descriptor, 1, 1000);
    snd_pcm_poll_descriptors_revents(pcm, &descriptor, 1, &events);
    double waited = now() - start;
    snd_pcm_sframes_t moved = move_frames(pcm, plain, data, 480), delay;
    int delayed = snd_pcm_delay(pcm, &delay), prepared = snd_pcm_prepare(pcm), still = poll(&descriptor, 1, 0);
    int opened = snd_pcm_open(&other, "labcard:plugged", stream, 0);
    trouble("plugged.unplugged", false);
    snd_pcm_sframes_t after = move_frames(pcm, plain, data, 480);
    snd_pcm_close(pcm);
    int reopened = snd_pcm_open(&other, "labcard:plugged", stream, 0);
    if (reopened == 0)
        snd_pcm_close(other);
    EXPECT(ready == 1 && (events & POLLERR) && waited < 0.1 && still == 1, "poll %d, events %x, after %.1f ms", ready, events,
           waited * 1e3);
    EXPECT(moved == -ENODEV && delayed == -ENODEV && prepared == -ENODEV && opened == -ENODEV,
           "move %ld, delay %d, prepare %d, open %d", moved, delayed, prepared, opened);
    EXPECT(after == -ENODEV && reopened == 0, "plugged in again: the old one %ld, a new one %d", after, reopened);
    return true;
}

bool an_unplugged_player_is_gone(void) { return an_unplugged_card_is_gone(SND_PCM_STREAM_PLAYBACK); }
bool an_unplugged_recorder_is_gone(void) { return an_unplugged_card_is_gone(SND_PCM_STREAM_CAPTURE); }

bool a_blocked_writer_learns_that_the_card_is_gone(void)
{
    static int16_t data[RATE];
    snd_pcm_t *pcm = player("labcard:blocked");
    if (!pcm)
        return false;
    snd_pcm_writei(pcm, data, 9600);
    trouble("blocked.unplugged", true);
    double start = now();
    snd_pcm_sframes_t written = snd_pcm_writei(pcm, data, RATE), then = snd_pcm_writei(pcm, data, 480);
    double taken = now() - start;
    int drained = snd_pcm_drain(pcm);
    trouble("blocked.unplugged", false);
    snd_pcm_close(pcm);
    EXPECT(then == -ENODEV && written < RATE && taken < 0.3, "writei %ld then %ld in %.3f s", written, then, taken);
    EXPECT(drained < 0, "drain %d", drained);
    return true;
}

static bool a_suspended_card_goes_on(bool resuming)
{
    static int16_t data[9600];
    snd_pcm_t *pcm = player("labcard:asleep");
    if (!pcm)
        return false;
    snd_pcm_writei(pcm, data, 9600);
    trouble("asleep.suspended", true);
    pause_for(0.01);
    snd_pcm_avail(pcm); /* the first call notices the suspension */
    snd_pcm_sframes_t asleep = snd_pcm_writei(pcm, data, 480);
    int state = snd_pcm_state(pcm);
    pause_for(0.3); /* longer than the buffer lasts */
    trouble("asleep.suspended", false);
    int resumed = resuming ? snd_pcm_recover(pcm, -ESTRPIPE, 1) : snd_pcm_prepare(pcm), awake = snd_pcm_state(pcm);
    snd_pcm_sframes_t avail = snd_pcm_avail(pcm), written = snd_pcm_writei(pcm, data, 9600);
    snd_pcm_close(pcm);
    EXPECT(asleep == -ESTRPIPE && state == SND_PCM_STATE_SUSPENDED, "writei %ld, %s", asleep, snd_pcm_state_name(state));
    EXPECT(resumed == 0 && written == 9600, "resuming gave %d, writei %ld", resumed, written);
    EXPECT(awake == (resuming ? SND_PCM_STATE_RUNNING : SND_PCM_STATE_PREPARED) && (!resuming || avail < 4800),
           "awake %s, avail %ld", snd_pcm_state_name(awake), avail);
    return true;
}

bool a_suspended_card_resumes(void) { return a_suspended_card_goes_on(true); }
bool a_suspended_card_starts_afresh(void) { return a_suspended_card_goes_on(false); }

bool wrong_names_are_refused(void)
{
    static const char *const names[] = {"labcard:../x", "labcard:x,fast", "labcard:x,60000", "labcard:x,0,1000"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snd_pcm_t *pcm;
        int error = snd_pcm_open(&pcm, names[i], SND_PCM_STREAM_CAPTURE, 0);
        if (error == 0)
            snd_pcm_close(pcm);
        EXPECT(error == -EINVAL, "%s: open gave %d", names[i], error);
    }
    return true;
}
