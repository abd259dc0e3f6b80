#include <systemd/sd-bus.h>

#include "../COnDemand/on-demand.h"

#define TENFOUR_SDBUS(F) \
    F(sd_bus_call) \
    F(sd_bus_close_unref) \
    F(sd_bus_error_free) \
    F(sd_bus_get_events) \
    F(sd_bus_get_fd) \
    F(sd_bus_get_n_queued_write) \
    F(sd_bus_is_ready) \
    F(sd_bus_message_append_array) \
    F(sd_bus_message_append_basic) \
    F(sd_bus_message_close_container) \
    F(sd_bus_message_enter_container) \
    F(sd_bus_message_exit_container) \
    F(sd_bus_message_get_interface) \
    F(sd_bus_message_get_member) \
    F(sd_bus_message_get_path) \
    F(sd_bus_message_get_sender) \
    F(sd_bus_message_get_signature) \
    F(sd_bus_message_is_method_call) \
    F(sd_bus_message_is_signal) \
    F(sd_bus_message_new_method_call) \
    F(sd_bus_message_new_method_return) \
    F(sd_bus_message_new_signal) \
    F(sd_bus_message_open_container) \
    F(sd_bus_message_peek_type) \
    F(sd_bus_message_read_array) \
    F(sd_bus_message_read_basic) \
    F(sd_bus_message_unref) \
    F(sd_bus_new) \
    F(sd_bus_open_system) \
    F(sd_bus_process) \
    F(sd_bus_reply_method_error) \
    F(sd_bus_send) \
    F(sd_bus_set_address) \
    F(sd_bus_set_bus_client) \
    F(sd_bus_start) \
    F(sd_bus_wait)

TENFOUR_ON_DEMAND(tenfour_sdbus, TENFOUR_SDBUS)
