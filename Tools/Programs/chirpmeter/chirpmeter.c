/*
 * chirpmeter: how long does sound take from mouth to ear, and does any of it get lost?
 *
 * It plays chirps (and a pilot tone beneath them) into the device that a program under test takes for its microphone, records
 * the device that the program takes for its speaker, and compares. Both devices tell where they are at times read from
 * CLOCK_MONOTONIC, so the meter's own buffers, which are large, do not count: the delay of a chirp is the time at which it was
 * on the ear's wire minus the time at which it was on the microphone's.
 *
 * Beside it runs a bare timer thread of the same priority. A drop-out near a moment when that thread was late, too, is excused:
 * the machine, and not the program, was asleep.
 */

#define _GNU_SOURCE
#include "device.h"
#include "signal.h"

#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *mic, *ear, *json, *wav;
    double duration, period_ms, lead, max_delay_ms, late_ms, near_ms;
    int count, priority, pilot, every_cpu;
} options = {"lab_mic", "lab_ear", NULL, NULL, 10, 2.5, 1, 1000, 0, 20, 0, 0, 1, 0};

static atomic_bool ending, broken;
static bool granted = true;

/* ---- Where a device is, by the clock ------------------------------------------------------------------------------------- */

/* A frame of a device and the time at which the device was there. Written by one thread, read when it has ended. */
struct sighting {
    double time;
    int64_t frame;
};

struct track {
    struct sighting *sightings;
    size_t count, max;
    int xruns;
    double xrun_times[64];
};

static void prepare_track(struct track *track, size_t max)
{
    track->max = max;
    track->sightings = malloc(max * sizeof *track->sightings);
    memset(track->sightings, 0, max * sizeof *track->sightings);
}

static void see(struct track *track, double before, double after, int64_t frame)
{
    if (after - before < 0.0002 && track->count < track->max) /* not when we were interrupted between the two */
        track->sightings[track->count++] = (struct sighting){(before + after) / 2, frame};
}

static void note_xrun(struct track *track)
{
    if (track->xruns < 64)
        track->xrun_times[track->xruns] = now();
    track->xruns++;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count ? values[count / 2] : NAN;
}

