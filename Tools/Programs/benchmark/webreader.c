/* Listeners of a live stream: webreader PORT PATH COUNT. Connects COUNT times to http://127.0.0.1:PORT/PATH and prints "joined" once all have
 * bytes. Reads until a line comes on standard input, forgets what it has counted, and reads until the next line. Then it prints JSON: how many are
 * still connected, and the bytes that the poorest and all have read in between. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int compare(const void *a, const void *b) {
    long left = *(const long *)a, right = *(const long *)b;
    return left < right ? -1 : left > right;
}

int main(int words, char **word) {
    if (words < 4) return 2;
    int count = atoi(word[3]), all = epoll_create1(0), open_ = 0, started = 0;
    struct rlimit limit = {count + 64, count + 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(atoi(word[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char request[256];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", word[2]);
    long *bytes = calloc(count + 1, sizeof *bytes), *reads = calloc(count + 1, sizeof *reads);
    char *heard = calloc(count + 1, 1);
    int isOrdered = 0, isCounting = 0;
    struct epoll_event order = {.events = EPOLLIN, .data.u64 = ~0ul};
    epoll_ctl(all, EPOLL_CTL_ADD, 0, &order);
    for (int next = 0;;) {
        /* A few at a time, so that no backlog overflows. */
        if (next < count) {
            int client = socket(AF_INET, SOCK_STREAM, 0);
            struct epoll_event event = {.events = EPOLLIN, .data.u64 = (unsigned long)next << 32 | client};
            if (connect(client, (struct sockaddr *)&server, sizeof server)) return perror("webreader: connect"), 1;
            if (send(client, request, length, 0) != length) return perror("webreader: send"), 1;
            epoll_ctl(all, EPOLL_CTL_ADD, client, &event);
            next++, open_++;
        }
        struct epoll_event events[256];
        int ready = epoll_wait(all, events, 256, next < count ? 1 : 100);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.u64 == ~0ul) {
                isOrdered = 1;
                continue;
            }
            static char room[65536];
            int number = events[i].data.u64 >> 32, client = (int)events[i].data.u64;
            ssize_t got = recv(client, room, sizeof room, MSG_DONTWAIT);
            if (got > 0) {
                if (!heard[number] && ++started == count) printf("joined\n"), fflush(stdout);
                heard[number] = 1;
                bytes[number] += got, reads[number]++;
            } else if (got == 0 || errno != EAGAIN) close(client), open_--;
        }
        if (count && !open_ && next == count) break;
        if (isOrdered) {
            isOrdered = 0;
            char line[16];
            if (read(0, line, sizeof line) <= 0 || isCounting) break;
            isCounting = 1;
            memset(bytes, 0, count * sizeof *bytes), memset(reads, 0, count * sizeof *reads);
        }
    }
    long sum = 0, turns = 0;
    for (int i = 0; i < count; i++) sum += bytes[i], turns += reads[i];
    qsort(bytes, count, sizeof *bytes, compare);
    printf("{\"open\": %d, \"least\": %ld, \"median\": %ld, \"bytes\": %ld, \"reads\": %ld}\n", open_, bytes[0], bytes[count / 2], sum, turns);
}
