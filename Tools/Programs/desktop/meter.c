/*
 * desktop-meter: measures the delay and the drop-outs of audio from a sound server's microphone to its sink.
 *
 * It feeds chirps and a pilot tone (../chirpmeter/signal.h) to virtual microphones and records the audio played to sinks, as the
 * server's devices do. All positions refer to one time line, and audio that the meter itself misses is known and excused.
 */
#define _GNU_SOURCE
#include "result.h"
#include "signal.h"
#include "wav.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

atomic_bool ending;
int64_t origin;
int meter_priority = 80;

static int64_t chirps[CHIRPS_MAX];
static size_t chirp_count;
static struct line lines[3 * PATHS_MAX];
static size_t line_count;
static struct path paths[PATHS_MAX];
static struct line *others[PATHS_MAX]; /* a second sink of each path */
static size_t path_count;
static struct witness witness;
static pthread_mutex_t witness_lock = PTHREAD_MUTEX_INITIALIZER;
static double seconds = 10, settle = 0.5, late_ms = 10;
static int witness_priority;

/* ---- The line of time ---------------------------------------------------------------------------------------------------- */

int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t frame_of(int64_t nanoseconds) { return llround((double)(nanoseconds - origin) * RATE / 1e9); }

void note_hole(struct line *line, int64_t start, int64_t length)
{
    struct hole *last = line->hole_count ? &line->holes[line->hole_count - 1] : NULL;
    if (last && start <= last->start + last->length)
        last->length = start + length - last->start;
    else if (line->hole_count < HOLES_MAX)
        line->holes[line->hole_count++] = (struct hole){start, length};
}

void hear(struct line *line, int64_t frame, const float *sound, size_t count)
{
    if (frame < 0)
        return;
    if (frame < line->next - RATE / 500)
        note_hole(line, frame, line->next - frame);
    else if (frame < line->next) /* two clocks may round differently */
        frame = line->next;
    if (frame > line->next && line->next > 0)
        note_hole(line, line->next, frame - line->next);
    for (size_t i = 0; i < count && frame + (int64_t)i < line->max; i++) {
        float value = sound[i] * 32768;
        line->sound[frame + (int64_t)i] = (int16_t)lrintf(value > 32767 ? 32767 : value < -32768 ? -32768 : value);
    }
    line->next = frame + (int64_t)count < line->max ? frame + (int64_t)count : line->max;
}

void signal_at(int64_t first, float *sound, size_t count)
{
    int16_t part[256];
    for (size_t done = 0; done < count; done += 256) {
        size_t length = count - done < 256 ? count - done : 256;
        compose(part, first + (int64_t)done, length, chirps, chirp_count, 1);
        for (size_t i = 0; i < length; i++)
            sound[done + i] = part[i] / 32768.0f;
    }
}

