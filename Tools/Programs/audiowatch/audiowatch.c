/*
 * audiowatch: what the audio threads of a program ask of the memory allocator and of locks. A library for LD_PRELOAD.
 *
 *     AUDIOWATCH_REPORT   file for the report, JSON (standard error when not given)
 *     AUDIOWATCH_THREADS  watched are the threads whose name begins so (tf-audio)
 *     AUDIOWATCH_RUN_IN   seconds from a thread's naming that do not count: set-up may allocate (2)
 *     AUDIOWATCH_SPAN     seconds after the run-in that count (0: to the end); tearing down may free
 *
 * The report is written when the program exits, and at each SIGUSR2, which the program must not want for itself. A thread takes
 * part from the moment it is named by itself, or from its first counted call after another named it, by pthread_setname_np or
 * prctl; so does one that has such a name from the program's (the name of a main thread) without ever being named.
 *
 * Counted, per thread and per place in the code that called: malloc, calloc, realloc, posix_memalign, aligned_alloc, memalign,
 * free (not of NULL); pthread_mutex_lock, pthread_rwlock_rdlock and _wrlock, and the trylocks; of these, the contended ones, for
 * which a first trylock failed; waits on condition variables; and futex system calls made through syscall(2), which is how
 * locks that are no pthread locks (Swift's Mutex) wait when they are contended. The fast path of such a lock is inlined, cannot
 * be counted from outside, and is an atomic instruction.
 *
 * Nothing here allocates or locks. A hook knows its caller by the return address; addresses become names only in the report.
 * So that they still can, dlclose unloads nothing while this library is loaded.
 *
 * For glibc. Not together with a sanitizer or another replacement of malloc.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

static struct record records[THREADS_MAX];
static atomic_int record_count;
static atomic_uint namings = 1; /* how often any thread was named: a thread looks at its own name again when this moves */

static struct {
    char prefix[16];
    int64_t run_in, span; /* ns */
    char report[1024];
    atomic_bool ready;
} settings = {.prefix = "tf-audio", .run_in = 2000000000};

/* Storage that exists with the thread: the other models may allocate at the first touch. */
#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))
PER_THREAD unsigned seen_namings;
PER_THREAD struct record *mine;
PER_THREAD bool inside;

/* ---- Counting ------------------------------------------------------------------------------------------------------------ */

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Begins or ends watching this thread, by its name as it is now. */
static void look_at_own_name(void)
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

static void count(enum event event, bool contended, void *caller)
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

#define CALLER __builtin_return_address(0)

/* ---- Memory -------------------------------------------------------------------------------------------------------------- */

/* glibc's own names for its allocator: nothing has to be looked up, which would itself allocate. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count(ALLOCATION, false, CALLER);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    count(ALLOCATION, false, CALLER);
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
        return EINVAL;
    void *result = __libc_memalign(alignment, size);
    if (result == NULL)
        return ENOMEM;
    *memory = result;
    return 0;
}

void free(void *memory)
{
    if (memory != NULL)
        count(RELEASE, false, CALLER);
    __libc_free(memory);
}

/* ---- Locks --------------------------------------------------------------------------------------------------------------- */

/* The next definition of a function; found once, when first wanted (which may be before our constructor has run). */
static void *next(_Atomic(void *) *cache, const char *name, const char *version)
{
    void *found = atomic_load_explicit(cache, memory_order_acquire);
    if (found != NULL)
        return found;
    bool was_inside = inside;
    inside = true;
    if (version != NULL)
        found = dlvsym(RTLD_NEXT, name, version); /* x86 keeps an older, incompatible condition variable beside it */
    if (found == NULL)
        found = dlsym(RTLD_NEXT, name);
    inside = was_inside;
    if (found == NULL)
        abort();
    atomic_store_explicit(cache, found, memory_order_release);
    return found;
}

