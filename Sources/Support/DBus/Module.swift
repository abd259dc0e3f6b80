// Calls over a D-Bus message bus with sd-bus (libsystemd), each with a time limit, signals, and the calls of others that
// an object of ours answers. libsystemd is loaded with `dlopen` at the first use. This module does not know the services.
