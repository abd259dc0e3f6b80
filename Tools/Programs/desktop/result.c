#include "result.h"
#include "signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAPS_MAX = 20000,
    SHORTEST = RATE / 500,   /* the shortest gap: 2 ms */
    NEAR = RATE / 20,        /* the distance at which a late witness or a hole of the meter excuses a gap */
    BRIEF = RATE / 2,        /* a longer gap is never excused */
    LONGEST_DELAY = 3 * RATE,
    TAIL = RATE / 2,         /* chirps at the end are not searched for, so gaps are not either */
    AUDIBLE = 500,           /* a tenth of the pilot's amplitude */
};

/* Returns by how much the witness was late near this span, in ms; 0 if it was not. */
static double lateness_ms(const struct witness *witness, double from, double to)
{
    double worst = 0;
    for (size_t i = 0; i < witness->count; i++) {
        const struct lateness *late = &witness->late[i];
        if ((double)late->due < to + NEAR && (double)late->awake > from - NEAR)
            worst = fmax(worst, (double)(late->awake - late->due) * 1000 / RATE);
    }
    return worst;
}

static bool in_hole(const struct line *line, double from, double to)
{
    for (size_t i = 0; line && i < line->hole_count; i++)
        if ((double)line->holes[i].start < to + NEAR && (double)(line->holes[i].start + line->holes[i].length) > from - NEAR)
            return true;
    return false;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double seconds(double frames) { return frames / RATE; }

struct heard {
    double sent[CHIRPS_MAX], at[CHIRPS_MAX], sorted[CHIRPS_MAX]; /* frames; at < 0: not found; sorted: delays */
    size_t count, usable;
};

/* Finds the time at which each chirp was at the microphone, and that at the sink. */
static void find(const struct question *question, const struct path *path, struct heard *heard)
{
    heard->count = heard->usable = 0;
    if (path->feed == NULL || question->chirp_count == 0)
        return;
    for (size_t i = 0; i < question->chirp_count; i++) {
        double start = (double)question->chirps[i];
        bool usable = start + TAIL < (double)path->sink->next && !in_hole(path->feed, start, start + CHIRP_FRAMES);
        heard->sent[i] = usable ? start : -1;
    }
    if (path->feed->sound) { /* the meter also recorded the microphone's feed */
        find_chirps(path->feed->sound, (size_t)path->feed->next, heard->sent, question->chirp_count, LONGEST_DELAY, heard->at);
        memcpy(heard->sent, heard->at, sizeof heard->sent);
    }
    find_chirps(path->sink->sound, (size_t)path->sink->next, heard->sent, question->chirp_count, LONGEST_DELAY, heard->at);
    for (size_t i = 0; i < question->chirp_count; i++) {
        if (heard->at[i] >= 0)
            heard->sorted[heard->count++] = heard->at[i] - heard->sent[i];
        else if (heard->count == 0)
            heard->sent[i] = -1; /* the programs may not have started yet */
        heard->usable += heard->sent[i] >= 0;
    }
    qsort(heard->sorted, heard->count, sizeof *heard->sorted, compare);
}

static void report_delays(const struct question *question, const struct heard *heard, FILE *out)
{
    fprintf(out, "\"chirps_sent\": %zu, \"chirps_heard\": %zu, \"delay_ms\": ", heard->usable, heard->count);
    if (heard->count)
        fprintf(out, "{\"min\": %.2f, \"median\": %.2f, \"max\": %.2f}", heard->sorted[0] / 48, heard->sorted[heard->count / 2] / 48,
                heard->sorted[heard->count - 1] / 48);
    else
        fputs("null", out);
    fputs(", \"delays\": [", out);
    for (size_t i = 0, said = 0; heard->count && i < question->chirp_count; i++)
        if (heard->at[i] >= 0)
            fprintf(out, "%s[%.3f, %.2f]", said++ ? ", " : "", seconds(heard->at[i]), (heard->at[i] - heard->sent[i]) / 48);
    fputc(']', out);
}

/* Returns the first frame of the first audible millisecond; -1 if there is none. */
static int64_t first_sound(const struct line *sink)
{
    int64_t run = 0, quiet = 0;
    for (int64_t i = 0; i < sink->next; i++) {
        if (abs(sink->sound[i]) >= AUDIBLE) {
            run++;
            quiet = 0;
        } else if (++quiet > 48) {
            run = 0;
        }
        if (run > 48)
            return i;
    }
    return -1;
}

/* Finds silences in a recording that is mostly silent, where find_gaps has no tone to compare with. */
static size_t find_silences(const struct line *sink, int64_t from, int64_t end, struct gap *gaps, size_t max)
{
    size_t count = 0;
    for (int64_t i = from, run = 0; i <= end; i++) {
        if (i < end && abs(sink->sound[i]) < AUDIBLE / 5) {
            run++;
            continue;
        }
        if (run >= SHORTEST && count < max)
            gaps[count++] = (struct gap){(double)(i - run), (double)run, 0, "silence"};
        run = 0;
    }
    return count;
}

static void report_gaps(const struct question *question, const struct path *path, struct heard *heard, FILE *out)
{
    static struct gap gaps[GAPS_MAX];
    const struct line *sink = path->sink;
    int64_t first = first_sound(sink), from = first + (int64_t)(question->settle * RATE);
    int64_t end = path->feed ? sink->next - TAIL : sink->next;
    size_t found = 0, count = 0, excused = 0, jumps = 0, said = 0;
    double missing = 0, median = heard->count ? heard->sorted[heard->count / 2] : 0, longest = 0;
    if (first >= 0 && from < end) {
        for (size_t i = 0; path->feed && i < question->chirp_count; i++) /* a chirp too damaged to be found is no break of the pilot */
            if (heard->at[i] < 0 && heard->sent[i] >= 0)
                heard->at[i] = heard->sent[i] + median;
        found = find_gaps(sink->sound, (size_t)from, (size_t)end, heard->at, path->feed ? question->chirp_count : 0, gaps,
                          GAPS_MAX);
        if (found == 0)
            found = find_silences(sink, from, end, gaps, GAPS_MAX);
    }
    fprintf(out, "\"first_sound_s\": %.3f, \"watched_s\": %.2f, \"gaps\": [", first < 0 ? -1 : seconds((double)first),
            first < 0 || from > end ? 0 : seconds((double)(end - from)));
    for (size_t i = 0; i < found; i++) {
        const struct gap *gap = &gaps[i];
        double gap_end = gap->start + gap->length;
        bool is_short = gap->length < SHORTEST, brief = gap->length < BRIEF;
        bool jump = !strcmp(gap->kind, "jump") || (is_short && fabs(gap->jump) > 0.1);
        if (is_short && !jump)
            continue;
        double late = brief ? lateness_ms(question->witness, gap->start, gap_end) : 0;
        bool own = brief && (in_hole(sink, gap->start, gap_end) || in_hole(path->feed, gap->start - median, gap_end - median));
        bool is_excused = late > 0 || own;
        fprintf(out, "%s{\"at_s\": %.3f, \"ms\": %.1f, \"kind\": \"%s\", \"turn\": %.2f, \"timer_late_ms\": %.1f, \"meter\": %s}",
                said++ ? ", " : "", seconds(gap->start), jump ? 0 : gap->length / 48, jump ? "jump" : gap->kind, gap->jump, late, own ? "true" : "false");
        excused += is_excused;
        jumps += jump && !is_excused;
        count += !jump && !is_excused;
        if (!jump) {
            missing += gap->length;
            longest = fmax(longest, gap->length);
        }
    }
    fprintf(out, "], \"gap_count\": %zu, \"excused\": %zu, \"jumps\": %zu, \"missing_s\": %.3f, \"longest_ms\": %.1f", count, excused, jumps,
            seconds(missing), longest / 48);
}

static void report_holes(const char *name, const struct line *line, FILE *out)
{
    fprintf(out, ", \"%s\": [", name);
    for (size_t i = 0; line && i < line->hole_count; i++)
        fprintf(out, "%s[%.3f, %.1f]", i ? ", " : "", seconds((double)line->holes[i].start), (double)line->holes[i].length / 48);
    fputc(']', out);
}

void report(const struct question *question, FILE *out)
{
    static struct heard heard;
    fprintf(out, "{\"origin_ns\": %lld, \"paths\": [", (long long)origin);
    for (size_t i = 0; i < question->path_count; i++) {
        const struct path *path = &question->paths[i];
        find(question, path, &heard);
        fprintf(out, "%s{\"feed\": \"%s\", \"sink\": \"%s\", ", i ? ",\n " : "", path->feed ? path->feed->node : "", path->sink->node);
        report_delays(question, &heard, out);
        fputs(", ", out);
        report_gaps(question, path, &heard, out);
        report_holes("meter_holes", path->sink, out);
        report_holes("feed_holes", path->feed, out);
        fputc('}', out);
    }
    fprintf(out, "],\n \"witness\": {\"late\": %zu, \"worst_ms\": %.1f, \"at\": [", question->witness->count, question->witness->worst_ms);
    for (size_t i = 0; i < question->witness->count; i++)
        fprintf(out, "%s[%.3f, %.1f]", i ? ", " : "", seconds((double)question->witness->late[i].due),
                (double)(question->witness->late[i].awake - question->witness->late[i].due) / 48);
    fputs("]}}\n", out);
}
