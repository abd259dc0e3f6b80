/* Runs another program's echo canceller over files, for Tools/benchmark echo.

     peers speex    TAIL_MS MIC REF OUT   speexdsp's echo canceller and preprocessor with residual echo suppression
     peers denoise  0       MIC REF OUT   speexdsp's noise suppression only
     peers pipewire TAIL_MS MIC REF OUT   the plugin of PipeWire's echo-cancel module (libspa-aec-webrtc.so), as the module calls it

   MIC, REF and OUT are raw mono float32 at 48 kHz. TAIL_MS is used by speex only. Prints the processor time in ms. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <spa/interfaces/audio/aec.h>
#include <spa/support/log-impl.h>
#include <spa/support/plugin.h>
#include <spa/utils/names.h>
#include <speex/speex_echo.h>
#include <speex/speex_preprocess.h>

enum { RATE = 48000, FRAME = 480 };

static SPA_LOG_IMPL(quiet_log);

static float *read_file(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file) { perror(path); exit(1); }
    fseek(file, 0, SEEK_END);
    *count = (size_t)ftell(file) / sizeof(float);
    rewind(file);
    float *samples = malloc(*count * sizeof(float));
    if (fread(samples, sizeof(float), *count, file) != *count) { perror(path); exit(1); }
    fclose(file);
    return samples;
}

static void to_int16(const float *from, spx_int16_t *to) {
    for (int index = 0; index < FRAME; index++) {
        float sample = from[index] * 32768;
        to[index] = (spx_int16_t)(sample > 32767 ? 32767 : sample < -32768 ? -32768 : sample);
    }
}

static void run_speex(int tail_ms, int denoises_only, const float *mic, const float *ref, float *out, size_t count) {
    int rate = RATE, on = 1, off = 0;
    SpeexEchoState *echo = denoises_only ? NULL : speex_echo_state_init(FRAME, RATE / 1000 * tail_ms);
    SpeexPreprocessState *pre = speex_preprocess_state_init(FRAME, RATE);
    if (echo) {
        speex_echo_ctl(echo, SPEEX_ECHO_SET_SAMPLING_RATE, &rate);
        speex_preprocess_ctl(pre, SPEEX_PREPROCESS_SET_ECHO_STATE, echo);
    }
    speex_preprocess_ctl(pre, SPEEX_PREPROCESS_SET_DENOISE, denoises_only ? &on : &off);
    for (size_t at = 0; at + FRAME <= count; at += FRAME) {
        spx_int16_t near[FRAME], far[FRAME], clean[FRAME];
        to_int16(mic + at, near);
        to_int16(ref + at, far);
        if (echo) speex_echo_cancellation(echo, near, far, clean);
        else memcpy(clean, near, sizeof clean);
        speex_preprocess_run(pre, clean);
        for (int index = 0; index < FRAME; index++) out[at + index] = clean[index] / 32768.0f;
    }
}

static void run_pipewire(const float *mic, const float *ref, float *out, size_t count) {
    const char *path = getenv("SPA_AEC") ? getenv("SPA_AEC") : "/usr/lib/x86_64-linux-gnu/spa-0.2/aec/libspa-aec-webrtc.so";
    void *library = dlopen(path, RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); exit(1); }
    spa_handle_factory_enum_func_t enumerate = (spa_handle_factory_enum_func_t)dlsym(library, SPA_HANDLE_FACTORY_ENUM_FUNC_NAME);
    const struct spa_handle_factory *factory = NULL;
    uint32_t index = 0;
    if (!enumerate || enumerate(&factory, &index) <= 0) exit(1);
    struct spa_handle *handle = calloc(1, spa_handle_factory_get_size(factory, NULL));
    struct spa_support support[] = {SPA_SUPPORT_INIT(SPA_TYPE_INTERFACE_Log, &quiet_log.log)};
    if (spa_handle_factory_init(factory, handle, NULL, support, 1) < 0) exit(1);
    void *interface = NULL;
    if (spa_handle_get_interface(handle, SPA_TYPE_INTERFACE_AUDIO_AEC, &interface) < 0) exit(1);
    struct spa_audio_info_raw info = SPA_AUDIO_INFO_RAW_INIT(.format = SPA_AUDIO_FORMAT_F32P, .rate = RATE, .channels = 1);
    const struct spa_dict none = SPA_DICT_INIT(NULL, 0);
    const struct spa_dict_item agc[] = {{"webrtc.gain_control", "false"}, {"webrtc.noise_suppression", "false"}};
    struct spa_dict dict = SPA_DICT_INIT(agc, 2);
    if (getenv("SPA_PLAIN")) dict = none;
    if (spa_audio_aec_init((struct spa_audio_aec *)interface, &dict, &info) < 0) { fprintf(stderr, "init\n"); exit(1); }
    for (size_t at = 0; at + FRAME <= count; at += FRAME) {
        const float *near[] = {mic + at}, *far[] = {ref + at};
        float *clean[] = {out + at};
        if (spa_audio_aec_run((struct spa_audio_aec *)interface, near, far, clean, FRAME) < 0) exit(1);
    }
}

int main(int count, char **words) {
    if (count != 6) { fprintf(stderr, "usage: peers speex|denoise|pipewire TAIL_MS MIC REF OUT\n"); return 2; }
    size_t micCount, refCount;
    float *mic = read_file(words[3], &micCount), *ref = read_file(words[4], &refCount);
    size_t frames = micCount < refCount ? micCount : refCount;
    float *out = calloc(frames, sizeof(float));
    clock_t begin = clock();
    if (!strcmp(words[1], "pipewire")) run_pipewire(mic, ref, out, frames);
    else run_speex(atoi(words[2]), !strcmp(words[1], "denoise"), mic, ref, out, frames);
    printf("%.1f\n", (clock() - begin) * 1000.0 / CLOCKS_PER_SEC);
    FILE *file = fopen(words[5], "wb");
    if (!file || fwrite(out, sizeof(float), frames, file) != frames) { perror(words[5]); return 1; }
    return fclose(file) ? 1 : 0;
}
