internal import TenfourAudioCore
internal import TenfourAudioFile
public import TenfourRadio

extension Console {
    /// Writes a whole sound, 48 kHz mono, as a WAV. Throws `.unavailable` where that cannot be.
    public static func write(_ samples: [Float], asSoundTo path: String) throws(RadioError) {
        do throws(AudioFileError) {
            var file = try AudioFileWriter(path: path, format: .mono)
            try file.write(samples.span)
            try file.close()
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }
}
