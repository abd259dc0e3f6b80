import Glibc

/// Of ten, by the C library: what ours is held against.
func logarithm(_ number: Double) -> Double { log10(number) }