/* Address space is reserved; memory is allocated when audio arrives. */
static struct line *new_line(const char *node, double length, bool has_sound)
{
    struct line *line = &lines[line_count++];
    *line = (struct line){.node = node, .max = (int64_t)(length * RATE)};
    if (has_sound) {
        line->sound = mmap(NULL, (size_t)line->max * sizeof(int16_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                           -1, 0);
        if (line->sound == MAP_FAILED) {
            perror("desktop-meter");
            exit(1);
        }
    }
    return line;
}

/* ---- Threads ------------------------------------------------------------------------------------------------------------- */

static bool set_priority(int priority)
{
    struct sched_param parameter = {.sched_priority = priority};
    return sched_setscheduler(0, priority ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER, &parameter) == 0;
}

void become_real_time(void)
{
    if (meter_priority)
        set_priority(meter_priority);
}

/* The witness is a thread with only a timer. With a real-time priority there is one on each processor, since a single one may
   stall. */
static void *watch(void *processor)
{
    if (witness_priority && !set_priority(witness_priority))
        fprintf(stderr, "desktop-meter: the bare timer threads run at ordinary priority: the system did not grant SCHED_FIFO %d\n",
                witness_priority);
    else if (witness_priority) {
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET((size_t)(uintptr_t)processor, &own);
        pthread_setaffinity_np(pthread_self(), sizeof own, &own);
    }
    const int64_t period = 2500000;
    int64_t due = now() + period;
    while (!atomic_load(&ending)) {
        struct timespec time = {due / 1000000000, due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        int64_t awake = now();
        double late = (double)(awake - due) / 1e6;
        pthread_mutex_lock(&witness_lock);
        witness.worst_ms = fmax(witness.worst_ms, late);
        if (late >= late_ms && witness.count < sizeof witness.late / sizeof *witness.late)
            witness.late[witness.count++] = (struct lateness){frame_of(due), frame_of(awake)};
        pthread_mutex_unlock(&witness_lock);
        due = awake > due + period ? awake + period : due + period;
    }
    return NULL;
}

static void *wait_for_end(void *unused)
{
    (void)unused;
    int64_t end = origin + (int64_t)(seconds * 1e9);
    while (!atomic_load(&ending) && now() < end)
        usleep(20000);
    atomic_store(&ending, true);
    return NULL;
}

/* Prints a line on stdout when the first audio, even silence, has arrived, so that nothing that starts after it is missed. */
static void *wait_for_recording(void *data)
{
    const struct line *line = data;
    while (!atomic_load(&ending) && line->next == 0)
        usleep(5000);
    puts("recording");
    fflush(stdout);
    return wait_for_end(NULL);
}

static void end(int number)
{
    (void)number;
    atomic_store(&ending, true);
}

/* ---- Commands ------------------------------------------------------------------------------------------------------------ */

static void write_or_fail(const char *path, const int16_t *sound, size_t count)
{
    if (write_wav(path, sound, count))
        return;
    fprintf(stderr, "desktop-meter: %s: %s\n", path, strerror(errno));
    exit(1);
}

static const struct server *server(void)
{
    const char *name = getenv("DESKTOP_SERVER");
    if (name == NULL) {
        fputs("desktop-meter: desktop-meter runs only in Tools/desktop; see Tools/desktop --help\n", stderr);
        exit(2);
    }
    return strcmp(name, "pulseaudio") ? &pipewire_server : &pulse_server;
}

static void begin(void)
{
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    origin = now();
}

static int record(const char *sink, const char *file)
{
    const double longest = 6 * 3600;
    struct line *line = new_line(sink, longest, true);
    seconds = longest;
    begin();
    pthread_t timer;
    pthread_create(&timer, NULL, wait_for_recording, line);
    const struct server *chosen = server();
    chosen->listen(line);
    chosen->run();
    pthread_join(timer, NULL);
    write_or_fail(file, line->sound, (size_t)line->next);
    for (size_t i = 0; i < line->hole_count; i++)
        fprintf(stderr, "desktop-meter: %s lacks %.1f ms at %.3f s, because the sound server sent the recorder no audio\n", file,
                (double)line->holes[i].length / 48, (double)line->holes[i].start / RATE);
    return 0;
}

static int compose_file(const char *file)
{
    size_t count = (size_t)(seconds * RATE);
    int16_t *sound = malloc(count * sizeof *sound);
    compose(sound, 0, count, chirps, 0, 1);
    write_or_fail(file, sound, count);
    free(sound);
    return 0;
}

/* Adds the audio recorded at another sink, to which a program was moved. */
static void mix(struct line *line, const struct line *other)
{
    for (int64_t i = 0; i < other->next; i++)
        line->sound[i] = (int16_t)(line->sound[i] + other->sound[i]);
    line->next = line->next > other->next ? line->next : other->next;
    for (size_t i = 0; i < other->hole_count; i++)
        if (line->hole_count < HOLES_MAX)
            line->holes[line->hole_count++] = other->holes[i];
}

/* Examines headerless audio (16 bits, mono) from standard input, as if it had been recorded at a sink. */
static int examine(void)
{
    struct line *line = new_line("stdin", 7200, true);
    ssize_t got;
    size_t bytes = 0;
    while ((got = read(STDIN_FILENO, (char *)line->sound + bytes, (size_t)line->max * sizeof(int16_t) - bytes)) > 0)
        bytes += (size_t)got;
    line->next = (int64_t)(bytes / sizeof(int16_t));
    paths[0].sink = line;
    struct question question = {paths, 1, chirps, 0, settle, &witness};
    report(&question, stdout);
    return 0;
}

static int measure(const char *wav, bool with_chirps)
{
    if (with_chirps)
        chirp_count = schedule_chirps(RATE / 2, (int64_t)(seconds * RATE), chirps);
    const struct server *chosen = server();
    for (size_t i = 0; i < path_count; i++) {
        chosen->listen(paths[i].sink);
        if (others[i])
            chosen->listen(others[i]);
        if (paths[i].feed)
            chosen->feed(paths[i].feed);
    }
    begin();
    enum { PROCESSORS_MAX = 64 };
    pthread_t timer, watching[PROCESSORS_MAX];
    long processors = witness_priority ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    if (processors > PROCESSORS_MAX)
        processors = PROCESSORS_MAX;
    pthread_create(&timer, NULL, wait_for_end, NULL);
    for (long i = 0; i < processors; i++)
        pthread_create(&watching[i], NULL, watch, (void *)(uintptr_t)i);
    chosen->run();
    const int64_t end = frame_of(now()) - RATE / 2; /* servers deliver audio in blocks */
    pthread_join(timer, NULL);
    for (long i = 0; i < processors; i++)
        pthread_join(watching[i], NULL);
    for (size_t i = 0; i < path_count; i++) {
        struct line *sink = paths[i].sink;
        if (others[i])
            mix(sink, others[i]);
        if (sink->next > 0 && sink->next < end) /* a stopped device counts as silent */
            sink->next = end < sink->max ? end : sink->max;
    }
    struct question question = {paths, path_count, chirps, chirp_count, settle, &witness};
    report(&question, stdout);
    for (size_t i = 0; wav && i < path_count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s-%s.wav", wav, paths[i].sink->node);
        write_or_fail(name, paths[i].sink->sound, (size_t)paths[i].sink->next);
    }
    return 0;
}

static void usage(FILE *stream)
{
    fputs("desktop-meter: play into the microphones of Tools/desktop, record its sinks, and measure delay and gaps\n\n"
          "  desktop-meter measure --path [FEED]:SINK[+SINK]…  play chirps and a tone into FEED, detect them in SINK; JSON on\n"
          "                                              stdout. Without FEED, others play the tone (desktop-meter compose)\n"
          "  desktop-meter examine                       measure a tone on stdin: 16 bits, 48 kHz, mono, no header\n"
          "  desktop-meter record SINK FILE              record until SIGINT or SIGTERM; WAV, 48 kHz, mono\n"
          "  desktop-meter compose FILE                  write a WAV file of the tone\n\n"
          "  --seconds S     seconds to measure, or to compose (default: 10)\n"
          "  --settle S      seconds after the first sound from which on gaps count (default: 0.5)\n"
          "  --priority N    run a bare timer thread on each processor with SCHED_FIFO N (default: 0, one at ordinary priority)\n"
          "  --late MS       report each time that a bare timer thread was late by MS or more (default: 10)\n"
          "  --wav PREFIX    write the recorded audio to PREFIX-SINK.wav\n"
          "  --no-chirps     play only the tone: measures gaps, but no delay\n\n"
          "Exit code 0: measured; 1: something failed; 2: wrong use.\n",
          stream);
}

static int wrong(const char *sentence)
{
    fprintf(stderr, "desktop-meter: %s (see --help)\n", sentence);
    return 2;
}

int main(int count, char **arguments)
{
    enum { PATH = 256, SECONDS, SETTLE, PRIORITY, LATE, WAV, NO_CHIRPS };
    static const struct option known[] = {{"path", 1, 0, PATH},         {"seconds", 1, 0, SECONDS}, {"settle", 1, 0, SETTLE},
                                          {"priority", 1, 0, PRIORITY}, {"late", 1, 0, LATE},       {"wav", 1, 0, WAV},
                                          {"no-chirps", 0, 0, NO_CHIRPS}, {"help", 0, 0, 'h'},        {0, 0, 0, 0}};
    const char *wav = NULL;
    char *texts[PATHS_MAX];
    size_t text_count = 0;
    bool with_chirps = true;
    int option;
    while ((option = getopt_long(count, arguments, "h", known, NULL)) != -1)
        switch (option) {
        case PATH:
            if (text_count == PATHS_MAX)
                return wrong("there are up to four paths");
            texts[text_count++] = optarg;
            break;
        case SECONDS: seconds = atof(optarg); break;
        case SETTLE: settle = atof(optarg); break;
        case PRIORITY: witness_priority = atoi(optarg); break;
        case LATE: late_ms = atof(optarg); break;
        case WAV: wav = optarg; break;
        case NO_CHIRPS: with_chirps = false; break;
        case 'h': usage(stdout); return 0;
        default: return 2;
        }
    if (!(seconds > 0 && seconds <= 7200))
        return wrong("it measures for up to 7200 s");
    int words = count - optind;
    char **word = arguments + optind;
    if (words == 3 && !strcmp(word[0], "record"))
        return record(word[1], word[2]);
    if (words == 2 && !strcmp(word[0], "compose"))
        return compose_file(word[1]);
    if (words == 1 && !strcmp(word[0], "examine"))
        return examine();
    if (words != 1 || strcmp(word[0], "measure") || text_count == 0)
        return wrong("it is measure, record, compose or examine");
    for (size_t i = 0; i < text_count; i++) {
        char *colon = strchr(texts[i], ':');
        if (colon == NULL || colon[1] == 0)
            return wrong("a path is [FEED]:SINK[+SINK]");
        *colon = 0;
        bool pulse = server() == &pulse_server;
        char *plus = strchr(colon + 1, '+');
        if (plus)
            *plus = 0;
        others[path_count] = plus ? new_line(plus + 1, seconds + 5, true) : NULL;
        paths[path_count++] = (struct path){
            .feed = texts[i][0] ? new_line(texts[i], seconds + 5, pulse) : NULL,
            .sink = new_line(colon + 1, seconds + 5, true),
        };
    }
    return measure(wav, with_chirps);
}
