/* Writes recordings. */
#ifndef WAV_H
#define WAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes a WAV file, mono, 16 bits, 48 kHz. Returns false if that fails; errno has the reason. */
bool write_wav(const char *path, const int16_t *sound, size_t count);

#endif
