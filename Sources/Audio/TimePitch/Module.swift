// Rate and pitch, apart from each other: a stretcher (waveform similarity, place and length of each splice chosen
// together) before a pitch shifter (a windowed sinc). This module does not know where audio comes from or goes to, and
// no clocks or threads.
//
// Why it is our own code: on 30 s of speech of several people, 48 kHz, stretched and stretched back by the same
// program, PESQ-WB; in brackets the mean log-spectral distance in dB from what was there, one way (less is better).
// With the programs of Debian 12:
//
//     rate            0.5            0.75           1.5            2
//     this            3.03 (1.10)    3.91 (0.98)    2.21 (1.22)    1.84 (1.51)
//     scaletempo2     2.99 (1.33)    3.01 (1.17)    1.98 (1.40)    1.64 (2.05)      mpv 0.35
//     SoundTouch      2.38 (1.09)    3.19 (1.01)    2.29 (1.17)    1.65 (1.37)      2.3.2; 40, 15 and 8 ms, as for speech
//     SoundTouch      1.68 (1.29)    2.40 (0.95)    1.54 (1.14)    1.22 (1.37)      as it comes
//     sonic           4.08 (1.54)    3.93 (1.14)    2.83 (1.50)    2.34 (1.88)      0.2.0; one voice only: on music it is the worst
//     music, this          (1.09)         (1.08)         (1.18)         (1.44)      chords, bass and drums, distance only
//     scaletempo2          (1.04)         (0.98)         (1.12)         (1.43)
//     SoundTouch           (1.36)         (1.03)         (1.00)         (1.27)      as it comes
//     sonic                (1.82)         (1.31)         (1.75)         (2.10)
//
// SoundTouch, besides, allocates, gives nothing for 100 ms and then changes it even at rate 1, and does not say where
// it comes from. Settings here were chosen on the same sound: more slack (25 ms, and splices of up to 25 ms) takes 0.1
// dB from the distance on music and 0.5 from PESQ at 1.5, since speech wanders further from its place.
