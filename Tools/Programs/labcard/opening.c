/* Opens a card: its directory and wire, the limits that ALSA is told, and the configuration that names it. */
#define _GNU_SOURCE
#include "labcard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Opens the directory of the wires, and makes it if it does not exist. In a place that others can write to, it must be our own.
   */
static int open_directory(void)
{
    char path[4096];
    const char *given = getenv("LABCARD_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
    if (given != NULL && *given != 0)
        snprintf(path, sizeof path, "%s", given);
    else if (runtime != NULL && *runtime != 0)
        snprintf(path, sizeof path, "%s/labcard", runtime);
    else
        snprintf(path, sizeof path, "/dev/shm/labcard-%u", (unsigned)geteuid());
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return -errno;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    struct stat about;
    if ((given == NULL || *given == 0) && (fstat(directory, &about) < 0 || about.st_uid != geteuid())) {
        close(directory);
        return -EACCES;
    }
    return directory;
}

static int open_wire(struct card *card, const char *name, snd_pcm_stream_t stream)
{
    card->directory = open_directory();
    if (card->directory < 0)
        return card->directory;
    snprintf(card->unplugged, sizeof card->unplugged, "%s.unplugged", name);
    snprintf(card->suspended, sizeof card->suspended, "%s.suspended", name);
    snprintf(card->quantized, sizeof card->quantized, "%s.quantum", name);
    snprintf(card->hanging, sizeof card->hanging, "%s.hanging", name);
    hang(card);
    if (exists(card, card->unplugged))
        return -ENODEV;
    card->wire_file = openat(card->directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (card->wire_file < 0)
        return -errno;
    if (stream == SND_PCM_STREAM_PLAYBACK && flock(card->wire_file, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    size_t size = WIRE_FRAMES * sizeof *card->wire;
    int error = posix_fallocate(card->wire_file, 0, (off_t)size); /* so that a full disk does not cause a SIGBUS later */
    if (error != 0)
        return -error;
    card->wire = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, card->wire_file, 0);
    if (card->wire == MAP_FAILED) {
        card->wire = NULL;
        return -errno;
    }
    return 0;
}

static const unsigned formats[] = {SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_FLOAT_LE, SND_PCM_FORMAT_S24_LE};

enum { FORMATS = sizeof formats / sizeof *formats };

static int limit(snd_pcm_ioplug_t *io)
{
    static const unsigned accesses[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_RW_NONINTERLEAVED,
                                        SND_PCM_ACCESS_MMAP_INTERLEAVED, SND_PCM_ACCESS_MMAP_NONINTERLEAVED};
    struct card *card = io->private_data;
    int error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 4, accesses);
    if (error >= 0)
        error = card->format == SND_PCM_FORMAT_UNKNOWN
                    ? snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, FORMATS, formats)
                    : snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, (unsigned *)&card->format);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, 1, 2);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_RATE, card->rate, card->rate);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 64, 32768);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 128, 131072);
    if (error >= 0)
        error = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, 2048);
    return error;
}

