// A substitute for a libopus with neural models, to be preloaded over one without models (LD_PRELOAD). It changes only the effect
// of OPUS_SET_COMPLEXITY on a decoder, as the variable OPUS_MODELS says:
//
//   deaf      the setting is accepted without effect, as in a libopus built without the models
//   models    from complexity 5 on concealed frames sound different, from 6 on decoded speech too; concealing a frame takes
//             OPUS_MODELS_COST microseconds of processor time, from call OPUS_MODELS_SLOW_FROM on OPUS_MODELS_FACTOR times as long

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK = 0, SET_COMPLEXITY = 4010, DECODERS = 64 };

static struct {
    const void *decoder;
    int complexity;
} known[DECODERS];

static int *complexity_of(const void *decoder) {
    for (int i = 0; i < DECODERS; i++) {
        const void *nobody = NULL;
        if (__atomic_load_n(&known[i].decoder, __ATOMIC_ACQUIRE) == decoder) return &known[i].complexity;
        if (__atomic_compare_exchange_n(&known[i].decoder, &nobody, decoder, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return &known[i].complexity;
    }
    abort();
}

static int is_mode(const char *mode) {
    const char *said = getenv("OPUS_MODELS");
    return said && !strcmp(said, mode);
}

static long number(const char *name, long otherwise) {
    const char *said = getenv(name);
    return said ? atol(said) : otherwise;
}

static long long processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void spin(long microseconds) {
    long long end = processor_time() + microseconds * 1000LL;
    while (processor_time() < end) {}
}

int opus_decoder_ctl(void *decoder, int request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == SET_COMPLEXITY && (is_mode("deaf") || is_mode("models"))) {
        *complexity_of(decoder) = (int)(long)argument;
        return OK;
    }
    int (*real)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(RTLD_NEXT, "opus_decoder_ctl");
    return real(decoder, request, argument);
}

void opus_decoder_destroy(void *decoder) {
    *complexity_of(decoder) = 0;
    void (*real)(void *) = (void (*)(void *))dlsym(RTLD_NEXT, "opus_decoder_destroy");
    real(decoder);
}

int opus_decode_float(void *decoder, const unsigned char *data, int length, float *pcm, int frames, int fec) {
    static int (*real)(void *, const unsigned char *, int, float *, int, int);
    static long calls;
    if (!real)
        real = (int (*)(void *, const unsigned char *, int, float *, int, int))dlsym(RTLD_NEXT, "opus_decode_float");
    int got = real(decoder, data, length, pcm, frames, fec);
    int complexity = *complexity_of(decoder);
    if (!is_mode("models") || complexity < 5 || got <= 0) return got;
    int lost = !data || fec;
    if (lost) {
        long call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
        long factor = call >= number("OPUS_MODELS_SLOW_FROM", 1L << 40) ? number("OPUS_MODELS_FACTOR", 5) : 1;
        spin(number("OPUS_MODELS_COST", 100) * factor);
    }
    if (lost || complexity >= 6)
        for (int i = 0; i < got; i++) pcm[i] *= 0.99f;
    return got;
}
