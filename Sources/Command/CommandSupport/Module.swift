// What a command of ours does alike: lines on standard error, whole files in and out, options as people write them, exit codes.
// This room never knows what a command is for.
// QR codes of short texts, and how a terminal shows them.
// Never knows what a text means.
