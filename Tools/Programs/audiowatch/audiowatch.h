/* Declarations shared by counting (audiowatch.c), the hooks that call it (hooks.c) and the report (report.c). */
#ifndef AUDIOWATCH_H
#define AUDIOWATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden) /* keeps these names apart from those of the watched program */

enum event { ALLOCATION, RELEASE, LOCK, WAIT, FUTEX, EVENTS };
enum { THREADS_MAX = 64, PLACES_MAX = 256 };

struct place {
    void *address;
    uint64_t counts[EVENTS], contended;
    int64_t first, last; /* ns of CLOCK_MONOTONIC */
};

/* The counts of one thread. Only that thread writes them; the report reads them without synchronisation. */
struct record {
    atomic_bool used;
    char name[16];
    int tid;
    int64_t named; /* ns */
    uint64_t run_in[EVENTS];
    uint64_t counts[EVENTS], contended;
    uint64_t forgotten; /* events whose calling address found no room in the table */
    struct place places[PLACES_MAX];
};

extern struct record records[THREADS_MAX];
extern atomic_int record_count;
extern atomic_uint namings; /* the number of times that any thread was named: when it changes, each thread checks its own name */

struct settings {
    char prefix[16];
    int64_t run_in, span; /* ns */
    char report[1024];
    atomic_bool ready;
};

extern struct settings settings;

/* Storage that exists with the thread: other TLS models may allocate at the first access. */
#define PER_THREAD __thread __attribute__((tls_model("initial-exec")))
extern PER_THREAD unsigned seen_namings;
extern PER_THREAD struct record *mine;
extern PER_THREAD bool inside;

int64_t now(void); /* ns of CLOCK_MONOTONIC */

/* Starts or stops watching this thread, according to its current name. */
void look_at_own_name(void);

/* Counts an event of this thread if it is watched. `caller` is the address in the program that made the call. */
void count(enum event event, bool contended, void *caller);

/* Also called by a signal handler: uses only write(2) and the dynamic linker's tables. */
void write_report(void);

#pragma GCC visibility pop

#endif
