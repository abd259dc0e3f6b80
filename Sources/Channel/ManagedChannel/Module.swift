// Managed channels (Protocol/13-members.md and 14-group-secrets.md): identities, the roster that the owner signs, signed
// announcements, and the group secrets. This module knows no socket, clock, thread or file; clocks and random numbers are
// arguments.
