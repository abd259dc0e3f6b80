#include <stddef.h>

#include <opus.h>

// Swift cannot call the variadic functions opus_encoder_ctl and opus_decoder_ctl, so there is a function for each
// request that tenfour makes.

static inline int tenfour_opus_set_bitrate(OpusEncoder *encoder, opus_int32 bits_per_second) {
    return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bits_per_second));
}

static inline int tenfour_opus_set_complexity(OpusEncoder *encoder, opus_int32 complexity) {
    return opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(complexity));
}

static inline int tenfour_opus_set_vbr(OpusEncoder *encoder, opus_int32 on) {
    return opus_encoder_ctl(encoder, OPUS_SET_VBR(on));
}

static inline int tenfour_opus_set_vbr_constraint(OpusEncoder *encoder, opus_int32 on) {
    return opus_encoder_ctl(encoder, OPUS_SET_VBR_CONSTRAINT(on));
}

static inline int tenfour_opus_set_inband_fec(OpusEncoder *encoder, opus_int32 on) {
    return opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(on));
}

static inline int tenfour_opus_set_packet_loss_perc(OpusEncoder *encoder, opus_int32 percent) {
    return opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(percent));
}

static inline int tenfour_opus_set_signal(OpusEncoder *encoder, opus_int32 signal) {
    return opus_encoder_ctl(encoder, OPUS_SET_SIGNAL(signal));
}

static inline int tenfour_opus_set_max_bandwidth(OpusEncoder *encoder, opus_int32 bandwidth) {
    return opus_encoder_ctl(encoder, OPUS_SET_MAX_BANDWIDTH(bandwidth));
}

static inline int tenfour_opus_set_dtx(OpusEncoder *encoder, opus_int32 on) {
    return opus_encoder_ctl(encoder, OPUS_SET_DTX(on));
}

static inline int tenfour_opus_get_lookahead(OpusEncoder *encoder, opus_int32 *frames) {
    return opus_encoder_ctl(encoder, OPUS_GET_LOOKAHEAD(frames));
}

static inline int tenfour_opus_set_decoder_complexity(OpusDecoder *decoder, opus_int32 complexity) {
    return opus_decoder_ctl(decoder, OPUS_SET_COMPLEXITY(complexity));
}

static inline int tenfour_opus_reset_decoder(OpusDecoder *decoder) {
    return opus_decoder_ctl(decoder, OPUS_RESET_STATE);
}

static inline int tenfour_opus_get_last_packet_duration(OpusDecoder *decoder, opus_int32 *frames) {
    return opus_decoder_ctl(decoder, OPUS_GET_LAST_PACKET_DURATION(frames));
}

// Finds the first Opus frame of a packet and the frame's length in bytes with opus_packet_parse. Returns the number of
// frames, or an error code below zero if the packet is malformed. It is written in C, because Swift has no array of 48
// pointers on the stack.
static inline int tenfour_opus_first_frame(
    const unsigned char *packet, opus_int32 byte_count, const unsigned char **frame, opus_int32 *frame_byte_count) {
    const unsigned char *frames[48];
    opus_int16 byte_counts[48];
    int count = opus_packet_parse(packet, byte_count, NULL, frames, byte_counts, NULL);
    *frame = count > 0 ? frames[0] : NULL;
    *frame_byte_count = count > 0 ? byte_counts[0] : 0;
    return count;
}
