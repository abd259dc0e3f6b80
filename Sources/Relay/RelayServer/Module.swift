// A relay at work: sockets, fan-out, workers, signals and status around the one that decides.
// Makes no decision of the protocol's.
