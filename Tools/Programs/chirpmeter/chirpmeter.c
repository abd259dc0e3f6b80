/*
 * chirpmeter: measures the delay and the drop-outs of audio from mouth to ear.
 *
 * It plays chirps (and a pilot tone beneath them) into the device that a program under test uses as its microphone, records the device
 * that the program uses as its speaker, and compares. Both devices report their positions at times read from CLOCK_MONOTONIC, so the
 * meter's own buffers, which are large, do not count: the delay of a chirp is the time at which it was on the ear's wire minus the time
 * at which it was on the microphone's.
 *
 * Besides, a thread of the same priority runs only a timer. A drop-out near a moment when that thread was late, too, is excused: the
 * machine stalled, not the program.
 */

#define _GNU_SOURCE
#include "chirpmeter.h"
#include "device.h"
#include "signal.h"
#include "wav.h"

#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct options options = {"lab_mic", "lab_ear", NULL, NULL, 10, 2.5, 1, 1000, 0, 20, 0, 0, 1, 0};

atomic_bool ending, broken;
bool granted = true;

static void usage(FILE *stream)
{
    fputs("chirpmeter: measure the delay from a microphone device to a speaker device, and count drop-outs\n\n"
          "  --mic-pcm PCM       play the chirps to this device (default: lab_mic)\n"
          "  --ear-pcm PCM       capture the chirps from this device (default: lab_ear)\n"
          "  -d, --duration S    measure for S seconds (default: 10)\n"
          "  --count N           measure until N chirps are sent, instead of for S seconds\n"
          "  --lead S            seconds of tone before the first chirp, in which drop-outs do not count (default: 1)\n"
          "  --max-delay MS      longest delay at which a chirp is detected (default: 1000)\n"
          "  --no-pilot          play chirps without a tone; drop-outs are then not detected\n"
          "  --period MS         period of the meter's devices and of the bare timer (default: 2.5)\n"
          "  --priority 1-99     run the meter and the bare timer with SCHED_FIFO (default: ordinary priority)\n"
          "  --late MS           a bare timer that is later than this excuses a drop-out (default: one period)\n"
          "  --near MS           if it was late within this time of the drop-out (default: 20, at least one period)\n"
          "  --every-cpu         one bare timer bound to each CPU instead of one that moves between CPUs\n"
          "  --json FILE         also write the result as JSON; - is standard output, with the text on standard error\n"
          "  --wav FILE          write the captured audio to a WAV file\n\n"
          "Exit code 0: measured; 1: nothing was heard, or a device failed; 2: wrong use.\n",
          stream);
}

/* Explains that a program under test must connect the meter's two ends. */
static void tell_what_must_connect_them(void)
{
    fprintf(stderr,
            "chirpmeter: chirps are played to %s and expected at %s; another program must carry the audio between the two\n"
            "at the same time: `cable`, or the programs to measure, such as tenfour send and tenfour recv:\n"
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

    /* Chirps until the end, then silence for as long as the last one may take. */
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
    granted = start_thread(&listening, options.priority, run_ear, NULL) && granted;
    granted = start_thread(&speaking, options.priority, run_mouth, context) && granted;
    if (!granted)
        fprintf(stderr, "chirpmeter: the system did not grant SCHED_FIFO %d; continuing at ordinary priority\n", options.priority);
    pthread_join(speaking, NULL);
    atomic_store(&ending, true);
    pthread_join(listening, NULL);
    for (int i = 0; i < timer_count; i++)
        pthread_join(timers[i]->thread, NULL);
    if (atomic_load(&broken))
        fprintf(stderr, "chirpmeter: a device was unplugged or failed before the end\n");

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
    if (options.wav && !write_wav(options.wav, ear.sound, ear.count))
        perror(options.wav);
    return result.heard > 0 && !atomic_load(&broken) ? 0 : 1;
}
