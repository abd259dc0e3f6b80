/*
 * audiowatch-check: a program with known allocations and locks, which audiowatch must count. Started directly, it starts itself again
 * with the library preloaded (whose path is the argument), reads the report, and prints one line for each check. Exits with 1 if one
 * fails.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The program that is watched ----------------------------------------------------------------------------------------- */

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;

static void lock(pthread_mutex_t *mutex, int times)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
}

static void *volatile kept; /* volatile, so that the compiler cannot remove an allocation */

static void allocate(void)
{
    kept = malloc(10);
    kept = realloc(kept, 100);
    free(kept);
    kept = calloc(3, 5);
    free(kept);
    void *aligned = NULL;
    if (posix_memalign(&aligned, 64, 100) == 0)
        kept = aligned;
    free(kept);
    free(NULL);
}

static void *busy(void *context)
{
    (void)context;
    prctl(PR_SET_NAME, "tf-audio-busy", 0, 0, 0);
    allocate(); /* during the run-in */
    usleep(400000);
    allocate();
    lock(&plain, 7);
    pthread_rwlock_rdlock(&shared);
    pthread_rwlock_unlock(&shared);
    int word = 0;
    syscall(SYS_futex, &word, 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
    pthread_barrier_wait(&barrier); /* the other thread now holds the mutex, for 100 ms */
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    usleep(500000);
    allocate(); /* after the span */
    return NULL;
}

static void *calm(void *context)
{
    (void)context;
    pthread_setname_np(pthread_self(), "tf-audio-calm");
    usleep(500000);
    lock(&plain, 1);
    return NULL;
}

static void *baptised(void *context)
{
    (void)context;
    usleep(100000); /* meanwhile main names this thread */
    lock(&plain, 1);
    usleep(400000);
    lock(&plain, 3);
    return NULL;
}

static void *other(void *context)
{
    (void)context;
    pthread_setname_np(pthread_self(), "other");
    usleep(500000);
    allocate();
    pthread_mutex_lock(&held);
    pthread_barrier_wait(&barrier);
    usleep(100000);
    pthread_mutex_unlock(&held);
    return NULL;
}

static int be_watched(void)
{
    void *(*const bodies[])(void *) = {busy, calm, other, baptised};
    pthread_t threads[4];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    pthread_setname_np(threads[3], "tf-audio-given");
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* ---- The checking process --------------------------------------------------------------------------------------------- */

static int wrong;

static void expect(bool good, const char *what)
{
    printf("%s  %s\n", good ? "ok  " : "FAIL", what);
    wrong += !good;
}

static long number_after(const char *text, const char *key)
{
    const char *place = text ? strstr(text, key) : NULL;
    return place ? strtol(place + strlen(key), NULL, 10) : -1;
}

int main(int count, char **arguments)
{
    if (getenv("AUDIOWATCH_REPORT") != NULL)
        return be_watched();
    if (count != 2) {
        fputs("audiowatch-check: which library?\n", stderr);
        return 2;
    }
    char report[] = "/tmp/audiowatch.XXXXXX";
    static char text[65536];
    close(mkstemp(report));
    pid_t child = fork();
    if (child == 0) {
        setenv("LD_PRELOAD", arguments[1], 1);
        setenv("AUDIOWATCH_REPORT", report, 1);
        setenv("AUDIOWATCH_RUN_IN", "0.2", 1);
        setenv("AUDIOWATCH_SPAN", "0.6", 1);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    FILE *file = fopen(report, "r");
    if (file != NULL) {
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
    }
    unlink(report);
    const char *busy_part = strstr(text, "\"tf-audio-busy\""), *calm_part = strstr(text, "\"tf-audio-calm\""),
               *given_part = strstr(text, "\"tf-audio-given\"");
    expect(status == 0 && *text, "the watched program ends well and leaves a report");
    expect(busy_part != NULL, "a thread that names itself by prctl is watched");
    expect(number_after(busy_part, "\"allocations\": ") == 4, "4 allocations are counted, between run-in and span");
    expect(number_after(busy_part, "\"frees\": ") == 3, "3 frees are counted, that of NULL is not");
    expect(number_after(busy_part, "\"locks\": ") == 9, "9 locks are counted");
    expect(number_after(busy_part, "\"contended\": ") == 2, "1 contended lock and 1 futex call are counted as contended");
    expect(number_after(busy_part, "\"futex_calls\": ") == 1, "1 futex call is counted");
    const char *run_in = busy_part ? strstr(busy_part, "\"during_run_in\"") : NULL;
    expect(number_after(run_in, "\"allocations\": ") == 4, "4 allocations of the run-in are told apart");
    expect(busy_part && strstr(busy_part, "\"library\": \"audiowatch-check\""), "the calling library is named");
    expect(strstr(text, "\"other\"") == NULL, "a thread of another name is not watched");
    expect(number_after(calm_part, "\"allocations\": ") == 0 && number_after(calm_part, "\"locks\": ") == 1,
           "a calm thread has a clean record, and one lock");
    expect(number_after(given_part, "\"locks\": ") == 3, "a thread named by another is watched from then on");
    return wrong ? 1 : 0;
}
