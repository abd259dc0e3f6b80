// Changes rate and pitch independently: a time stretcher (waveform similarity; the position and length of each splice
// are chosen together) is followed by a pitch shifter (a windowed sinc). This module does not know sources, sinks,
// clocks or threads.
//
// Our own code is used instead of a library because of this comparison with the programs of Debian 12, on 30 s of
// speech of several people at 48 kHz. The first number is PESQ-WB after stretching and stretching back by the same
// program (more is better). The number in brackets is the mean log-spectral distance in dB from the original after
// stretching once (less is better).
//
//     rate            0.5            0.75           1.5            2
//     this module     3.03 (1.10)    3.91 (0.98)    2.21 (1.22)    1.84 (1.51)
//     scaletempo2     2.99 (1.33)    3.01 (1.17)    1.98 (1.40)    1.64 (2.05)      mpv 0.35
//     SoundTouch      2.38 (1.09)    3.19 (1.01)    2.29 (1.17)    1.65 (1.37)      2.3.2; 40, 15 and 8 ms, its settings for speech
//     SoundTouch      1.68 (1.29)    2.40 (0.95)    1.54 (1.14)    1.22 (1.37)      default settings
//     sonic           4.08 (1.54)    3.93 (1.14)    2.83 (1.50)    2.34 (1.88)      0.2.0; for a single voice: the worst on music
//     music: this module   (1.09)         (1.08)         (1.18)         (1.44)      chords, bass and drums; distance only
//     scaletempo2          (1.04)         (0.98)         (1.12)         (1.43)
//     SoundTouch           (1.36)         (1.03)         (1.00)         (1.27)      default settings
//     sonic                (1.82)         (1.31)         (1.75)         (2.10)
//
// In addition, SoundTouch allocates, returns no audio for the first 100 ms, then changes audio even at rate 1, and does
// not report its position in the input. The settings of this module were chosen on the same recordings: larger bounds
// (a deviation of 25 ms from the exact timing, and splices of up to 25 ms) reduce the distance on music by 0.1 dB, but
// also PESQ at rate 1.5 by 0.5, since speech then deviates further from its timing.
