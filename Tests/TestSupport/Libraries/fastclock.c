// A substitute for the C library's wall clock. It is ahead by CLOCK_AHEAD seconds, an environment variable.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void)
{
    const char *text = getenv("CLOCK_AHEAD");
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += ahead();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    (void)zone;
    struct timespec now;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return result;
}
