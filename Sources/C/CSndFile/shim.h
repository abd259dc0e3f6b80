#include <sndfile.h>

#include "../COnDemand/on-demand.h"

#define TENFOUR_SNDFILE(F) \
    F(sf_close) \
    F(sf_error) \
    F(sf_open_fd) \
    F(sf_open_virtual) \
    F(sf_readf_float) \
    F(sf_seek) \
    F(sf_set_string) \
    F(sf_strerror) \
    F(sf_writef_int)

TENFOUR_ON_DEMAND(tenfour_sndfile, TENFOUR_SNDFILE)
