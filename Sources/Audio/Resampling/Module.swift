// Sample rate conversion with speexdsp's resampler, by a ratio that can be corrected while audio flows. This module
// does not decide on corrections: its caller measures the drift.