#define NEXT(function) ({ static _Atomic(void *) cache; (__typeof__(&function))next(&cache, #function, NULL); })
#define NEXT_VERSION(function, version) ({ static _Atomic(void *) cache; (__typeof__(&function))next(&cache, #function, version); })

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int error = NEXT(pthread_mutex_trylock)(mutex);
    count(LOCK, error == EBUSY, CALLER);
    return error;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (mine == NULL && seen_namings == atomic_load_explicit(&namings, memory_order_relaxed))
        return NEXT(pthread_mutex_lock)(mutex); /* a thread nobody watches locks as ever */
    int error = NEXT(pthread_mutex_trylock)(mutex);
    count(LOCK, error == EBUSY, CALLER);
    return error == EBUSY ? NEXT(pthread_mutex_lock)(mutex) : error;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    int error = NEXT(pthread_rwlock_tryrdlock)(lock);
    count(LOCK, error == EBUSY, CALLER);
    return error == 0 ? 0 : NEXT(pthread_rwlock_rdlock)(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    int error = NEXT(pthread_rwlock_trywrlock)(lock);
    count(LOCK, error == EBUSY, CALLER);
    return error == 0 ? 0 : NEXT(pthread_rwlock_wrlock)(lock);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    int error = NEXT(pthread_rwlock_tryrdlock)(lock);
    count(LOCK, error == EBUSY, CALLER);
    return error;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    int error = NEXT(pthread_rwlock_trywrlock)(lock);
    count(LOCK, error == EBUSY, CALLER);
    return error;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    count(WAIT, false, CALLER);
    return NEXT_VERSION(pthread_cond_wait, "GLIBC_2.3.2")(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    count(WAIT, false, CALLER);
    return NEXT_VERSION(pthread_cond_timedwait, "GLIBC_2.3.2")(condition, mutex, until);
}

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex)
        count(FUTEX, true, CALLER);
    return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- Names --------------------------------------------------------------------------------------------------------------- */

/* A thread that named itself is on record from here on, even if it never calls anything that is counted. */
static void someone_was_named(bool oneself)
{
    atomic_fetch_add_explicit(&namings, 1, memory_order_release);
    if (oneself && atomic_load_explicit(&settings.ready, memory_order_acquire)) {
        inside = true;
        look_at_own_name();
        inside = false;
    }
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    int error = NEXT(pthread_setname_np)(thread, name);
    someone_was_named(pthread_equal(thread, pthread_self()));
    return error;
}

int prctl(int operation, ...)
{
    unsigned long a[4];
    va_list list;
    va_start(list, operation);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    int result = NEXT(prctl)(operation, a[0], a[1], a[2], a[3]);
    if (operation == PR_SET_NAME)
        someone_was_named(true);
    return result;
}

int dlclose(void *library)
{
    (void)library;
    return 0;
}

/* ---- The report ---------------------------------------------------------------------------------------------------------- */

static const char *const event_names[EVENTS] = {"allocations", "frees", "locks", "waits", "futex_calls"};

struct page {
    int file;
    size_t used;
    char text[4096];
};

