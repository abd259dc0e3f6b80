// Lets the desktop's media keys, panels and `playerctl` control a player, by MPRIS 2 on the session bus. Decides what
// calls mean and which signals are due; one thread exchanges messages. This module opens no audio and no files.