static int open_card(snd_pcm_t **pcm, const char *name, const char *wire, double ppm, long rate, snd_pcm_format_t format,
                     snd_pcm_stream_t stream, int mode)
{
    struct card *card = calloc(1, sizeof *card);
    if (card == NULL)
        return -ENOMEM;
    card->directory = card->wire_file = card->io.poll_fd = -1;
    card->rate = (unsigned)rate;
    card->format = format;
    card->clock = (uint64_t)rate * (uint64_t)(1000000000 + llrint(ppm * 1000));
    card->direct = card->clock == WIRE_CLOCK;
    card->stop_threshold = 1;

    char *title = NULL;
    int error = open_wire(card, wire, stream);
    if (error == 0 && asprintf(&title, "labcard %s", wire) < 0)
        error = -ENOMEM;
    if (error == 0 && !card->direct) {
        double ratio = stream == SND_PCM_STREAM_PLAYBACK ? (double)WIRE_CLOCK / card->clock : (double)card->clock / WIRE_CLOCK;
        card->sinc = malloc((PHASES + 1) * TAPS * sizeof *card->sinc);
        if (card->sinc == NULL)
            error = -ENOMEM;
        else
            make_sinc(card->sinc, ratio < 0.999 ? ratio * 0.92 : 0.97);
    }
    if (error == 0) {
        card->io.poll_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        error = card->io.poll_fd < 0 ? -errno : 0;
    }
    if (error == 0) {
        card->io.version = SND_PCM_IOPLUG_VERSION;
        card->io.name = title;
        card->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
        card->io.poll_events = POLLIN;
        card->io.callback = &callbacks;
        card->io.private_data = card;
        error = snd_pcm_ioplug_create(&card->io, name, stream, mode);
    }
    if (error < 0) {
        release(card);
        return error;
    }
    error = limit(&card->io);
    if (error < 0) {
        snd_pcm_ioplug_delete(&card->io); /* this also calls close, which releases the card */
        return error;
    }
    *pcm = card->io.pcm;
    return 0;
}

static bool is_wire_name(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length <= 64 && name[length] == 0;
}

/* Reads a number from the configuration, where it may be a number or a text. */
static int get_number(const snd_config_t *node, double *value)
{
    char *text = NULL, *end;
    int error = snd_config_get_ascii(node, &text);
    if (error < 0)
        return error;
    *value = strtod(text, &end);
    error = end == text || *end != 0 ? -EINVAL : 0;
    free(text);
    return error;
}

/* Reads the name of a format that the card has; an empty name means any format. */
static int get_format(const snd_config_t *node, snd_pcm_format_t *format)
{
    const char *text = NULL;
    int error = snd_config_get_string(node, &text);
    if (error < 0 || *text == 0)
        return error;
    *format = snd_pcm_format_value(text);
    for (int i = 0; i < FORMATS; i++)
        if ((int)formats[i] == *format)
            return 0;
    return -EINVAL;
}

SND_PCM_PLUGIN_DEFINE_FUNC(labcard)
{
    const char *wire = NULL, *says = NULL;
    snd_pcm_format_t format = SND_PCM_FORMAT_UNKNOWN;
    double ppm = 0, rate = WIRE_RATE;
    snd_config_iterator_t i, next;
    (void)root;
    snd_config_for_each(i, next, conf)
    {
        snd_config_t *node = snd_config_iterator_entry(i);
        const char *id;
        int error = 0;
        if (snd_config_get_id(node, &id) < 0 || !strcmp(id, "comment") || !strcmp(id, "type") || !strcmp(id, "hint"))
            continue;
        if (!strcmp(id, "wire"))
            error = snd_config_get_string(node, &wire);
        else if (!strcmp(id, "ppm"))
            error = get_number(node, &ppm);
        else if (!strcmp(id, "rate"))
            error = get_number(node, &rate);
        else if (!strcmp(id, "format"))
            error = get_format(node, &format);
        else if (!strcmp(id, "says") && (error = snd_config_get_string(node, &says)) >= 0) {
            fprintf(stderr, "%s\n", says);
            SNDERR("%s", says);
        }
        else
            error = -EINVAL;
        if (error < 0) {
            SNDERR("labcard: %s is not understood", id);
            return error;
        }
    }
    if (wire == NULL || !is_wire_name(wire)) {
        SNDERR("labcard: a wire's name is 1 to 64 letters, digits, '_' and '-'");
        return -EINVAL;
    }
    if (!(fabs(ppm) <= 50000)) {
        SNDERR("labcard: the drift must lie between -50000 and 50000 ppm");
        return -EINVAL;
    }
    if (!(rate >= 8000 && rate <= 192000) || rate != floor(rate)) {
        SNDERR("labcard: the rate must be a whole number between 8000 and 192000");
        return -EINVAL;
    }
    return open_card(pcmp, name, wire, ppm, (long)rate, format, stream, mode);
}

SND_PCM_PLUGIN_SYMBOL(labcard);
