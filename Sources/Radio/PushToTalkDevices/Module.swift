// Devices with which a person holds a key to talk: keys of input devices (evdev), GPIO lines (libgpiod) and buttons of
// HID headsets and foot switches (hidraw). Each source has a thread, which reports when a key goes down or up, and when
// a device goes or comes back. What arrives from a device is parsed here, so that a pipe or a recording can take its
// place in tests. No part of this module was tried on hardware yet. It does not know what a held key opens.
