/* What counts (audiowatch.c), what calls it (hooks.c) and what tells of it (report.c) share. */
#ifndef AUDIOWATCH_H
#define AUDIOWATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden) /* a program under watch has names of its own */

enum event { ALLOCATION, RELEASE, LOCK, WAIT, FUTEX, EVENTS };
enum { THREADS_MAX = 64, PLACES_MAX = 256 };

struct place {
    void *address;
    uint64_t counts[EVENTS], contended;
    int64_t first, last; /* ns of CLOCK_MONOTONIC */
};

/* One thread's counts. Written by that thread alone; the report reads them as they are. */
struct record {
    atomic_bool used;
    char name[16];
    int tid;
    int64_t named; /* ns */
    uint64_t run_in[EVENTS];
    uint64_t counts[EVENTS], contended;
    uint64_t forgotten; /* events at places that found no room in the table */
    struct place places[PLACES_MAX];
};

extern struct record records[THREADS_MAX];
extern atomic_int record_count;
extern atomic_uint namings; /* how often any thread was named: a thread looks at its own name again when this moves */

struct settings {
    char prefix[16];
    int64_t run_in, span; /* ns */
    char report[1024];
    atomic_bool ready;
};

extern struct settings settings;

/* Storage that exists with the thread: the other models may allocate at the first touch. */
#define PER_THREAD __thread __attribute__((tls_model("initial-exec")))
extern PER_THREAD unsigned seen_namings;
extern PER_THREAD struct record *mine;
extern PER_THREAD bool inside;

int64_t now(void); /* ns of CLOCK_MONOTONIC */

/* Begins or ends watching this thread, by its name as it is now. */
void look_at_own_name(void);

/* Counts an event of this thread, if it is watched. `caller` is where the program called from. */
void count(enum event event, bool contended, void *caller);

/* Also called by a signal: nothing but write(2) and the dynamic linker's tables. */
void write_report(void);

#pragma GCC visibility pop

#endif
