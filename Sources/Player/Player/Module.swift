// Plays the audio that a `MediaReader` reads. The worker thread parses and decodes, the audio thread plays, and a ring
// of blocks connects the two. `StreamStateMachine` decides which actions are taken but performs none. This module knows
// no network protocol, container or codec.
