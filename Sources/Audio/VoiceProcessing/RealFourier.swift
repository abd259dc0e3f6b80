internal import Glibc

/// The discrete Fourier transform of 1024 real numbers, and its inverse.
///
/// A spectrum is two arrays of 513 numbers: the real and the imaginary parts from 0 to half of the sample rate. The
/// transform packs the real numbers into 512 complex ones, and is a plain radix-2 transform of these. It works on bare
/// pointers, because a debug build takes a hundred times as long for spans.
@safe
struct RealFourier: ~Copyable, @unchecked Sendable {
    /// The number of real numbers.
    static var length: Int { 1_024 }
    /// The number of frequencies of a spectrum.
    static var binCount: Int { 513 }

    private static var half: Int { 512 }
    private let cosines: UnsafeMutablePointer<Float>
    private let sines: UnsafeMutablePointer<Float>
    /// The place of each complex number after the order of its bits is reversed.
    private let places: UnsafeMutablePointer<Int32>
    private let real: UnsafeMutablePointer<Float>
    private let imaginary: UnsafeMutablePointer<Float>

    init() {
        unsafe cosines = .allocate(capacity: Self.half)
        unsafe sines = .allocate(capacity: Self.half)
        unsafe places = .allocate(capacity: Self.half)
        unsafe real = .allocate(capacity: Self.half)
        unsafe imaginary = .allocate(capacity: Self.half)
        for index in 0..<Self.half {
            let angle = -2 * Double.pi * Double(index) / Double(Self.length)
            unsafe cosines[index] = Float(cos(angle))
            unsafe sines[index] = Float(sin(angle))
            var (place, rest) = (0, index)
            for _ in 0..<9 {
                place = place << 1 | rest & 1
                rest >>= 1
            }
            unsafe places[index] = Int32(place)
            unsafe real[index] = 0
            unsafe imaginary[index] = 0
        }
    }

    deinit {
        unsafe cosines.deallocate()
        unsafe sines.deallocate()
        unsafe places.deallocate()
        unsafe real.deallocate()
        unsafe imaginary.deallocate()
    }

    /// Writes the spectrum of the 1024 numbers at `samples`.
    func transform(
        _ samples: UnsafeMutablePointer<Float>, toReal re: UnsafeMutablePointer<Float>,
        imaginary im: UnsafeMutablePointer<Float>
    ) {
        var index = 0
        while index < Self.half {
            let place = unsafe Int(places[index])
            unsafe real[place] = samples[2 &* index]
            unsafe imaginary[place] = samples[2 &* index &+ 1]
            index &+= 1
        }
        combine()
        unsafe re[0] = real[0] + imaginary[0]
        unsafe im[0] = 0
        unsafe re[Self.half] = real[0] - imaginary[0]
        unsafe im[Self.half] = 0
        index = 1
        while index < Self.half {
            let mirror = Self.half &- index
            let evenReal = unsafe (real[index] + real[mirror]) * 0.5
            let evenImaginary = unsafe (imaginary[index] - imaginary[mirror]) * 0.5
            let oddReal = unsafe (imaginary[index] + imaginary[mirror]) * 0.5
            let oddImaginary = unsafe (real[mirror] - real[index]) * 0.5
            let (c, s) = unsafe (cosines[index], sines[index])
            unsafe re[index] = evenReal + c * oddReal - s * oddImaginary
            unsafe im[index] = evenImaginary + c * oddImaginary + s * oddReal
            index &+= 1
        }
    }

    /// Writes the 1024 numbers whose spectrum is given.
    func invert(
        real re: UnsafeMutablePointer<Float>, imaginary im: UnsafeMutablePointer<Float>,
        to samples: UnsafeMutablePointer<Float>
    ) {
        var index = 0
        while index < Self.half {
            let mirror = Self.half &- index
            let evenReal = unsafe re[index] + re[mirror]
            let evenImaginary = unsafe im[index] - im[mirror]
            let differenceReal = unsafe re[index] - re[mirror]
            let differenceImaginary = unsafe im[index] + im[mirror]
            let (c, s) = unsafe (cosines[index], -sines[index])
            let oddReal = c * differenceReal - s * differenceImaginary
            let oddImaginary = c * differenceImaginary + s * differenceReal
            let place = unsafe Int(places[index])
            // Conjugated: the forward transform of the conjugate is the conjugate of the inverse.
            unsafe real[place] = evenReal - oddImaginary
            unsafe imaginary[place] = -(evenImaginary + oddReal)
            index &+= 1
        }
        combine()
        let scale = 1 / Float(Self.length)
        index = 0
        while index < Self.half {
            unsafe samples[2 &* index] = real[index] * scale
            unsafe samples[2 &* index &+ 1] = -imaginary[index] * scale
            index &+= 1
        }
    }

    /// The butterflies of the complex transform, on numbers in bit-reversed order.
    private func combine() {
        var length = 2
        while length <= Self.half {
            let (middle, step) = (length >> 1, Self.length / length)
            var offset = 0
            while offset < middle {
                let (c, s) = unsafe (cosines[offset &* step], sines[offset &* step])
                var first = offset
                while first < Self.half {
                    let second = first &+ middle
                    let productReal = unsafe real[second] * c - imaginary[second] * s
                    let productImaginary = unsafe real[second] * s + imaginary[second] * c
                    unsafe real[second] = real[first] - productReal
                    unsafe imaginary[second] = imaginary[first] - productImaginary
                    unsafe real[first] = real[first] + productReal
                    unsafe imaginary[first] = imaginary[first] + productImaginary
                    first &+= length
                }
                offset &+= 1
            }
            length <<= 1
        }
    }
}
