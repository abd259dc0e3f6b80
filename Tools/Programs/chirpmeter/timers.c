#define _GNU_SOURCE
#include "chirpmeter.h"
#include "device.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct timer *timers[TIMERS_MAX];
int timer_count;

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
        double awake = now(), late = awake - (double)due * 1e-9;
        if (timer->count < timer->max)
            timer->lateness[timer->count++] = (float)(late * 1e3);
        if (late * 1e3 > options.late_ms && timer->lates < LATES_MAX) {
            timer->late[timer->lates].due = (double)due * 1e-9;
            timer->late[timer->lates++].awake = awake;
        }
        do
            due += period;
        while ((double)due * 1e-9 < awake);
    }
    return NULL;
}

void start_timers(void)
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

double lateness_near(double from, double to)
{
    double worst = 0, distance = fmax(options.near_ms, options.period_ms) / 1e3;
    for (int i = 0; i < timer_count; i++)
        for (size_t k = 0; k < timers[i]->lates; k++)
            if (timers[i]->late[k].due < to + distance && timers[i]->late[k].awake > from - distance)
                worst = fmax(worst, timers[i]->late[k].awake - timers[i]->late[k].due);
    return worst * 1e3;
}
