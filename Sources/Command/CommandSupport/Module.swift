// Shared parts of all commands: messages, reading and writing whole files, quantities with units, QR codes, exit codes.
// This module does not know any particular command.
