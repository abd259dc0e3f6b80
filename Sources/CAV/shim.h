#include <errno.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

// Swift cannot see macros that call macros or cast: the values of those that are needed.
static inline int tenfour_av_eof(void) { return AVERROR_EOF; }
static inline int tenfour_av_exit(void) { return AVERROR_EXIT; }
static inline int tenfour_av_again(void) { return AVERROR(EAGAIN); }
static inline int tenfour_av_not_permitted(void) { return AVERROR(EPERM); }
static inline int tenfour_av_not_supported(void) { return AVERROR(ENOSYS); }
static inline int tenfour_av_no_memory(void) { return AVERROR(ENOMEM); }
static inline int64_t tenfour_av_no_timestamp(void) { return AV_NOPTS_VALUE; }

// Sets up a converter of what `frame` holds to interleaved floats. swr_alloc_set_opts2 takes layouts with a union in them.
// What names no order of channels gets the default one; one channel goes to each of many as it is, and many are mixed to fewer
// without passing full scale, both of which swresample does otherwise for floats.
static inline int tenfour_swr_open(SwrContext **converter, const AVFrame *frame, int rate, int channel_count) {
    AVChannelLayout input = {0}, output = {0};
    double ones[64];
    int result = 0;
    if (frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&input, frame->ch_layout.nb_channels);
    else
        result = av_channel_layout_copy(&input, &frame->ch_layout);
    av_channel_layout_default(&output, channel_count);
    if (result >= 0)
        result = swr_alloc_set_opts2(
            converter, &output, AV_SAMPLE_FMT_FLT, rate, &input, (enum AVSampleFormat)frame->format, frame->sample_rate, 0,
            NULL);
    if (result >= 0) av_opt_set_double(*converter, "rematrix_maxval", 1.0, 0);
    if (result >= 0 && input.nb_channels == 1 && channel_count <= 64) {
        for (int index = 0; index < 64; index++) ones[index] = 1.0;
        result = swr_set_matrix(*converter, ones, 1);
    }
    if (result >= 0) result = swr_init(*converter);
    av_channel_layout_uninit(&input);
    av_channel_layout_uninit(&output);
    return result;
}

// Converts frames from the `skipped`th of `frame` on: the planes begin so much further. Returns how many frames came out.
static inline int tenfour_swr_convert(
    SwrContext *converter, const AVFrame *frame, int skipped, int count, float *output, int room) {
    const uint8_t *planes[64] = {0};
    int channels = frame->ch_layout.nb_channels, size = av_get_bytes_per_sample((enum AVSampleFormat)frame->format);
    int planar = av_sample_fmt_is_planar((enum AVSampleFormat)frame->format);
    uint8_t *out = (uint8_t *)output;
    if (planar && channels > 64) return AVERROR(ENOSYS);
    for (int index = 0; index < (planar ? channels : 1); index++)
        planes[index] = frame->extended_data[index] + (size_t)skipped * size * (planar ? 1 : channels);
    return swr_convert(converter, &out, room, planes, count);
}

// What the converter still holds at the end.
static inline int tenfour_swr_drain(SwrContext *converter, float *output, int room) {
    uint8_t *out = (uint8_t *)output;
    return swr_convert(converter, &out, room, NULL, 0);
}
