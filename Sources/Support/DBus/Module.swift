// Calls over a D-Bus message bus with sd-bus (libsystemd), each with a time limit, and signals. libsystemd is loaded
// with `dlopen` at the first use. This module does not know the services that it calls.
