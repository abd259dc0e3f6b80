import TenfourAudioCore
import TenfourCommandSupport
import TenfourRadio

/// Collects the returned audio for a file.
final class Heard {
    private var samples: [Float] = []

    func add(_ sound: Span<Float>) { for index in sound.indices { samples.append(sound[index]) } }

    func write(to path: String) throws(RadioError) { try Console.write(samples, asSoundTo: path) }
}
