// Messages through NATS by libnats, which is opened on demand: a connection that comes back by itself, on threads of its
// own. This module does not know what the messages mean.
