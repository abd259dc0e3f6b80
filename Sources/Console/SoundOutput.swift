public import Radio
internal import Sound
internal import SoundFile

extension Console {
    /// Writes a whole sound, 48 kHz mono, as a WAV. Throws `.unavailable` where that cannot be.
    public static func write(_ samples: [Float], asSoundTo path: String) throws(RadioError) {
        do throws(SoundFileError) {
            var file = try SoundFileWriter(path: path, format: .mono)
            try file.write(samples.span)
            try file.close()
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }
}
