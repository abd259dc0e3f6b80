// This module runs a relay: sockets, fan-out to listeners, worker threads, configuration and status. `Relay` makes all
// protocol decisions.
