// Push to talk as a lease: the microphone is open only while somebody holds it, and closes when the last holder releases
// it or goes away. Holders are keys of the terminal, `tenfour ptt` over a Unix socket, signals, the voice itself (VOX), and
// devices: keys of input devices (evdev), GPIO lines (libgpiod) and buttons of HID headsets and foot switches (hidraw).
// Each device has a thread, which reports when a key goes down or up, and when the device goes or comes back. The
// module parses the devices' bytes itself, so that a pipe or a recording can take their place in tests. None of these
// devices has been tried on hardware yet. This module does not know cards, packets or sessions: it says when the microphone opens and closes.
