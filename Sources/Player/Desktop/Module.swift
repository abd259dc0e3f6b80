// A player on the desktop: media keys, panels and `playerctl` control it, by MPRIS 2 on the session bus, and the machine stays
// awake while audio is played, by login1 or by the screen saver. The module decides what D-Bus calls mean and which
// signals are due; its threads exchange the messages. This module opens no audio and no files.
