/* The minimum that a relay must do: barerelay PORT STREAMS LISTENERS SINKPORT [trailers]. Receives RTP, and sends each packet
 * to the LISTENERS of the stream that its SSRC names, by sendmmsg in batches of 64. No protocol, no members, no counts. With
 * `trailers`, each copy ends in the 12 bytes of Protocol/13-members.md, as a second piece of its message. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct { unsigned char key[16]; uint32_t counter; unsigned char bytes[12]; } *trailers;
static struct iovec (*pieces)[2];

static void write_trailers(struct mmsghdr *messages, int first, int count, struct iovec packet, unsigned char input[20]) {
    for (int i = first; i < first + count; i++) {
        uint32_t counter = htonl(trailers[i].counter++);
        memcpy(input + 16, &counter, 4);
        memcpy(trailers[i].bytes, &counter, 4);
        crypto_shorthash_siphash24(trailers[i].bytes + 4, input, 20, trailers[i].key);
        pieces[i - first][0] = packet;
        pieces[i - first][1] = (struct iovec){trailers[i].bytes, 12};
        messages[i].msg_hdr.msg_iov = pieces[i - first];
        messages[i].msg_hdr.msg_iovlen = 2;
    }
}

int main(int count, char **words) {
    if (count < 5) return 2;
    int streams = atoi(words[2]), listeners = atoi(words[3]);
    int socket_ = socket(AF_INET, SOCK_DGRAM, 0), size = 4 << 20, discover = IP_PMTUDISC_DO;
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(socket_, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(socket_, (struct sockaddr *)&own, sizeof own)) return perror("barerelay: bind"), 1;

    static unsigned char packet[1500];
    struct iovec vector = {packet, 0};
    struct mmsghdr *messages = calloc(streams * listeners, sizeof *messages);
    struct sockaddr_in *addresses = calloc(streams * listeners, sizeof *addresses);
    for (int i = 0; i < streams * listeners; i++) {
        addresses[i] = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons(atoi(words[4])), .sin_addr.s_addr = htonl(0x7F010000 + i)};
        messages[i].msg_hdr = (struct msghdr){.msg_name = &addresses[i], .msg_namelen = sizeof *addresses, .msg_iov = &vector, .msg_iovlen = 1};
    }
    if (count > 5) {
        if (sodium_init() < 0) return 1;
        trailers = calloc(streams * listeners, sizeof *trailers);
        pieces = calloc(64, sizeof *pieces);
        for (int i = 0; i < streams * listeners; i++) randombytes_buf(trailers[i].key, sizeof trailers[i].key);
    }
    fprintf(stderr, "ready\n");
    for (;;) {
        ssize_t length = recv(socket_, packet, sizeof packet, 0);
        if (length < 12) continue;
        uint32_t stream = (uint32_t)packet[8] << 24 | packet[9] << 16 | packet[10] << 8 | packet[11];
        if (stream >= (uint32_t)streams) continue;
        vector.iov_len = length;
        struct mmsghdr *first = messages + stream * listeners;
        unsigned char input[20];
        if (trailers) crypto_generichash(input, 16, packet, length, NULL, 0);
        for (int sent = 0; sent < listeners;) {
            int batch = listeners - sent < 64 ? listeners - sent : 64;
            if (trailers) write_trailers(messages, stream * listeners + sent, batch, vector, input);
            int done = sendmmsg(socket_, first + sent, batch, 0);
            sent += done > 0 ? done : 1;
        }
    }
}
