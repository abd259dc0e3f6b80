internal import TenfourAudioCore
internal import TenfourAudioFile
public import TenfourRadio

extension Console {
    /// Writes samples, 48 kHz mono, to a WAV file. Throws `.unavailable` if the file cannot be written.
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