static void flush(struct page *page)
{
    for (size_t done = 0; done < page->used;) {
        ssize_t written = write(page->file, page->text + done, page->used - done);
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    page->used = 0;
}

static void __attribute__((format(printf, 2, 3))) put(struct page *page, const char *format, ...)
{
    if (page->used > sizeof page->text - 1024)
        flush(page);
    va_list list;
    va_start(list, format);
    int length = vsnprintf(page->text + page->used, sizeof page->text - page->used, format, list);
    va_end(list);
    if (length > 0)
        page->used += (size_t)length < sizeof page->text - page->used ? (size_t)length : sizeof page->text - page->used - 1;
}

static void put_counts(struct page *page, const uint64_t counts[EVENTS])
{
    for (int event = 0; event < EVENTS; event++)
        put(page, "%s\"%s\": %llu", event ? ", " : "", event_names[event], (unsigned long long)counts[event]);
}

/* A name in quotes, without what JSON would have to escape. */
static void put_name(struct page *page, const char *name)
{
    put(page, "\"");
    for (size_t i = 0; name[i] != 0 && i < 400; i++)
        put(page, "%c", name[i] < ' ' || name[i] == '"' || name[i] == '\\' ? '?' : name[i]);
    put(page, "\"");
}

static void put_place(struct page *page, const struct record *record, const struct place *place)
{
    Dl_info about = {0};
    const char *library = "?", *symbol = "?";
    if (dladdr(place->address, &about)) {
        if (about.dli_fname != NULL)
            library = strrchr(about.dli_fname, '/') ? strrchr(about.dli_fname, '/') + 1 : about.dli_fname;
        if (about.dli_sname != NULL)
            symbol = about.dli_sname;
    }
    put(page, "\n      {\"library\": ");
    put_name(page, library);
    put(page, ", \"symbol\": ");
    put_name(page, symbol);
    put(page, ", \"offset\": \"0x%llx\", ",
        (unsigned long long)((uintptr_t)place->address - (uintptr_t)(about.dli_fbase ? about.dli_fbase : 0)));
    put_counts(page, place->counts);
    put(page, ", \"contended\": %llu, \"first_s\": %.3f, \"last_s\": %.3f}", (unsigned long long)place->contended,
        (double)(place->first - record->named) * 1e-9, (double)(place->last - record->named) * 1e-9);
}

static void put_record(struct page *page, const struct record *record)
{
    put(page, "\n    {\"thread\": ");
    put_name(page, record->name);
    put(page, ", \"tid\": %d, \"watched_s\": %.3f,\n     ", record->tid,
        (double)(now() - record->named - settings.run_in) * 1e-9);
    put_counts(page, record->counts);
    put(page, ", \"contended\": %llu, \"forgotten\": %llu,\n     \"during_run_in\": {", (unsigned long long)record->contended,
        (unsigned long long)record->forgotten);
    put_counts(page, record->run_in);
    put(page, "},\n     \"places\": [");
    bool first = true;
    for (int i = 0; i < PLACES_MAX; i++)
        if (record->places[i].address != NULL) {
            put(page, "%s", first ? "" : ",");
            put_place(page, record, &record->places[i]);
            first = false;
        }
    put(page, "]}");
}

/* Also called by a signal: nothing but write(2) and the dynamic linker's tables. */
static void write_report(void)
{
    static atomic_flag writing = ATOMIC_FLAG_INIT;
    if (!atomic_load(&settings.ready) || atomic_flag_test_and_set(&writing))
        return;
    int error = errno;
    bool was_inside = inside;
    inside = true;
    static struct page page;
    page.used = 0;
    /* A process without watched threads (a shell around the program) must not write over the report of one that has some. */
    int already = atomic_load(&record_count) > 0 ? O_TRUNC : O_EXCL;
    page.file = *settings.report ? open(settings.report, O_WRONLY | O_CREAT | already | O_CLOEXEC, 0644) : 2;
    if (page.file >= 0) {
        put(&page, "{\"pid\": %d, \"prefix\": ", (int)getpid());
        put_name(&page, settings.prefix);
        put(&page, ", \"run_in_s\": %.3f, \"span_s\": %.3f,\n  \"threads\": [", (double)settings.run_in * 1e-9,
            (double)settings.span * 1e-9);
        bool first = true;
        for (int i = 0; i < THREADS_MAX; i++)
            if (atomic_load_explicit(&records[i].used, memory_order_acquire)) {
                put(&page, "%s", first ? "" : ",");
                put_record(&page, &records[i]);
                first = false;
            }
        put(&page, "]}\n");
        flush(&page);
        if (page.file != 2)
            close(page.file);
    }
    inside = was_inside;
    errno = error;
    atomic_flag_clear(&writing);
}

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
