/*
 * labcard-check: checks that the simulated card behaves as a card should. Prints one line for each check and exits with 1 if one fails.
 *
 * A check of times is tried up to ATTEMPTS times, because a busy machine may be late; a card with a defect fails each time. Run it with
 * Tools/labcard check, which gives it wires of its own.
 */

#define _GNU_SOURCE
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 4 };

static void quiet(const char *file, int line, const char *function, int error, const char *format, ...)
{
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

int main(int count, char **arguments)
{
#define QUESTION(name) {#name, name},
    static const struct {
        const char *name;
        bool (*answer)(void);
    } questions[] = {QUESTIONS(QUESTION)};
    if (getenv("LABCARD_DIR") == NULL) {
        fputs("labcard-check: run me by Tools/labcard check\n", stderr);
        return 2;
    }
    snd_lib_error_set_handler(quiet);
    int wrong = 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (count > 1 && strstr(questions[i].name, arguments[1]) == NULL)
            continue;
        int attempt = 1;
        char reasons[1000] = "";
        while (attempt <= ATTEMPTS && !questions[i].answer()) {
            size_t length = strlen(reasons);
            snprintf(reasons + length, sizeof reasons - length, "%s%s", length ? " | " : "", why);
            attempt++;
        }
        bool good = attempt <= ATTEMPTS;
        char name[120];
        snprintf(name, sizeof name, "%s", questions[i].name);
        for (char *c = name; *c; c++)
            if (*c == '_')
                *c = ' ';
        printf("%s  %s%s%s\n", good ? "ok  " : "FAIL", name, *reasons ? "   " : "", reasons);
        fflush(stdout);
        wrong += !good;
    }
    return wrong ? 1 : 0;
}
