// What was said on a channel, as packets: the last ten minutes in memory, and one Ogg Opus file for each transmission,
// with the log that reads the files back. Decodes nothing, opens no socket; packets and instants come from the caller.
