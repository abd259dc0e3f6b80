// Calls over a D-Bus message bus with sd-bus (libsystemd), each with a deadline. libsystemd is loaded with `dlopen` at
// the first use. This module does not know the services that it calls.
