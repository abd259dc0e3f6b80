/* Counts the packets that a relay sends to its listeners: relaysink PORT STREAMS LISTENERS PACKETS [SECONDS].
 *
 * One socket stands for all listeners: number n of stream s is 127.1.h.l, where h·256 + l = s · LISTENERS + n. Packets are RTP with
 * the stream in the SSRC, and the sending time after the header (nanoseconds, CLOCK_REALTIME). The delay is measured to the kernel's
 * receive timestamp. Ends when all packets have arrived, or when none has for a second after SIGINT or SECONDS. Prints one line of
 * JSON. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { batch = 256, room = 256, bins = 1 << 20 };

static volatile sig_atomic_t ends;
static void end(int number) { (void)number, ends = 1; }

static int64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static uint32_t number(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/* Counts of delays in microseconds; the last bin holds all longer ones. */
static uint32_t histogram[bins];
static int64_t delays;

static int quantile(double share) {
    int64_t rank = (int64_t)(share * (delays - 1)), seen = 0;
    for (int bin = 0; bin < bins; bin++)
        if ((seen += histogram[bin]) > rank) return bin;
    return 0;
}

int main(int count, char **words) {
    if (count < 5) return 2;
    int port = atoi(words[1]), streams = atoi(words[2]), listeners = atoi(words[3]), packets = atoi(words[4]);
    double seconds = count > 5 ? atof(words[5]) : 1e9;
    int all = streams * listeners;
    int socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), on = 1, size = 64 << 20;
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(socket_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    setsockopt(socket_, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    if (setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size)) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (bind(socket_, (struct sockaddr *)&own, sizeof own)) return perror("relaysink: bind"), 1;

    static unsigned char bytes[batch][room];
    static char controls[batch][128];
    static struct iovec vectors[batch];
    static struct mmsghdr messages[batch];
    for (int i = 0; i < batch; i++) {
        vectors[i] = (struct iovec){bytes[i], room};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1, .msg_control = controls[i]};
    }
    /* For each listener, the highest number so far and, for each packet, whether it has arrived. */
    int32_t *highest = malloc(all * sizeof *highest);
    for (int i = 0; i < all; i++) highest[i] = -1;
    unsigned char *came = calloc((size_t)all, packets);
    int64_t received = 0, announcements = 0, doubled = 0, reordered = 0, strange = 0, longest = 0;
    signal(SIGINT, end), signal(SIGTERM, end);
    fprintf(stderr, "ready\n");
    int64_t start = now(CLOCK_MONOTONIC), last = start;

    for (;;) {
        struct pollfd ready = {socket_, POLLIN, 0};
        poll(&ready, 1, 100);
        for (;;) {
            for (int i = 0; i < batch; i++) messages[i].msg_hdr.msg_controllen = sizeof controls[i];
            int got = recvmmsg(socket_, messages, batch, MSG_DONTWAIT, NULL);
            if (got <= 0) break;
            last = now(CLOCK_MONOTONIC);
            for (int i = 0; i < got; i++) {
                const unsigned char *packet = bytes[i];
                if (packet[0] == 'c') { /* announcements, which every listener also receives, and the relay's messages to members */
                    announcements += packet[2] == 8;
                    continue;
                }
                if (messages[i].msg_len < 24) continue;
                int64_t arrived = 0;
                uint32_t address = 0;
                for (struct cmsghdr *part = CMSG_FIRSTHDR(&messages[i].msg_hdr); part; part = CMSG_NXTHDR(&messages[i].msg_hdr, part)) {
                    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS) {
                        struct timespec time;
                        memcpy(&time, CMSG_DATA(part), sizeof time);
                        arrived = time.tv_sec * 1000000000LL + time.tv_nsec;
                    } else if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
                        struct in_pktinfo info;
                        memcpy(&info, CMSG_DATA(part), sizeof info);
                        address = ntohl(info.ipi_addr.s_addr);
                    }
                }
                int listener = address & 0xFFFF;
                uint32_t stream = number(packet + 8);
                int sequence = packet[2] << 8 | packet[3];
                if (address >> 16 != (127 << 8 | 1) || listener >= all || stream != (uint32_t)(listener / listeners) || sequence >= packets) {
                    strange++;
                    continue;
                }
                unsigned char *place = came + (size_t)listener * packets + sequence;
                if (*place) {
                    doubled++;
                    continue;
                }
                *place = 1;
                received++;
                if (sequence < highest[listener]) reordered++; else highest[listener] = sequence;
                int64_t delay = arrived - ((int64_t)number(packet + 12) << 32 | number(packet + 16));
                if (sequence * 10 < packets) continue; /* skipped while caches warm up */
                if (delay > longest) longest = delay;
                int64_t bin = delay < 0 ? 0 : delay / 1000;
                histogram[bin < bins ? bin : bins - 1]++;
                delays++;
            }
        }
        int64_t moment = now(CLOCK_MONOTONIC);
        if (received == (int64_t)all * packets) ends = 1;
        if (moment - start > seconds * 1e9) ends = 1;
        if (ends && moment - last > 1000000000LL) break;
    }
    printf("{\"expected\": %lld, \"received\": %lld, \"announcements\": %lld, \"doubled\": %lld, \"reordered\": %lld, \"strange\": %lld, \"p50\": %d, \"p99\": %d, "
           "\"p999\": %d, \"max\": %lld}\n",
        (long long)all * packets, (long long)received, (long long)announcements, (long long)doubled, (long long)reordered, (long long)strange, quantile(.5), quantile(.99),
        quantile(.999), (long long)longest / 1000);
    return 0;
}
