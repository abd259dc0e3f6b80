import Radio
import Sound
import SoundFile

/// What came back, for a file.
final class Heard {
    private var samples: [Float] = []

    func add(_ sound: Span<Float>) { for index in sound.indices { samples.append(sound[index]) } }

    func write(to path: String) throws(RadioError) {
        let samples = samples
        do throws(SoundFileError) {
            var file = try SoundFileWriter(path: path, format: .mono)
            try file.write(samples.span)
            try file.close()
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }
}
