// The relays of a cluster act as one relay: this module makes and handles the sealed messages between them. It knows no
// NATS, socket or clock; messages and the time are arguments.
