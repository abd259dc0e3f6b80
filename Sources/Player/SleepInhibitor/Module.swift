// Keeps the machine awake while audio is played, by login1 or by the desktop's screen saver, over D-Bus. This module does
// not know what is played.
