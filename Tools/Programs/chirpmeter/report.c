#include "chirpmeter.h"
#include "device.h"
#include "signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct result result;

void examine(void)
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
        for (size_t i = 0; i < mouth.chirps; i++) /* a chirp too damaged to be found is still no break of the pilot */
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

void report_text(FILE *out)
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

void report_json(FILE *out)
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
