// Shared parts of all commands: messages, whole files, quantities as people write them, QR codes, exit codes. This
// module does not know what a command does.
