// Runs a relay: sockets, fan-out to listeners, worker threads, configuration and status around `Relay`, which makes all protocol
// decisions.
