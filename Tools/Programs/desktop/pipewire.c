/*
 * The meter for PipeWire: one node for each recorded sink and each fed microphone, which run in the same cycle as the device itself.
 * The server states the time of a cycle; nothing is buffered in between.
 */
#include "meter.h"

#include <pipewire/filter.h>
#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
    struct line *line;
    bool feeds;
    struct pw_filter *filter;
    void *port;
    bool real_time, placed;
    uint32_t clock;
    uint64_t position;
    int64_t frame; /* the frame of the next cycle */
    bool lost;
};

static struct node nodes[3 * PATHS_MAX];
static size_t node_count;
static struct pw_main_loop *loop;

static void add(struct line *line, bool feeds)
{
    nodes[node_count++] = (struct node){.line = line, .feeds = feeds};
}

static void listen_to(struct line *sink) { add(sink, false); }
static void feed_into(struct line *feed) { add(feed, true); }

/*
 * Returns the position of a cycle on the time line: directly after the previous cycle by the server's own count, as long as its clock
 * agrees within 2 ms. It does not after a change of the quantum, whose first cycle comes at any time, and after a stall of the whole
 * server.
 */
static int64_t place(struct node *node, const struct spa_io_clock *clock)
{
    int64_t skipped = (int64_t)(clock->position - node->position), by_clock = frame_of((int64_t)clock->nsec);
    node->frame += skipped;
    bool goes_on = node->placed && clock->id == node->clock && skipped >= 0;
    if (!goes_on || node->frame > by_clock + RATE / 500 || node->frame < by_clock - RATE / 500)
        node->frame = by_clock;
    node->placed = true;
    node->clock = clock->id;
    node->position = clock->position + clock->duration;
    return node->frame;
}

static void process(void *data, struct spa_io_position *position)
{
    struct node *node = data;
    static const float nothing[8192];
    if (!node->real_time) {
        become_real_time();
        node->real_time = true;
    }
    uint32_t count = (uint32_t)position->clock.duration;
    int64_t before = node->frame, frame = place(node, &position->clock);
    bool began = before != 0;
    node->frame = frame + count;
    float *sound = pw_filter_get_dsp_buffer(node->port, count);
    if (count > 8192)
        return;
    if (!node->feeds) {
        hear(node->line, frame, sound ? sound : nothing, count);
        return;
    }
    if (sound == NULL) {
        note_hole(node->line, frame, count);
        return;
    }
    if (began && frame != before)
        note_hole(node->line, frame < before ? frame : before, llabs(frame - before));
    signal_at(frame, sound, count);
}

static void state_changed(void *data, enum pw_filter_state old, enum pw_filter_state state, const char *error)
{
    struct node *node = data;
    (void)error;
    if (state == PW_FILTER_STATE_ERROR || (state == PW_FILTER_STATE_UNCONNECTED && old > PW_FILTER_STATE_CONNECTING))
        node->lost = true;
}

static const struct pw_filter_events events = {PW_VERSION_FILTER_EVENTS, .state_changed = state_changed, .process = process};

/* Links the ports. They appear a moment after their nodes, so a child process tries until they exist. */
static void link_ports(const struct node *node, const char *name)
{
    char command[600];
    if (node->feeds)
        snprintf(command, sizeof command, "pw-link %s:sound %s:input_MONO", name, node->line->node);
    else
        snprintf(command, sizeof command, "pw-link %s:monitor_FL %s:sound", node->line->node, name);
    char loop_of_them[800];
    snprintf(loop_of_them, sizeof loop_of_them, "for try in $(seq 100); do %s 2>/dev/null && exit; sleep 0.05; done", command);
    if (fork() == 0) {
        execl("/bin/sh", "sh", "-c", loop_of_them, (char *)NULL);
        _exit(127);
    }
}

static bool connect_node(struct node *node, size_t index)
{
    char name[64];
    snprintf(name, sizeof name, "desktop-meter-%d-%zu", (int)getpid(), index);
    /* The longest possible latency, so that the meter never shortens the server's quantum. It does not keep a device awake by
       itself. */
    node->filter = pw_filter_new_simple(
        pw_main_loop_get_loop(loop), name,
        pw_properties_new(PW_KEY_MEDIA_TYPE, "Audio", PW_KEY_MEDIA_CATEGORY, "Filter", PW_KEY_NODE_NAME, name,
                          PW_KEY_NODE_LATENCY, "8192/48000", PW_KEY_NODE_ALWAYS_PROCESS, "true", NULL),
        &events, node);
    if (node->filter == NULL)
        return false;
    node->port = pw_filter_add_port(
        node->filter, node->feeds ? PW_DIRECTION_OUTPUT : PW_DIRECTION_INPUT, PW_FILTER_PORT_FLAG_MAP_BUFFERS, 0,
        pw_properties_new(PW_KEY_FORMAT_DSP, "32 bit float mono audio", PW_KEY_PORT_NAME, "sound", NULL), NULL, 0);
    node->real_time = node->lost = node->placed = false;
    if (node->port == NULL || pw_filter_connect(node->filter, PW_FILTER_FLAG_RT_PROCESS, NULL, 0) < 0)
        return false;
    link_ports(node, name);
    return true;
}

static void disconnect_all(void)
{
    for (size_t i = 0; i < node_count; i++) {
        if (nodes[i].filter)
            pw_filter_destroy(nodes[i].filter);
        nodes[i].filter = NULL;
    }
}

static void run(void)
{
    signal(SIGCHLD, SIG_IGN);
    pw_init(NULL, NULL);
    loop = pw_main_loop_new(NULL);
    bool connected = false;
    while (!atomic_load(&ending)) {
        if (!connected) {
            connected = true;
            for (size_t i = 0; i < node_count && connected; i++)
                connected = connect_node(&nodes[i], i);
            if (!connected) {
                disconnect_all();
                usleep(50000);
                continue;
            }
        }
        pw_loop_enter(pw_main_loop_get_loop(loop));
        pw_loop_iterate(pw_main_loop_get_loop(loop), 20);
        pw_loop_leave(pw_main_loop_get_loop(loop));
        for (size_t i = 0; i < node_count; i++)
            if (nodes[i].lost)
                connected = false;
        if (!connected)
            disconnect_all();
    }
    disconnect_all();
    pw_main_loop_destroy(loop);
    pw_deinit();
}

const struct server pipewire_server = {listen_to, feed_into, run};
