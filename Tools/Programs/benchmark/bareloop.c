/*
 * bareloop: the minimum that a program must do to send or to play Opus over RTP, in plain C with libopus, ALSA and sockets.
 * `Tools/benchmark cpu` compares tenfour with it: the same periods, queue, frames, codec settings, resampler setting and socket calls,
 * one thread per direction, and no further functions: no reports, no clock comparison, no second talker, no recovery.
 *
 *     bareloop send PCM HOST PORT         bareloop recv PCM PORT
 */

#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <netinet/in.h>
#include <opus/opus.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <speex/speex_resampler.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    RATE = 48000,
    FRAME = 960,       /* frames of a packet: 20 ms */
    PERIOD = 240,      /* frames of the playing card's period: 5 ms */
    PERIODS = 4,       /* periods in each card's buffer */
    TARGET = 2,        /* the largest number of periods queued for playing */
    BIT_RATE = 32000,
    QUALITY = 3,       /* of the resampler */
    START_DEPTH = 1,   /* the number of packets buffered before playing begins */
    FIFO = 16,         /* capacity in packets, a power of two */
    PACKET_MAX = 1500,
    CARD_POLLS = 8,    /* the largest number of descriptors of a card */
    RTP_HEADER = 12
};

static struct {
    int priority, resampled, direct;
} options = {50, 0, 0};

static volatile sig_atomic_t ending;

static void end(int signal)
{
    (void)signal;
    ending = 1;
}

static void must(long result, const char *what)
{
    if (result >= 0)
        return;
    fprintf(stderr, "bareloop: %s: %s\n", what, result == -1 ? strerror(errno) : snd_strerror((int)result));
    exit(1);
}

static snd_pcm_t *open_card(const char *name, snd_pcm_stream_t direction, snd_pcm_uframes_t period, snd_pcm_uframes_t wake_at)
{
    snd_pcm_t *pcm;
    snd_pcm_hw_params_t *hw;
    snd_pcm_sw_params_t *sw;
    snd_pcm_uframes_t buffer = period * PERIODS;
    snd_pcm_hw_params_alloca(&hw);
    snd_pcm_sw_params_alloca(&sw);
    must(snd_pcm_open(&pcm, name, direction, 0), name);
    must(snd_pcm_hw_params_any(pcm, hw), "any");
    must(snd_pcm_hw_params_set_access(pcm, hw, SND_PCM_ACCESS_RW_INTERLEAVED), "access");
    must(snd_pcm_hw_params_set_format(pcm, hw, SND_PCM_FORMAT_S16), "format");
    must(snd_pcm_hw_params_set_channels(pcm, hw, 1), "channels");
    must(snd_pcm_hw_params_set_rate(pcm, hw, RATE, 0), "rate");
    must(snd_pcm_hw_params_set_period_size(pcm, hw, period, 0), "period");
    must(snd_pcm_hw_params_set_buffer_size(pcm, hw, buffer), "buffer");
    must(snd_pcm_hw_params(pcm, hw), "hardware parameters");
    must(snd_pcm_sw_params_current(pcm, sw), "current");
    must(snd_pcm_sw_params_set_avail_min(pcm, sw, wake_at), "avail_min");
    must(snd_pcm_sw_params_set_start_threshold(pcm, sw, direction == SND_PCM_STREAM_CAPTURE ? 1 : PERIOD * TARGET), "start");
    must(snd_pcm_sw_params(pcm, sw), "software parameters");
    return pcm;
}

/* ---- Sending ------------------------------------------------------------------------------------------------------------- */

static void write_header(uint8_t *header, uint16_t sequence, uint32_t timestamp, uint32_t ssrc)
{
    header[0] = 2 << 6;
    header[1] = 111;
    header[2] = (uint8_t)(sequence >> 8);
    header[3] = (uint8_t)sequence;
    for (int i = 0; i < 4; i++) {
        header[4 + i] = (uint8_t)(timestamp >> (24 - 8 * i));
        header[8 + i] = (uint8_t)(ssrc >> (24 - 8 * i));
    }
}

