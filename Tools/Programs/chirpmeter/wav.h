/* Writing what was heard. */
#ifndef WAV_H
#define WAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes a WAV file, mono, 16 bits, 48 kHz. False where that fails: errno says why. */
bool write_wav(const char *path, const int16_t *sound, size_t count);

#endif
