#include "wav.h"

#include <stdio.h>

enum { RATE = 48000 };

bool write_wav(const char *path, const int16_t *sound, size_t count)
{
    uint32_t bytes = (uint32_t)(count * 2);
    struct __attribute__((packed)) {
        char riff[4];
        uint32_t size;
        char wave[8];
        uint32_t format_size;
        uint16_t tag, channels;
        uint32_t rate, byte_rate;
        uint16_t align, bits;
        char data[4];
        uint32_t data_size;
    } header = {{'R', 'I', 'F', 'F'}, bytes + 36, {'W', 'A', 'V', 'E', 'f', 'm', 't', ' '}, 16, 1, 1, RATE, RATE * 2, 2, 16,
                {'d', 'a', 't', 'a'}, bytes};
    FILE *file = fopen(path, "wb");
    return file != NULL && fwrite(&header, sizeof header, 1, file) == 1 && fwrite(sound, 2, count, file) == count &&
           fclose(file) == 0;
}
