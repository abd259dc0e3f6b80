/*
 * audiowatch: counts the calls of the memory allocator and of locks by the audio threads of a program. A library for LD_PRELOAD.
 *
 *     AUDIOWATCH_REPORT   file for the report in JSON (default: standard error)
 *     AUDIOWATCH_THREADS  prefix of the names of the watched threads (tf-audio)
 *     AUDIOWATCH_RUN_IN   seconds after a thread got its name that do not count, since set-up may allocate (2)
 *     AUDIOWATCH_SPAN     seconds after the run-in that count (0: to the end), since tearing down may free memory
 *
 * The report is written when the program exits, and at each SIGUSR2, which the program must not use itself. A thread is watched from
 * the moment it names itself, or from its first counted call after another thread has named it, by pthread_setname_np or prctl; also
 * if it has such a name from the program (the name of a main thread) without ever being named.
 *
 * Counted, per thread and calling address: malloc, calloc, realloc, posix_memalign, aligned_alloc, memalign, free (not of NULL);
 * pthread_mutex_lock, pthread_rwlock_rdlock and _wrlock, and the trylocks; of these also the contended ones, for which a first
 * trylock failed; waits on condition variables; and futex system calls made through syscall(2), with which locks other than pthread
 * locks (Swift's Mutex) wait when they are contended. The fast path of such a lock is an inlined atomic instruction, which cannot be
 * counted from outside.
 *
 * Nothing here allocates or locks. A hook identifies its caller by the return address; addresses are resolved to names only in the
 * report. For that purpose dlclose unloads nothing while this library is loaded.
 *
 * For glibc. Cannot be combined with a sanitizer or another replacement of malloc.
 */

#define _GNU_SOURCE
#include "audiowatch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct record records[THREADS_MAX];
atomic_int record_count;
atomic_uint namings = 1;
struct settings settings = {.prefix = "tf-audio", .run_in = 2000000000};

PER_THREAD unsigned seen_namings;
PER_THREAD struct record *mine;
PER_THREAD bool inside;

/* ---- Counting -------------------------------------------------------------------------------------------------------- */

int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void look_at_own_name(void)
{
    char name[16] = "";
    seen_namings = atomic_load_explicit(&namings, memory_order_acquire);
    syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
    bool watched = !strncmp(name, settings.prefix, strlen(settings.prefix));
    if (!watched || (mine != NULL && !strcmp(mine->name, name))) {
        if (!watched)
            mine = NULL;
        return;
    }
    int index = atomic_fetch_add(&record_count, 1);
    if (index >= THREADS_MAX)
        return;
    struct record *record = &records[index];
    memcpy(record->name, name, sizeof name);
    record->tid = (int)syscall(SYS_gettid);
    record->named = now();
    atomic_store_explicit(&record->used, true, memory_order_release);
    mine = record;
}

static struct place *place_of(struct record *record, void *address)
{
    size_t start = ((uintptr_t)address >> 2) * 2654435761u % PLACES_MAX;
    for (size_t i = 0; i < PLACES_MAX; i++) {
        struct place *place = &record->places[(start + i) % PLACES_MAX];
        if (place->address == address)
            return place;
        if (place->address == NULL) {
            place->address = address;
            return place;
        }
    }
    return NULL;
}

void count(enum event event, bool contended, void *caller)
{
    if (seen_namings != atomic_load_explicit(&namings, memory_order_relaxed) && !inside &&
        atomic_load_explicit(&settings.ready, memory_order_acquire)) {
        inside = true;
        look_at_own_name();
        inside = false;
    }
    struct record *record = mine;
    if (record == NULL || inside)
        return;
    int64_t time = now();
    if (time - record->named < settings.run_in) {
        record->run_in[event]++;
        return;
    }
    if (settings.span > 0 && time - record->named > settings.run_in + settings.span)
        return;
    record->counts[event]++;
    record->contended += contended;
    struct place *place = place_of(record, caller);
    if (place == NULL) {
        record->forgotten++;
        return;
    }
    if (place->first == 0)
        place->first = time;
    place->last = time;
    place->counts[event]++;
    place->contended += contended;
}

/* ---- Beginning and end ----------------------------------------------------------------------------------------------- */

static void on_signal(int signal)
{
    (void)signal;
    write_report();
}

__attribute__((constructor)) static void begin(void)
{
    const char *prefix = getenv("AUDIOWATCH_THREADS"), *run_in = getenv("AUDIOWATCH_RUN_IN"),
               *span = getenv("AUDIOWATCH_SPAN"), *report = getenv("AUDIOWATCH_REPORT");
    if (prefix != NULL)
        snprintf(settings.prefix, sizeof settings.prefix, "%s", prefix);
    if (run_in != NULL)
        settings.run_in = (int64_t)(strtod(run_in, NULL) * 1e9);
    if (span != NULL)
        settings.span = (int64_t)(strtod(span, NULL) * 1e9);
    if (report != NULL)
        snprintf(settings.report, sizeof settings.report, "%s", report);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
    atomic_store_explicit(&settings.ready, true, memory_order_release);
}

__attribute__((destructor)) static void finish(void)
{
    write_report();
}
