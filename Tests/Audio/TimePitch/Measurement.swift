import Glibc

/// Returns the frequency of a sine close to `near`, in hertz, from the change of its phase between windows.
func frequency(of sound: ArraySlice<Float>, near: Double, rate: Double = 48_000) -> Double {
    let (window, step) = (2_048, 256)
    var found: [Double] = []
    var start = sound.startIndex
    while start + window + step <= sound.endIndex {
        let turn =
            phase(sound[start + step..<start + step + window], near, rate)
            - phase(sound[start..<start + window], near, rate)
        let expected = 2 * Double.pi * near * Double(step) / rate
        found.append(near + remainder(turn - expected, 2 * Double.pi) * rate / (2 * Double.pi * Double(step)))
        start += step
    }
    return found.reduce(0, +) / Double(max(found.count, 1))
}

private func phase(_ sound: ArraySlice<Float>, _ hertz: Double, _ rate: Double) -> Double {
    var (real, imaginary) = (0.0, 0.0)
    for (index, sample) in sound.enumerated() {
        let angle = 2 * Double.pi * hertz * Double(index) / rate
        let window = 0.5 - 0.5 * cos(2 * Double.pi * (Double(index) + 0.5) / Double(sound.count))
        real += Double(sample) * cos(angle) * window
        imaginary -= Double(sample) * sin(angle) * window
    }
    return atan2(imaginary, real)
}

/// Returns the slope of the least-squares line.
func slope(_ points: [(x: Double, y: Double)]) -> Double {
    let count = Double(points.count)
    let (x, y) = (points.reduce(0) { $0 + $1.x } / count, points.reduce(0) { $0 + $1.y } / count)
    let (product, square) = points.reduce((0, 0)) { ($0.0 + ($1.x - x) * ($1.y - y), $0.1 + ($1.x - x) * ($1.x - x)) }
    return product / square
}

func cents(_ one: Double, over other: Double) -> Double { 1_200 * log2(one / other) }

/// Returns the largest second difference. A click is much sharper than the audio around it.
func sharpness(_ sound: ArraySlice<Float>) -> Float {
    var most: Float = 0
    for index in sound.indices.dropFirst(2) {
        most = max(most, abs(sound[index] - 2 * sound[index - 1] + sound[index - 2]))
    }
    return most
}
