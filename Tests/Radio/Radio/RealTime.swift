import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourRadio
import TestSupport
import Testing

/// Tests of sessions that run in real time, one at a time, since each needs the whole machine.
///
/// The trait repeats what a stall can break, and waits time out only if an event never happens.
@Suite(.serialized, .inRealTimeOnACard) enum RealTimeTests {}

/// Waits until `isSo` is true. Returns false after `seconds`, which are far more than a slow machine needs.
@discardableResult
func waiting(_ seconds: Double = 30, until isSo: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while !isSo() {
        guard ContinuousClock.now < end else { return false }
        usleep(10_000)
    }
    return true
}

extension Folder {
    /// Writes `samples` to a WAV file in this folder and returns its path.
    func sound(_ name: String, _ samples: [Float], in format: LPCMFormat = .mono) throws -> String {
        var writer = try AudioFileWriter(path: self(name), format: format)
        try writer.write(samples.span)
        try writer.close()
        return self(name)
    }

    /// Makes a named pipe. Both ends are opened here, so that neither side blocks in waiting for the other.
    func pipe(_ name: String) -> (path: String, descriptor: Int32) {
        unsafe precondition(mkfifo(self(name), 0o600) == 0)
        return (self(name), unsafe open(self(name), O_RDWR | O_CLOEXEC))
    }
}

/// Writes `sound` into a pipe as 16-bit samples.
func write(_ sound: [Float], to descriptor: Int32) {
    let bytes = sound.flatMap { sample in
        let number = Int16(sample * 32_767)
        return [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    }
    unsafe precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
}

extension RadioConfiguration {
    /// Returns the configuration of a session that sends `input` to a port of this machine.
    static func sending(_ input: Input, toPort port: UInt16) throws(RadioError) -> Self {
        var configuration = try sending(to: StreamAddress(host: "127.0.0.1", port: port))
        configuration.input = input
        return configuration
    }

    /// Returns the configuration of a session that receives on a port of this machine and records into `heard`.
    static func receiving(on port: UInt16, into heard: Heard) throws(RadioError) -> Self {
        var configuration = try receiving(on: StreamAddress(host: "127.0.0.1", port: port))
        configuration.recording = .closure(heard.take)
        return configuration
    }
}
