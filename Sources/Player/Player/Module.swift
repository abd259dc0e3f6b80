// Plays what `MediaReader` reads. One thread parses and decodes, the audio thread plays, a ring of blocks connects
// them; `StreamStateMachine` decides and performs nothing itself. This module knows no network protocol, container or
// codec.
