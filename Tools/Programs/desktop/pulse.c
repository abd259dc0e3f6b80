/*
 * The meter for PulseAudio. It records the monitors of the sinks, and those of the null sinks whose monitors are the microphones. The
 * server reports when the recorded audio was at its device; the median of these reports in the second half determines the position of
 * a recording on the time line.
 */
#include "meter.h"

#include <pulse/pulseaudio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES_MAX = 4096 };

/* One stream; a restarted server has another one. */
struct recording {
    struct line *line;
    pa_stream *stream;
    int64_t first, frames;     /* the first frame's provisional position, -1: none arrived; the number of frames read since */
    int64_t told;              /* the number of frames read when the server last reported a position */
    double places[PLACES_MAX]; /* the positions of the stream's first frame, as reported */
    size_t place_count;
};

static struct recording recordings[3 * PATHS_MAX];
static size_t recording_count;
static struct line *feeds[PATHS_MAX];
static int64_t fed[PATHS_MAX]; /* frames of the signal */
static size_t feed_count;

static void listen_to(struct line *sink) { recordings[recording_count++].line = sink; }

static void feed_into(struct line *feed)
{
    listen_to(feed);
    feeds[feed_count++] = feed;
}

static void on_read(pa_stream *stream, size_t bytes, void *data)
{
    struct recording *recording = data;
    (void)bytes;
    static const float nothing[RATE];
    const void *sound;
    size_t size;
    while (pa_stream_readable_size(stream) > 0 && pa_stream_peek(stream, &sound, &size) == 0) {
        size_t count = size / sizeof(float);
        if (recording->first < 0)
            recording->first = frame_of(now()) > recording->line->next ? frame_of(now()) : recording->line->next;
        if (sound == NULL) {
            count = count < RATE ? count : RATE;
            note_hole(recording->line, recording->first + recording->frames, (int64_t)count);
        }
        hear(recording->line, recording->first + recording->frames, sound ? sound : nothing, count);
        recording->frames += (int64_t)count;
        if (size)
            pa_stream_drop(stream);
    }
}

static void on_latency(pa_stream *stream, void *data)
{
    struct recording *recording = data;
    pa_usec_t latency;
    int negative;
    /* An idle device does not advance, and its reports are not updated. */
    if (recording->frames == recording->told || recording->place_count == PLACES_MAX ||
        pa_stream_get_latency(stream, &latency, &negative) < 0)
        return;
    recording->told = recording->frames;
    double ago = (double)latency * RATE / 1e6 * (negative ? -1 : 1);
    recording->places[recording->place_count++] = (double)frame_of(now()) - ago - (double)recording->frames;
}

static void on_write(pa_stream *stream, size_t bytes, void *data)
{
    int64_t *frame = data;
    while (bytes >= sizeof(float)) {
        void *sound;
        size_t size = bytes;
        if (pa_stream_begin_write(stream, &sound, &size) < 0 || sound == NULL)
            return;
        signal_at(*frame, sound, size / sizeof(float));
        *frame += (int64_t)(size / sizeof(float));
        pa_stream_write(stream, sound, size, NULL, 0, PA_SEEK_RELATIVE);
        bytes -= size < bytes ? size : bytes;
    }
}

static void start_streams(pa_context *context)
{
    const pa_sample_spec format = {PA_SAMPLE_FLOAT32LE, RATE, 1};
    for (size_t i = 0; i < recording_count; i++) {
        struct recording *recording = &recordings[i];
        char name[200];
        snprintf(name, sizeof name, "%s.monitor", recording->line->node);
        recording->first = -1;
        recording->frames = recording->told = 0;
        recording->place_count = 0;
        recording->stream = pa_stream_new(context, "meter", &format, NULL);
        /* An idle null sink runs in blocks of 2 s, and so do streams that join it. This limits the blocks as a card's buffer
           does. */
        pa_buffer_attr attributes = {.maxlength = (uint32_t)-1, .fragsize = RATE / 5 * sizeof(float)};
        pa_stream_set_read_callback(recording->stream, on_read, recording);
        pa_stream_set_latency_update_callback(recording->stream, on_latency, recording);
        pa_stream_connect_record(recording->stream, name, &attributes, PA_STREAM_DONT_MOVE | PA_STREAM_ADJUST_LATENCY);
    }
    for (size_t i = 0; i < feed_count; i++) {
        fed[i] = frame_of(now()) > 0 ? frame_of(now()) : 0;
        pa_stream *stream = pa_stream_new(context, "feed", &format, NULL);
        pa_buffer_attr attributes = {(uint32_t)-1, RATE / 5 * sizeof(float), (uint32_t)-1, (uint32_t)-1, (uint32_t)-1};
        pa_stream_set_write_callback(stream, on_write, &fed[i]);
        pa_stream_connect_playback(stream, feeds[i]->node, &attributes, PA_STREAM_DONT_MOVE, NULL, NULL);
    }
}

static void ask_latencies(void)
{
    for (size_t i = 0; i < recording_count; i++) {
        pa_operation *asking = pa_stream_update_timing_info(recordings[i].stream, NULL, NULL);
        if (asking)
            pa_operation_unref(asking);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Moves the recorded audio to its true position. */
static void settle(struct recording *recording)
{
    struct line *line = recording->line;
    if (recording->first < 0 || recording->place_count == 0)
        return;
    size_t half = recording->place_count / 2; /* in the first half, nobody may have been playing yet */
    qsort(recording->places + half, recording->place_count - half, sizeof *recording->places, compare);
    int64_t first = recording->first, last = line->next, place = (int64_t)recording->places[half + (recording->place_count - half) / 2];
    place = place < 0 ? 0 : place + (last - first) > line->max ? line->max - (last - first) : place;
    memmove(line->sound + place, line->sound + first, (size_t)(last - first) * sizeof *line->sound);
    if (place > first)
        memset(line->sound + first, 0, (size_t)(place - first) * sizeof *line->sound);
    line->next = place + (last - first);
    for (size_t i = 0; i < line->hole_count; i++)
        if (line->holes[i].start >= first)
            line->holes[i].start += place - first;
    recording->first = -1;
}

static void run(void)
{
    become_real_time();
    while (!atomic_load(&ending)) {
        pa_mainloop *loop = pa_mainloop_new();
        pa_context *context = pa_context_new(pa_mainloop_get_api(loop), "desktop-meter");
        bool started = false;
        int64_t asked = 0;
        pa_context_connect(context, NULL, PA_CONTEXT_NOAUTOSPAWN, NULL);
        while (!atomic_load(&ending)) {
            pa_context_state_t state = pa_context_get_state(context);
            if (state == PA_CONTEXT_FAILED || state == PA_CONTEXT_TERMINATED)
                break;
            if (state == PA_CONTEXT_READY && !started) {
                started = true;
                start_streams(context);
            }
            if (started && now() > asked + 100000000) {
                asked = now();
                ask_latencies();
            }
            pa_mainloop_prepare(loop, 20000);
            if (pa_mainloop_poll(loop) < 0 || pa_mainloop_dispatch(loop) < 0)
                break;
        }
        pa_context_disconnect(context);
        pa_context_unref(context);
        pa_mainloop_free(loop);
        for (size_t i = 0; i < recording_count && started; i++)
            settle(&recordings[i]);
        if (!atomic_load(&ending))
            usleep(50000);
    }
}

const struct server pulse_server = {listen_to, feed_into, run};
