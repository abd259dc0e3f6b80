// Calls over a D-Bus message bus by sd-bus (libsystemd), each with a deadline. Opened on demand.
// This module does not know the services that it calls.
