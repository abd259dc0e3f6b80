internal import TenfourAudioCore
internal import TenfourAudioFile
public import TenfourRadio

/// Recorded speech, 48 kHz mono, for tools that need test audio.
public enum SpeechFile {
    /// The names of recorded words in the Debian package alsa-utils.
    private static let words = ["Front_Center", "Front_Left", "Front_Right", "Rear_Center", "Rear_Left", "Side_Right"]

    /// Returns the samples of the audio file at `path`; if `path` is nil, the recordings of alsa-utils one after
    /// another.
    public static func samples(_ path: String?) throws(RadioError) -> [Float] {
        if let path { return try read(path) }
        var samples: [Float] = []
        for word in words {
            do throws(RadioError) {
                samples += try read("/usr/share/sounds/alsa/\(word).wav")
            } catch {
                throw RadioError(
                    .unavailable,
                    "there is no speech in /usr/share/sounds/alsa: install alsa-utils, or name a file with --speech")
            }
        }
        return samples
    }

    private static func read(_ path: String) throws(RadioError) -> [Float] {
        do throws(AudioFileError) {
            var reader = try AudioFileReader(path: path)
            if reader.format == .mono { return try all(of: &reader) }
        } catch {
            throw RadioError(.unavailable, error.description)
        }
        throw RadioError(
            .unavailable, "\(path) is not mono at 48 kHz: convert it with `sox \(path) -r 48000 -c 1 speech.wav`")
    }

    private static func all(of reader: inout AudioFileReader) throws(AudioFileError) -> [Float] {
        var samples: [Float] = []
        var chunk = [Float](repeating: 0, count: 48_000)
        while true {
            var room = chunk.mutableSpan
            let count = try reader.read(into: &room).rawValue
            guard count > 0 else { return samples }
            samples += chunk[..<count]
        }
    }
}
