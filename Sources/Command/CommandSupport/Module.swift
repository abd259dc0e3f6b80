// Shared parts of all commands: messages, reading and writing whole files, quantities with units, exit codes.
// This module does not know any particular command.
