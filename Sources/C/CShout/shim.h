#ifndef CSHOUT_SHIM_H
#define CSHOUT_SHIM_H

#include <shout/shout.h>

#include "../COnDemand/on-demand.h"

#define TENFOUR_SHOUT(F) \
    F(shout_close) \
    F(shout_free) \
    F(shout_get_connected) \
    F(shout_init) \
    F(shout_new) \
    F(shout_open) \
    F(shout_queuelen) \
    F(shout_send_raw) \
    F(shout_set_agent) \
    F(shout_set_content_format) \
    F(shout_set_host) \
    F(shout_set_meta) \
    F(shout_set_mount) \
    F(shout_set_nonblocking) \
    F(shout_set_password) \
    F(shout_set_port) \
    F(shout_set_public) \
    F(shout_set_tls) \
    F(shout_set_user)

TENFOUR_ON_DEMAND(tenfour_shout, TENFOUR_SHOUT)

#endif
