import Foundation

/// An ALSA configuration for this test process, and the files that its PCMs write and read.
///
/// Inside `Tools/labcard run` it extends labcard's configuration, so that both are available.
enum PrivateALSA {
    /// The folder of the PCMs' files.
    static let directory: String = {
        let directory = NSTemporaryDirectory() + "tenfour-alsa-\(getpid())"
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: PrivateALSA.directory) }
        let base = ProcessInfo.processInfo.environment["ALSA_CONFIG_PATH"] ?? "/usr/share/alsa/alsa.conf"
        let configuration = """
            <\(base)>
            pcm.tape { type file slave.pcm null file "\(directory)/tape.raw" format raw }
            pcm.stereotape { type file slave.pcm null file "\(directory)/stereotape.raw" format raw }
            pcm.microphone {
                type file slave.pcm null file /dev/null infile "\(directory)/microphone.raw" format raw
                hint { show on description "A microphone that hears a file" }
            }
            pcm.earonly {
                type asym
                capture.pcm null
                hint { show on description "Hears only" device_input 0 }
            }
            """
        try? configuration.write(toFile: directory + "/asound.conf", atomically: true, encoding: .utf8)
        unsafe setenv("ALSA_CONFIG_PATH", directory + "/asound.conf", 1)
        return directory
    }()

    /// Returns the content of a file in `directory` as 16-bit samples.
    static func samples(in name: String) throws -> [Int16] {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)"))
        return stride(from: 0, to: data.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(data[$0]) | UInt16(data[$0 + 1]) << 8)
        }
    }

    static func write(_ samples: [Int16], to name: String) throws {
        let bytes = samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        try Data(bytes).write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
    }
}
