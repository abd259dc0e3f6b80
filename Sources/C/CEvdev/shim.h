#ifndef CEVDEV_SHIM_H
#define CEVDEV_SHIM_H

#include <libevdev-1.0/libevdev/libevdev.h>
#include <linux/input.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <time.h>

#include "../COnDemand/on-demand.h"

#define TENFOUR_EVDEV(F) \
    F(libevdev_event_code_from_name) \
    F(libevdev_event_code_get_name) \
    F(libevdev_free) \
    F(libevdev_get_name) \
    F(libevdev_has_event_code) \
    F(libevdev_new_from_fd)

TENFOUR_ON_DEMAND(tenfour_evdev, TENFOUR_EVDEV)

/* ioctl is variadic, which Swift cannot call. Each returns -1 and sets errno if the file is no input device. */

/* Makes the kernel stamp the events of this file by CLOCK_MONOTONIC. */
static inline int cevdev_use_monotonic_clock(int descriptor) {
    int clock = CLOCK_MONOTONIC;
    return ioctl(descriptor, EVIOCSCLOCKID, &clock);
}

/* Makes the kernel deliver the events of one key, at most KEY_MAX, and no others through this file. */
static inline int cevdev_receive_only(int descriptor, unsigned int key) {
    unsigned char types[EV_CNT / 8] = {0};
    unsigned char keys[KEY_CNT / 8] = {0};
    types[EV_KEY / 8] = 1 << (EV_KEY % 8);
    keys[key / 8] = (unsigned char)(1 << (key % 8));
    /* The mask of EV_SYN is that of the types. */
    struct input_mask type_mask = {.type = EV_SYN, .codes_size = sizeof types, .codes_ptr = (uintptr_t)types};
    struct input_mask key_mask = {.type = EV_KEY, .codes_size = sizeof keys, .codes_ptr = (uintptr_t)keys};
    int code = ioctl(descriptor, EVIOCSMASK, &type_mask);
    return code ? code : ioctl(descriptor, EVIOCSMASK, &key_mask);
}

/* Takes the device's events away from all other programs, until the file is closed. */
static inline int cevdev_grab(int descriptor) { return ioctl(descriptor, EVIOCGRAB, (void *)1); }

/* Writes one bit for each key, 1 if it is down. */
static inline int cevdev_read_keys(int descriptor, unsigned char *bits, unsigned int byte_count) {
    return ioctl(descriptor, EVIOCGKEY(byte_count), bits);
}

#endif
