import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourRadio
import TestSupport
import Testing

/// Sessions that really run. One at a time, since each wants the machine's attention.
///
/// No test here is lost by a slow machine: what a stall may break is tried again, and waits have an end only for what would never
/// come.
@Suite(.serialized, .inRealTimeOnACard) enum RealTimeTests {}

/// As the other, with the priority of a session's audio threads.
func retrying(
    _ attempts: Int = 3, sourceLocation: SourceLocation = #_sourceLocation, _ attempt: () throws -> String?
) throws {
    try retrying(attempts, priority: 50, sourceLocation: sourceLocation, attempt)
}

/// Waits until something is so. False when it has not come in `seconds`, which are many.
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
    /// A WAV file of `samples`.
    func sound(_ name: String, _ samples: [Float], in format: LPCMFormat = .mono) throws -> String {
        var writer = try AudioFileWriter(path: self(name), format: format)
        try writer.write(samples.span)
        try writer.close()
        return self(name)
    }

    /// A pipe with a name, and both its ends open here so that nobody waits for the other.
    func pipe(_ name: String) -> (path: String, descriptor: Int32) {
        unsafe precondition(mkfifo(self(name), 0o600) == 0)
        return (self(name), unsafe open(self(name), O_RDWR | O_CLOEXEC))
    }
}

/// 16-bit samples of `sound` into a pipe.
func write(_ sound: [Float], to descriptor: Int32) {
    let bytes = sound.flatMap { sample in
        let number = Int16(sample * 32_767)
        return [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    }
    unsafe precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
}

extension RadioConfiguration {
    /// Sends `input` to a port of this machine.
    static func sending(_ input: Input, toPort port: UInt16) throws(RadioError) -> Self {
        var configuration = try sending(to: StreamAddress(host: "127.0.0.1", port: port))
        configuration.input = input
        return configuration
    }

    /// Receives on a port of this machine into `heard`.
    static func receiving(on port: UInt16, into heard: Heard) throws(RadioError) -> Self {
        var configuration = try receiving(on: StreamAddress(host: "127.0.0.1", port: port))
        configuration.recording = .closure(heard.take)
        return configuration
    }
}
