import Foundation
import TestSupport
import Testing

/// The compiler checks the decoder that a jitter buffer calls on an audio thread.
@Suite(.onItsOwnThread) struct DecoderCheckTests {
    /// Compiles a decoder whose `decode` does `work`, and a marked function that pulls with it. Returns what the compiler says.
    private func compile(_ work: String) throws -> (end: Program.End, errors: String) {
        let folder = Folder()
        folder.write(
            """
            import TenfourAudioCore
            import TenfourJitterBuffer

            struct Decoder: AudioDecoder, ~Copyable {
                var decoded: [Float] = []

                mutating func decode(
                    _ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
                ) -> FrameCount? {
                    \(work)
                    return FrameCount(960)
                }

                mutating func recover(
                    _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket,
                    into samples: inout MutableSpan<Float>
                ) -> Bool { false }

                mutating func conceal(
                    _ frameCount: FrameCount, into samples: inout MutableSpan<Float>
                ) -> ConcealmentMethod? { .plain }

                mutating func reset() {}
            }

            @_noAllocation @_noLocks
            func pull(_ buffer: inout JitterBuffer, _ decoder: inout Decoder, _ output: inout MutableSpan<Float>) -> Bool {
                buffer.pull(into: &output, at: FrameCount(0), with: &decoder)
            }
            """, to: "Decoder.swift")
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let modules = URL(filePath: tests).deletingLastPathComponent().appending(path: "Modules").path
        let compiler = try Program(
            "swiftc",
            [
                "-swift-version", "6", "-parse-as-library", "-emit-sil", "-o", "/dev/null", "-I", modules, "-I",
                Repository.path("Sources/C/CSpeexDSP"), "Decoder.swift",
            ], in: folder)
        return (compiler.wait(.seconds(60)), compiler.errors)
    }

    @Test func aDecoderThatAllocatesDoesNotCompile() throws {
        let (end, errors) = try compile("decoded.append(Float(packet.count))")
        #expect(end == .code(1))
        #expect(errors.contains("decoded.append") && errors.contains("error:"), "\(errors)")
    }

    @Test func aDecoderThatDoesNotAllocateCompiles() throws {
        let (end, errors) = try compile("samples[0] = packet.isEmpty ? 0 : Float(packet[0])")
        #expect(end == .code(0), "\(errors)")
    }
}