static void send_sound(const char *card, const char *host, int port)
{
    snd_pcm_t *pcm = open_card(card, SND_PCM_STREAM_CAPTURE, FRAME, FRAME);
    OpusEncoder *encoder = opus_encoder_create(RATE, 1, OPUS_APPLICATION_VOIP, NULL);
    opus_encoder_ctl(encoder, OPUS_SET_BITRATE(BIT_RATE));
    opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(10));
    opus_encoder_ctl(encoder, OPUS_SET_VBR(1));
    opus_encoder_ctl(encoder, OPUS_SET_VBR_CONSTRAINT(1));
    opus_encoder_ctl(encoder, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));

    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    must(udp, "socket");
    must(inet_pton(AF_INET, host, &to.sin_addr) == 1 ? 0 : -EINVAL, host);

    static int16_t sound[FRAME];
    static uint8_t packet[PACKET_MAX];
    struct iovec bytes = {packet, 0};
    struct msghdr message = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &bytes, .msg_iovlen = 1};
    uint16_t sequence = 0;
    uint32_t timestamp = 0;
    while (!ending) {
        snd_pcm_sframes_t got = snd_pcm_readi(pcm, sound, FRAME);
        if (got < 0) {
            must(snd_pcm_recover(pcm, (int)got, 1), "capture");
            continue;
        }
        int count = opus_encode(encoder, sound, FRAME, packet + RTP_HEADER, PACKET_MAX - RTP_HEADER);
        write_header(packet, sequence++, timestamp, 1);
        timestamp += FRAME;
        bytes.iov_len = (size_t)count + RTP_HEADER;
        sendmsg(udp, &message, 0);
    }
    snd_pcm_close(pcm);
    opus_encoder_destroy(encoder);
    close(udp);
}

/* ---- Playing ------------------------------------------------------------------------------------------------------------- */

/* Packets by their sequence numbers; a count of zero marks an empty slot. */
static struct {
    int count;
    uint8_t bytes[PACKET_MAX];
} fifo[FIFO];

static uint16_t next_sequence, newest_sequence;
static bool begun, playing;

/* Receives all waiting datagrams as libuv does: up to twenty at a time until there are none. */
static void receive(int udp)
{
    enum { BATCH = 20 };
    static uint8_t datagrams[BATCH][PACKET_MAX];
    struct iovec bytes[BATCH];
    struct sockaddr_in6 from[BATCH];
    struct mmsghdr messages[BATCH];
    for (;;) {
        for (int i = 0; i < BATCH; i++) {
            bytes[i] = (struct iovec){datagrams[i], PACKET_MAX};
            messages[i] = (struct mmsghdr){.msg_hdr = {&from[i], sizeof from[i], &bytes[i], 1, NULL, 0, 0}};
        }
        int count = recvmmsg(udp, messages, BATCH, MSG_DONTWAIT, NULL);
        for (int i = 0; i < count; i++) {
            uint16_t sequence = (uint16_t)(datagrams[i][2] << 8 | datagrams[i][3]);
            if (messages[i].msg_len <= RTP_HEADER || datagrams[i][1] != 111)
                continue;
            if (!begun)
                next_sequence = sequence;
            begun = true;
            if ((uint16_t)(sequence - next_sequence) >= FIFO)
                continue;
            fifo[sequence % FIFO].count = (int)messages[i].msg_len - RTP_HEADER;
            memcpy(fifo[sequence % FIFO].bytes, datagrams[i] + RTP_HEADER, messages[i].msg_len - RTP_HEADER);
            newest_sequence = sequence;
        }
        if (count < 1)
            return;
    }
}

/* Decodes the next packet, or conceals it. */
static int decode(OpusDecoder *decoder, float *sound)
{
    int waiting = (int16_t)(newest_sequence - next_sequence) + 1;
    if (!playing && waiting >= START_DEPTH && fifo[next_sequence % FIFO].count > 0)
        playing = true;
    if (!playing) {
        memset(sound, 0, FRAME * sizeof *sound);
        return PERIOD;
    }
    int place = next_sequence++ % FIFO, count = fifo[place].count;
    fifo[place].count = 0;
    if (waiting < -FIFO)
        begun = playing = false;
    return opus_decode_float(decoder, count ? fifo[place].bytes : NULL, count, sound, FRAME, 0);
}

