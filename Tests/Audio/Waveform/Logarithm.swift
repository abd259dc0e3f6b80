import Glibc

/// The C library's log10, as the reference for our own.
func logarithm(_ number: Double) -> Double { log10(number) }
