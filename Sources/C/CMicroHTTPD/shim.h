#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H

#include <microhttpd.h>

#include "../COnDemand/on-demand.h"

#define TENFOUR_MICROHTTPD(F) \
    F(MHD_add_connection) \
    F(MHD_add_response_header) \
    F(MHD_create_response_from_buffer) \
    F(MHD_create_response_from_callback) \
    F(MHD_destroy_response) \
    F(MHD_get_connection_info) \
    F(MHD_get_connection_values) \
    F(MHD_get_daemon_info) \
    F(MHD_get_timeout) \
    F(MHD_get_version) \
    F(MHD_queue_response) \
    F(MHD_resume_connection) \
    F(MHD_run) \
    F(MHD_set_response_options) \
    F(MHD_start_daemon) \
    F(MHD_stop_daemon) \
    F(MHD_suspend_connection)

TENFOUR_ON_DEMAND(tenfour_microhttpd, TENFOUR_MICROHTTPD)

/* The functions that libmicrohttpd calls; `owner` is the first argument of each. */
struct tenfour_microhttpd_callbacks {
    void *_Nonnull owner;
    MHD_AccessHandlerCallback _Nonnull request_ready;
    void *_Nullable (*_Nonnull target_read)(
        void *_Nullable owner, const char *_Nullable target, struct MHD_Connection *_Nullable connection);
    size_t (*_Nonnull unescape)(
        void *_Nullable owner, struct MHD_Connection *_Nullable connection, char *_Nullable text);
    MHD_RequestCompletedCallback _Nonnull request_completed;
    MHD_NotifyConnectionCallback _Nonnull connection_changed;
};

/* Swift cannot call variadic functions. Starts a daemon that has no listening socket and no thread, and whose epoll descriptor the caller
   watches. It has `memory` bytes for the header of each connection. */
static inline struct MHD_Daemon *_Nullable tenfour_microhttpd_start(
    struct tenfour_microhttpd library, struct tenfour_microhttpd_callbacks call, unsigned connections, size_t memory) {
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
    return library.MHD_start_daemon(
        flags, 0, NULL, NULL, call.request_ready, call.owner,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, call.target_read, call.owner,
        MHD_OPTION_UNESCAPE_CALLBACK, call.unescape, call.owner,
        MHD_OPTION_NOTIFY_COMPLETED, call.request_completed, call.owner,
        MHD_OPTION_NOTIFY_CONNECTION, call.connection_changed, call.owner,
        MHD_OPTION_END);
}

/* Returns -1 if the daemon has no epoll descriptor. */
static inline int tenfour_microhttpd_epoll(struct tenfour_microhttpd library, struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = library.MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/* Returns the value that the function for MHD_OPTION_NOTIFY_CONNECTION has stored. */
static inline void *tenfour_microhttpd_context(struct tenfour_microhttpd library, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = library.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Returns the length of the request's header, from the method to the empty line; 0 if it is not known. */
static inline size_t tenfour_microhttpd_header_size(struct tenfour_microhttpd library, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = library.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/* Makes the end of the connection the end of the body: no chunks, no further request. */
static inline enum MHD_Result tenfour_microhttpd_end_with_connection(struct tenfour_microhttpd library, struct MHD_Response *response) {
    return library.MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

#endif