/* The time at which a device was at a frame, from the sightings around it: a device's clock may drift against ours. */
static double time_of(const struct track *track, double frame)
{
    enum { AROUND = 200 };
    size_t low = 0, high = track->count;
    double offsets[2 * AROUND];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((double)track->sightings[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    size_t from = low > AROUND ? low - AROUND : 0, count = 0;
    for (size_t i = from; i < track->count && i < low + AROUND; i++)
        offsets[count++] = track->sightings[i].time - (double)track->sightings[i].frame / RATE;
    return median(offsets, count) + frame / RATE;
}

static double frame_at(const struct track *track, double time)
{
    double frame = track->count ? (double)track->sightings[track->count / 2].frame : 0;
    for (int i = 0; i < 3; i++)
        frame += (time - time_of(track, frame)) * RATE;
    return frame;
}

static bool near_xrun(const struct track *track, double time, double distance)
{
    for (int i = 0; i < track->xruns && i < 64; i++)
        if (fabs(track->xrun_times[i] - time) < distance)
            return true;
    return false;
}

/* ---- The mouth, the ear and the timer ------------------------------------------------------------------------------------ */

static struct {
    struct track track;
    int64_t starts[CHIRPS_MAX];
    size_t chirps;
    int64_t length;
} mouth;

static struct {
    struct track track;
    int16_t *sound;
    size_t count, max;
    snd_pcm_t *pcm;
    snd_pcm_uframes_t period;
} ear;

static void *speak(void *context)
{
    snd_pcm_t *pcm = ((void **)context)[0];
    snd_pcm_uframes_t period = *(snd_pcm_uframes_t *)((void **)context)[1];
    int16_t *sound = malloc(period * sizeof *sound);
    for (int64_t frame = 0; frame < mouth.length && !atomic_load(&ending);) {
        compose(sound, frame, period, mouth.starts, mouth.chirps, options.pilot);
        snd_pcm_sframes_t written = snd_pcm_writei(pcm, sound, period), delay;
        if (written < 0) {
            note_xrun(&mouth.track);
            if (snd_pcm_recover(pcm, (int)written, 1) < 0) {
                atomic_store(&broken, true);
                break;
            }
            continue;
        }
        frame += written;
        if (snd_pcm_state(pcm) == SND_PCM_STATE_RUNNING) {
            double before = now();
            if (snd_pcm_delay(pcm, &delay) == 0)
                see(&mouth.track, before, now(), frame - delay);
        }
    }
    snd_pcm_drain(pcm);
    snd_pcm_close(pcm);
    free(sound);
    return NULL;
}

static void *listen(void *context)
{
    (void)context;
    snd_pcm_start(ear.pcm);
    while (!atomic_load(&ending) && ear.count + ear.period <= ear.max) {
        snd_pcm_sframes_t got = snd_pcm_readi(ear.pcm, ear.sound + ear.count, ear.period);
        if (got < 0) {
            /* What was missed stays in the record as silence, by the clock, so that later frames keep their times. */
            note_xrun(&ear.track);
            if (snd_pcm_recover(ear.pcm, (int)got, 1) < 0 || snd_pcm_start(ear.pcm) < 0) {
                atomic_store(&broken, true);
                break;
            }
            double place = ear.track.count ? frame_at(&ear.track, now()) : 0;
            if (place > (double)ear.count)
                ear.count = place < (double)ear.max ? (size_t)place : ear.max;
            continue;
        }
        ear.count += (size_t)got;
        double before = now();
        snd_pcm_sframes_t waiting = snd_pcm_avail(ear.pcm);
        if (waiting >= 0)
            see(&ear.track, before, now(), (int64_t)ear.count + waiting);
    }
    snd_pcm_close(ear.pcm);
    return NULL;
}

enum { TIMERS_MAX = 64, LATES_MAX = 4096 };

struct timer {
    int cpu; /* -1: wherever it likes */
    float *lateness;
    size_t count, max;
    struct {
        double due, woken;
    } late[LATES_MAX];
    size_t lates;
    pthread_t thread;
};

static struct timer *timers[TIMERS_MAX];
static int timer_count;

static void *keep_time(void *context)
{
    struct timer *timer = context;
    const int64_t period = (int64_t)(options.period_ms * 1e6);
    if (timer->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(timer->cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    int64_t due = (int64_t)(now() * 1e9) + period;
    while (!atomic_load(&ending)) {
        struct timespec until = {due / 1000000000, due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        double woken = now(), late = woken - (double)due * 1e-9;
        if (timer->count < timer->max)
            timer->lateness[timer->count++] = (float)(late * 1e3);
        if (late * 1e3 > options.late_ms && timer->lates < LATES_MAX) {
            timer->late[timer->lates].due = (double)due * 1e-9;
            timer->late[timer->lates++].woken = woken;
        }
        do
            due += period;
        while ((double)due * 1e-9 < woken);
    }
    return NULL;
}

static void start_timers(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE && timer_count < TIMERS_MAX; cpu++) {
        if (options.every_cpu && !CPU_ISSET(cpu, &allowed))
            continue;
        struct timer *timer = calloc(1, sizeof *timer);
        timer->cpu = options.every_cpu ? cpu : -1;
        timer->max = (size_t)((options.duration + 10) * 1000 / options.period_ms);
        timer->lateness = malloc(timer->max * sizeof *timer->lateness);
        memset(timer->lateness, 0, timer->max * sizeof *timer->lateness);
        timers[timer_count++] = timer;
        if (!start_thread(&timer->thread, options.priority, keep_time, timer))
            granted = false;
        if (!options.every_cpu)
            return;
    }
}

/* How late a timer was near a stretch of time, in ms; 0 when none was later than allowed. */
static double lateness_near(double from, double to)
{
    double worst = 0, distance = fmax(options.near_ms, options.period_ms) / 1e3;
    for (int i = 0; i < timer_count; i++)
        for (size_t k = 0; k < timers[i]->lates; k++)
            if (timers[i]->late[k].due < to + distance && timers[i]->late[k].woken > from - distance)
                worst = fmax(worst, timers[i]->late[k].woken - timers[i]->late[k].due);
    return worst * 1e3;
}

/* ---- The result ---------------------------------------------------------------------------------------------------------- */

enum { GAPS_MAX = 5000 };

struct dropout {
    double time, length_ms, jump, late_ms; /* time: seconds since the first chirp was sent */
    const char *kind;
    bool excused, ours;
};

static struct {
    size_t sent, heard;
    double delays[CHIRPS_MAX], sorted[CHIRPS_MAX]; /* ms */
    struct dropout dropouts[GAPS_MAX];
    size_t dropout_count, counted, excused;
    double watched; /* s */
    double timer_p50, timer_p99, timer_max;
    size_t timer_late;
} result;

static void examine(void)
{
    static double expected[CHIRPS_MAX], heard_at[CHIRPS_MAX];
    static struct gap gaps[GAPS_MAX];
    size_t first = 0, last = 0;
    double origin = time_of(&mouth.track, (double)mouth.starts[0]);
    double end = ear.track.count ? ear.track.sightings[ear.track.count - 1].time : 0;
    for (size_t i = 0; i < mouth.chirps; i++) {
        double sent = time_of(&mouth.track, (double)mouth.starts[i]);
        bool usable = mouth.track.count && ear.track.count && !near_xrun(&mouth.track, sent, 1) &&
                      !near_xrun(&ear.track, sent, 1) && sent + options.max_delay_ms / 1e3 < end;
        expected[i] = usable ? frame_at(&ear.track, sent) : -1;
        result.sent += expected[i] >= 0;
    }
    if (result.sent == 0)
        return;
    find_chirps(ear.sound, ear.count, expected, mouth.chirps, options.max_delay_ms * RATE / 1000, heard_at);
    for (size_t i = 0; i < mouth.chirps; i++) {
        if (heard_at[i] < 0)
            continue;
        result.delays[result.heard++] = (heard_at[i] - expected[i]) * 1000 / RATE;
        last = (size_t)heard_at[i];
        if (first == 0)
            first = last;
    }
    memcpy(result.sorted, result.delays, sizeof result.sorted);
    median(result.sorted, result.heard);
    if (options.pilot && last > first) {
        result.watched = (double)(last - first) / RATE;
        for (size_t i = 0; i < mouth.chirps; i++) /* a chirp too broken to be heard is still no break of the tone */
            if (heard_at[i] < 0 && expected[i] >= 0)
                heard_at[i] = expected[i] + result.sorted[result.heard / 2] * RATE / 1000;
        result.dropout_count = find_gaps(ear.sound, first, last, heard_at, mouth.chirps, gaps, GAPS_MAX);
        for (size_t i = 0; i < result.dropout_count; i++) {
            double time = time_of(&ear.track, gaps[i].start), length = gaps[i].length / RATE;
            struct dropout *dropout = &result.dropouts[i];
            *dropout = (struct dropout){time - origin, length * 1e3, gaps[i].jump, lateness_near(time, time + length),
                                        gaps[i].kind, false, false};
            dropout->ours = near_xrun(&mouth.track, time, 1.5) || near_xrun(&ear.track, time, 1.5);
            dropout->excused = dropout->late_ms > 0 || dropout->ours;
            result.excused += dropout->excused;
            result.counted += !dropout->excused;
        }
    }
    size_t count = 0, total = 0;
    for (int i = 0; i < timer_count; i++)
        total += timers[i]->count;
    double *all = malloc((total + 1) * sizeof *all);
    for (int i = 0; i < timer_count; i++) {
        result.timer_late += timers[i]->lates;
        for (size_t k = 0; k < timers[i]->count; k++)
            all[count++] = timers[i]->lateness[k];
    }
    result.timer_p50 = median(all, count);
    result.timer_p99 = count ? all[(size_t)((double)(count - 1) * 0.99)] : 0;
    result.timer_max = count ? all[count - 1] : 0;
    free(all);
}

static void report_text(FILE *out)
{
    if (result.heard)
        fprintf(out, "mouth to ear: min %.2f  median %.2f  max %.2f ms  (%zu of %zu chirps heard)\n", result.sorted[0],
                result.sorted[result.heard / 2], result.sorted[result.heard - 1], result.heard, result.sent);
    else
        fprintf(out, "mouth to ear: nothing was heard (%zu chirps sent)\n", result.sent);
    if (options.pilot)
        fprintf(out, "drop-outs: %zu, and %zu excused, in %.1f s\n", result.counted, result.excused, result.watched);
    for (size_t i = 0; i < result.dropout_count; i++) {
        const struct dropout *dropout = &result.dropouts[i];
        fprintf(out, "  at %8.3f s: %s of %.1f ms, pilot turned %+.2f cycles", dropout->time, dropout->kind,
                dropout->length_ms, dropout->jump);
        if (dropout->late_ms > 0)
            fprintf(out, "; excused: a bare timer was %.1f ms late", dropout->late_ms);
        else if (dropout->ours)
            fprintf(out, "; excused: the meter's own device had an xrun");
        fputc('\n', out);
    }
    fprintf(out, "bare timer every %.2f ms, %s: late by p50 %.3f  p99 %.3f  max %.3f ms; %zu times by more than %.2f ms\n",
            options.period_ms, options.priority && granted ? "SCHED_FIFO" : "ordinary priority", result.timer_p50,
            result.timer_p99, result.timer_max, result.timer_late, options.late_ms);
    if (mouth.track.xruns || ear.track.xruns)
        fprintf(out, "the meter itself: %d xruns playing, %d capturing\n", mouth.track.xruns, ear.track.xruns);
}

static void report_json(FILE *out)
{
    fprintf(out, "{\n  \"chirps_sent\": %zu,\n  \"chirps_heard\": %zu,\n", result.sent, result.heard);
    if (result.heard)
        fprintf(out, "  \"delay_ms\": {\"min\": %.3f, \"median\": %.3f, \"max\": %.3f},\n", result.sorted[0],
                result.sorted[result.heard / 2], result.sorted[result.heard - 1]);
    else
        fprintf(out, "  \"delay_ms\": null,\n");
    fprintf(out, "  \"delays_ms\": [");
    for (size_t i = 0; i < result.heard; i++)
        fprintf(out, "%s%.3f", i ? ", " : "", result.delays[i]);
    fprintf(out, "],\n  \"dropouts_watched_s\": %.3f,\n  \"dropouts_counted\": %zu,\n  \"dropouts_excused\": %zu,\n",
            result.watched, result.counted, result.excused);
    fprintf(out, "  \"dropouts\": [");
    for (size_t i = 0; i < result.dropout_count; i++) {
        const struct dropout *dropout = &result.dropouts[i];
        fprintf(out, "%s\n    {\"time_s\": %.4f, \"length_ms\": %.2f, \"kind\": \"%s\", \"turn_cycles\": %.3f, "
                     "\"excused\": %s, \"timer_late_ms\": %.3f}",
                i ? "," : "", dropout->time, dropout->length_ms, dropout->kind, dropout->jump,
                dropout->excused ? "true" : "false", dropout->late_ms);
    }
    fprintf(out, "%s],\n", result.dropout_count ? "\n  " : "");
    fprintf(out, "  \"timer\": {\"period_ms\": %.3f, \"fifo_priority\": %d, \"threads\": %d, \"p50_ms\": %.3f, "
                 "\"p99_ms\": %.3f, \"max_ms\": %.3f, \"late_limit_ms\": %.3f, \"late\": %zu},\n",
            options.period_ms, granted ? options.priority : 0, timer_count, result.timer_p50, result.timer_p99,
            result.timer_max, options.late_ms, result.timer_late);
    fprintf(out, "  \"meter_xruns\": %d\n}\n", mouth.track.xruns + ear.track.xruns);
}

static void write_wav(const char *path)
{
    uint32_t bytes = (uint32_t)(ear.count * 2);
    struct __attribute__((packed)) {
        char riff[4];
        uint32_t size;
        char wave[8];
        uint32_t format_size;
        uint16_t tag, channels;
        uint32_t rate, byte_rate;
        uint16_t align, bits;
        char data[4];
        uint32_t data_size;
    } header = {"RIFF", bytes + 36, {'W', 'A', 'V', 'E', 'f', 'm', 't', ' '}, 16, 1, 1, RATE, RATE * 2, 2, 16, "data", bytes};
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(&header, sizeof header, 1, file) != 1 || fwrite(ear.sound, 2, ear.count, file) != ear.count ||
        fclose(file) != 0)
        perror(path);
}

/* ---- The command --------------------------------------------------------------------------------------------------------- */

static void usage(FILE *stream)
{
    fputs("chirpmeter: measure the delay from a microphone device to a speaker device, and count drop-outs\n\n"
          "  --mic-pcm PCM       chirps are played here (lab_mic)\n"
          "  --ear-pcm PCM       and heard here (lab_ear)\n"
          "  -d, --duration S    measure for so long (10)\n"
          "  --count N           or until N chirps are sent\n"
          "  --lead S            tone only, before the first chirp; drop-outs count from the first chirp on (1)\n"
          "  --max-delay MS      look for chirps so far back (1000)\n"
          "  --no-pilot          chirps only, no tone; drop-outs are not looked for\n"
          "  --period MS         of the meter's devices and of the bare timer (2.5)\n"
          "  --priority 1-99     SCHED_FIFO for the meter and the bare timer (ordinary priority)\n"
          "  --late MS           a timer later than this excuses a drop-out (one period)\n"
          "  --near MS           ... that is so near to it (20, at least one period)\n"
          "  --every-cpu         one bare timer bound to each CPU instead of one that moves\n"
          "  --json FILE         write the result as JSON too (-: to stdout, and the text to stderr)\n"
          "  --wav FILE          write what was heard\n\n"
          "Exit code 0: measured; 1: nothing was heard, or a device failed; 2: wrong use.\n",
          stream);
}

/* The meter has both ends, and nothing in between. */
static void tell_what_must_connect_them(void)
{
    fprintf(stderr,
            "chirpmeter: chirps go into %s and are waited for at %s; a program has to carry sound from one to the other\n"
            "meanwhile: `cable`, which does nothing else, or what is to be measured, such as tenfour send and tenfour recv:\n"
            "  Tools/labcard run -- sh -c 'cable --duration 12 & chirpmeter; wait'\n",
            options.mic, options.ear);
}

static int wrong(const char *sentence)
{
    fprintf(stderr, "chirpmeter: %s (see --help)\n", sentence);
    return 2;
}

static void end(int signal)
{
    (void)signal;
    atomic_store(&ending, true);
}

int main(int count, char **arguments)
{
    enum { MIC = 256, EAR, COUNT, LEAD, MAX_DELAY, NO_PILOT, PERIOD, PRIORITY, LATE, NEAR, EVERY_CPU, JSON, WAV };
    static const struct option known[] = {
        {"mic-pcm", 1, 0, MIC},     {"ear-pcm", 1, 0, EAR},     {"duration", 1, 0, 'd'},        {"count", 1, 0, COUNT},
        {"lead", 1, 0, LEAD},       {"max-delay", 1, 0, MAX_DELAY}, {"no-pilot", 0, 0, NO_PILOT},   {"period", 1, 0, PERIOD},
        {"priority", 1, 0, PRIORITY}, {"late", 1, 0, LATE},     {"near", 1, 0, NEAR},           {"every-cpu", 0, 0, EVERY_CPU},
        {"json", 1, 0, JSON},       {"wav", 1, 0, WAV},         {"help", 0, 0, 'h'},            {0, 0, 0, 0}};
    int option;
    while ((option = getopt_long(count, arguments, "hd:", known, NULL)) != -1)
        switch (option) {
        case MIC: options.mic = optarg; break;
        case EAR: options.ear = optarg; break;
        case 'd': options.duration = atof(optarg); break;
        case COUNT: options.count = atoi(optarg); break;
        case LEAD: options.lead = atof(optarg); break;
        case MAX_DELAY: options.max_delay_ms = atof(optarg); break;
        case NO_PILOT: options.pilot = 0; break;
        case PERIOD: options.period_ms = atof(optarg); break;
        case PRIORITY: options.priority = atoi(optarg); break;
        case LATE: options.late_ms = atof(optarg); break;
        case NEAR: options.near_ms = atof(optarg); break;
        case EVERY_CPU: options.every_cpu = 1; break;
        case JSON: options.json = optarg; break;
        case WAV: options.wav = optarg; break;
        case 'h': usage(stdout); return 0;
        default: return wrong("that was not understood");
        }
    if (optind < count)
        return wrong("there are no arguments besides options");
    if (!(options.period_ms >= 0.7 && options.period_ms <= 100))
        return wrong("the period is 0.7 to 100 ms");
    if (options.priority < 0 || options.priority > 99)
        return wrong("the priority is 1 to 99");
    if (!(options.lead >= 0 && options.lead <= 600) || !(options.max_delay_ms > 0 && options.max_delay_ms <= 10000))
        return wrong("the lead is up to 600 s, the longest delay up to 10000 ms");
    if (options.late_ms <= 0)
        options.late_ms = options.period_ms;
    if (options.count > 0)
        options.duration = options.lead + 0.6 * options.count;
    if (!(options.duration > options.lead && options.duration <= 7200))
        return wrong("the duration is longer than the lead, and up to 7200 s");

    if (count == 1)
        tell_what_must_connect_them();

    /* Chirps until the end, then quiet for as long as the last may be under way. */
    double tail = options.max_delay_ms / 1e3 + 0.3;
    mouth.chirps = schedule_chirps((int64_t)(options.lead * RATE), (int64_t)((options.duration - 0.05) * RATE), mouth.starts);
    if (options.count > 0 && mouth.chirps > (size_t)options.count)
        mouth.chirps = (size_t)options.count;
    mouth.length = (int64_t)((options.duration + tail) * RATE);
    size_t periods = (size_t)((options.duration + tail + 5) * 1000 / options.period_ms);
    prepare_track(&mouth.track, periods);
    prepare_track(&ear.track, periods);
    ear.max = (size_t)((options.duration + tail + 5) * RATE);
    ear.sound = malloc(ear.max * sizeof *ear.sound);
    memset(ear.sound, 0, ear.max * sizeof *ear.sound);

    snd_pcm_uframes_t period = (snd_pcm_uframes_t)lrint(options.period_ms * RATE / 1000), mouth_period = period,
                      mouth_buffer = RATE / 4, ear_buffer = RATE;
    ear.period = period;
    snd_pcm_t *pcm = open_device(options.mic, SND_PCM_STREAM_PLAYBACK, &mouth_period, &mouth_buffer, RATE / 8);
    ear.pcm = open_device(options.ear, SND_PCM_STREAM_CAPTURE, &ear.period, &ear_buffer, 1);

    struct sigaction action = {.sa_handler = end};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    pthread_t speaking, listening;
    void *context[] = {pcm, &mouth_period};
    start_timers();
    granted = start_thread(&listening, options.priority, listen, NULL) && granted;
    granted = start_thread(&speaking, options.priority, speak, context) && granted;
    if (!granted)
        fprintf(stderr, "chirpmeter: SCHED_FIFO %d was not granted, going on at ordinary priority\n", options.priority);
    pthread_join(speaking, NULL);
    atomic_store(&ending, true);
    pthread_join(listening, NULL);
    for (int i = 0; i < timer_count; i++)
        pthread_join(timers[i]->thread, NULL);
    if (atomic_load(&broken))
        fprintf(stderr, "chirpmeter: a device went away before the end\n");

    examine();
    if (result.heard == 0 && count > 1)
        tell_what_must_connect_them();
    bool json_on_stdout = options.json && !strcmp(options.json, "-");
    report_text(json_on_stdout ? stderr : stdout);
    if (options.json) {
        FILE *file = json_on_stdout ? stdout : fopen(options.json, "w");
        if (file == NULL) {
            perror(options.json);
            return 1;
        }
        report_json(file);
        if (file != stdout)
            fclose(file);
    }
    if (options.wav)
        write_wav(options.wav);
    return result.heard > 0 && !atomic_load(&broken) ? 0 : 1;
}
