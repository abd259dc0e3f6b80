// The direct way between members of a managed channel (Protocol/15-direct.md): candidates, probes, and for each pair of
// members the decision between the relay and an address that has proved itself, as in ICE (RFC 8445) with consent (RFC 7675).
// This module knows no socket and no clock; the time and random numbers are arguments. It sends to no address more than the
// bounds allow, whatever other members say.