static void play_sound(const char *card, int port)
{
    snd_pcm_t *pcm = open_card(card, SND_PCM_STREAM_PLAYBACK, PERIOD, PERIOD * (PERIODS - TARGET + 1));
    OpusDecoder *decoder = opus_decoder_create(RATE, 1, NULL);
    SpeexResamplerState *resampler = speex_resampler_init(1, RATE, RATE, QUALITY, NULL);
    if (options.resampled)
        speex_resampler_set_rate_frac(resampler, 65522, 65521, 65522, 65521);

    int udp = socket(AF_INET6, SOCK_DGRAM, 0), off = 0;
    struct sockaddr_in6 here = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    must(udp, "socket");
    must(setsockopt(udp, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off), "IPV6_V6ONLY");
    must(bind(udp, (struct sockaddr *)&here, sizeof here), "bind");

    static float decoded[FRAME], converted[PERIOD];
    static int16_t sound[PERIOD];
    int waiting = 0, start = 0;
    snd_pcm_writei(pcm, sound, PERIOD);
    snd_pcm_writei(pcm, sound, PERIOD);
    struct pollfd waits[1 + CARD_POLLS] = {{udp, POLLIN, 0}};
    while (!ending) {
        unsigned short card_events = 0;
        int count = snd_pcm_poll_descriptors(pcm, waits + 1, CARD_POLLS);
        if (poll(waits, 1 + (nfds_t)count, 1000) < 0)
            continue;
        snd_pcm_poll_descriptors_revents(pcm, waits + 1, (unsigned)count, &card_events);
        if (waits[0].revents)
            receive(udp);
        if (!card_events)
            continue;
        for (spx_uint32_t done = 0; done < PERIOD;) {
            if (waiting == 0) {
                start = 0;
                waiting = decode(decoder, decoded);
            }
            spx_uint32_t in = (spx_uint32_t)waiting, out = PERIOD - done;
            if (options.direct)
                memcpy(converted + done, decoded + start, (in = out = in < out ? in : out) * sizeof *decoded);
            else
                speex_resampler_process_float(resampler, 0, decoded + start, &in, converted + done, &out);
            waiting -= (int)in;
            start += (int)in;
            done += out;
        }
        for (int i = 0; i < PERIOD; i++) {
            float level = converted[i] * 32768;
            sound[i] = (int16_t)(level > 32767 ? 32767 : level < -32768 ? -32768 : lrintf(level));
        }
        snd_pcm_sframes_t put = snd_pcm_writei(pcm, sound, PERIOD);
        if (put < 0) {
            must(snd_pcm_recover(pcm, (int)put, 1), "playback");
            snd_pcm_writei(pcm, sound, PERIOD);
        }
    }
    snd_pcm_close(pcm);
    opus_decoder_destroy(decoder);
    speex_resampler_destroy(resampler);
    close(udp);
}

/* ---- The command --------------------------------------------------------------------------------------------------------- */

static int usage(void)
{
    fputs("bareloop send PCM HOST PORT    capture, encode, send\n"
          "bareloop recv PCM PORT         receive, decode, resample, play\n\n"
          "  --priority 1-99   run with SCHED_FIFO at this priority (default: 50; 0: ordinary priority)\n"
          "  --resampled       run the resampler at a ratio other than 1 : 1, as when two clocks differ\n"
          "  --direct          play without a resampler, as trx does\n",
          stderr);
    return 2;
}

int main(int count, char **arguments)
{
    static const struct option known[] = {{"priority", 1, 0, 'p'}, {"resampled", 0, 0, 's'}, {"direct", 0, 0, 'd'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    int option;
    while ((option = getopt_long(count, arguments, "h", known, NULL)) != -1)
        switch (option) {
        case 'p': options.priority = atoi(optarg); break;
        case 's': options.resampled = 1; break;
        case 'd': options.direct = 1; break;
        default: return usage();
        }
    arguments += optind;
    count -= optind;
    bool sends = count == 4 && !strcmp(arguments[0], "send"), plays = count == 3 && !strcmp(arguments[0], "recv");
    if (!sends && !plays)
        return usage();

    struct sigaction action = {.sa_handler = end};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sched_param priority = {options.priority};
    if (options.priority > 0 && sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
        fprintf(stderr, "bareloop: SCHED_FIFO %d was not granted\n", options.priority);
    if (sends)
        send_sound(arguments[1], arguments[2], atoi(arguments[3]));
    else
        play_sound(arguments[1], atoi(arguments[2]));
    return 0;
}
