#include <errno.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

#include "../COnDemand/on-demand.h"

// Functions of libavformat, and of libavcodec, libswresample and libavutil, on which it depends.
#define TENFOUR_AV(F) \
    F(av_add_index_entry) \
    F(av_aes_alloc) \
    F(av_aes_crypt) \
    F(av_aes_init) \
    F(av_channel_layout_copy) \
    F(av_channel_layout_default) \
    F(av_channel_layout_uninit) \
    F(av_dict_free) \
    F(av_dict_get) \
    F(av_dict_set) \
    F(av_find_input_format) \
    F(av_frame_alloc) \
    F(av_frame_free) \
    F(av_free) \
    F(av_get_bytes_per_sample) \
    F(av_log_set_level) \
    F(av_malloc) \
    F(av_max_alloc) \
    F(av_new_packet) \
    F(av_opt_set_double) \
    F(av_packet_alloc) \
    F(av_packet_free) \
    F(av_packet_get_side_data) \
    F(av_packet_unref) \
    F(av_probe_input_format3) \
    F(av_read_frame) \
    F(av_rescale_q) \
    F(av_sample_fmt_is_planar) \
    F(av_seek_frame) \
    F(av_strdup) \
    F(av_strerror) \
    F(avcodec_alloc_context3) \
    F(avcodec_find_decoder) \
    F(avcodec_find_decoder_by_name) \
    F(avcodec_flush_buffers) \
    F(avcodec_free_context) \
    F(avcodec_get_name) \
    F(avcodec_open2) \
    F(avcodec_parameters_alloc) \
    F(avcodec_parameters_copy) \
    F(avcodec_parameters_free) \
    F(avcodec_parameters_to_context) \
    F(avcodec_receive_frame) \
    F(avcodec_send_packet) \
    F(avformat_alloc_context) \
    F(avformat_close_input) \
    F(avformat_find_stream_info) \
    F(avformat_index_get_entries_count) \
    F(avformat_index_get_entry) \
    F(avformat_index_get_entry_from_timestamp) \
    F(avformat_open_input) \
    F(avio_alloc_context) \
    F(avio_context_free) \
    F(avio_feof) \
    F(avio_r8) \
    F(avio_seek) \
    F(swr_alloc_set_opts2) \
    F(swr_convert) \
    F(swr_free) \
    F(swr_get_out_samples) \
    F(swr_init) \
    F(swr_set_matrix)

TENFOUR_ON_DEMAND(tenfour_av, TENFOUR_AV)

// These functions return the values of macros that Swift cannot import, because the macros call other macros or cast.
static inline int tenfour_av_eof(void) { return AVERROR_EOF; }
static inline int tenfour_av_exit(void) { return AVERROR_EXIT; }
static inline int tenfour_av_again(void) { return AVERROR(EAGAIN); }
static inline int tenfour_av_not_permitted(void) { return AVERROR(EPERM); }
static inline int tenfour_av_not_supported(void) { return AVERROR(ENOSYS); }
static inline int tenfour_av_no_memory(void) { return AVERROR(ENOMEM); }
static inline int64_t tenfour_av_no_timestamp(void) { return AV_NOPTS_VALUE; }

// Creates a converter from the format of `frame` to interleaved floats. It is written in C, because swr_alloc_set_opts2
// takes layouts that contain a union. An unspecified channel order becomes the default one, but three channels become
// left, right and centre, since low frequencies would be left out. If the numbers of channels are equal, each channel is
// kept, whatever its place in the layout. Mono is copied to all channels unchanged, and a downmix never exceeds full
// scale; by default, swresample does neither for floats.
static inline int tenfour_swr_open(
    struct tenfour_av av, SwrContext **converter, const AVFrame *frame, int rate, int channel_count) {
    AVChannelLayout input = {0}, output = {0}, three = AV_CHANNEL_LAYOUT_SURROUND;
    double ones[64];
    int result = 0;
    if (frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC && frame->ch_layout.nb_channels == 3)
        result = av.av_channel_layout_copy(&input, &three);
    else if (frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av.av_channel_layout_default(&input, frame->ch_layout.nb_channels);
    else
        result = av.av_channel_layout_copy(&input, &frame->ch_layout);
    if (result >= 0 && input.nb_channels == channel_count)
        result = av.av_channel_layout_copy(&output, &input);
    else
        av.av_channel_layout_default(&output, channel_count);
    if (result >= 0)
        result = av.swr_alloc_set_opts2(
            converter, &output, AV_SAMPLE_FMT_FLT, rate, &input, (enum AVSampleFormat)frame->format, frame->sample_rate, 0,
            NULL);
    if (result >= 0) av.av_opt_set_double(*converter, "rematrix_maxval", 1.0, 0);
    if (result >= 0 && input.nb_channels == 1 && channel_count <= 64) {
        for (int index = 0; index < 64; index++) ones[index] = 1.0;
        result = av.swr_set_matrix(*converter, ones, 1);
    }
    if (result >= 0) result = av.swr_init(*converter);
    av.av_channel_layout_uninit(&input);
    av.av_channel_layout_uninit(&output);
    return result;
}

// Converts `frame` without its first `skipped` frames, by advancing the plane pointers. Returns the number of output
// frames.
static inline int tenfour_swr_convert(
    struct tenfour_av av, SwrContext *converter, const AVFrame *frame, int skipped, int count, float *output, int room) {
    const uint8_t *planes[64] = {0};
    int channels = frame->ch_layout.nb_channels, size = av.av_get_bytes_per_sample((enum AVSampleFormat)frame->format);
    int planar = av.av_sample_fmt_is_planar((enum AVSampleFormat)frame->format);
    uint8_t *out = (uint8_t *)output;
    if (planar && channels > 64) return AVERROR(ENOSYS);
    for (int index = 0; index < (planar ? channels : 1); index++)
        planes[index] = frame->extended_data[index] + (size_t)skipped * size * (planar ? 1 : channels);
    return av.swr_convert(converter, &out, room, planes, count);
}

// Returns the frames that the converter still holds at the end.
static inline int tenfour_swr_drain(struct tenfour_av av, SwrContext *converter, float *output, int room) {
    uint8_t *out = (uint8_t *)output;
    return av.swr_convert(converter, &out, room, NULL, 0);
}
