#if FFmpeg
    import Glibc
    import TenfourSystem
    import TestSupport

    /// The ffmpeg options that make an audio file of `CodedAudio`.
    enum Making: String, CaseIterable, Sendable {
        case mp3Constant, mp3ConstantWithoutTag, mp3Variable, mp3VariableWithoutTag, mp3Low, aacADTS, m4aFirst, m4aLast,
            alac, flac
        case flacOfSox, aiff, caf, wave64, oggVorbis, wavMuLaw
        case ac3, eac3, wavPack, au

        var name: String {
            switch self {
            case .mp3Constant, .mp3ConstantWithoutTag, .mp3Variable, .mp3VariableWithoutTag, .mp3Low: "\(rawValue).mp3"
            case .aacADTS: "\(rawValue).aac"
            case .m4aFirst, .m4aLast, .alac: "\(rawValue).m4a"
            case .flac, .flacOfSox: "\(rawValue).flac"
            case .aiff: "\(rawValue).aiff"
            case .caf: "\(rawValue).caf"
            case .wave64: "\(rawValue).w64"
            case .oggVorbis: "\(rawValue).ogg"
            case .wavMuLaw: "\(rawValue).wav"
            case .wavPack: "\(rawValue).wv"
            case .ac3, .eac3, .au: "\(rawValue).\(rawValue)"
            }
        }

        fileprivate var options: [String] {
            switch self {
            case .mp3Constant: ["-b:a", "128k"]
            case .mp3ConstantWithoutTag: ["-b:a", "128k", "-write_xing", "0", "-id3v2_version", "0"]
            case .mp3Variable: ["-q:a", "4"]
            case .mp3VariableWithoutTag: ["-q:a", "4", "-write_xing", "0"]
            case .mp3Low: ["-b:a", "24k", "-ar", "22050"]
            case .aacADTS: ["-b:a", "96k", "-aac_pns", "0"]
            case .m4aFirst: ["-b:a", "96k", "-aac_pns", "0", "-movflags", "+faststart"]
            case .m4aLast: ["-b:a", "96k", "-aac_pns", "0"]
            case .alac: ["-c:a", "alac"]
            case .wavMuLaw: ["-c:a", "pcm_mulaw"]
            case .oggVorbis: ["-c:a", "libvorbis", "-q:a", "4"]
            case .ac3, .eac3: ["-b:a", "192k"]
            case .flac, .flacOfSox, .aiff, .caf, .wave64, .wavPack, .au: []
            }
        }

        /// Whether all positions are known without scanning the file.
        var isIndexed: Bool { ![.mp3Variable, .mp3VariableWithoutTag, .aacADTS].contains(self) }

        /// The file's bytes, made once per test run.
        var bytes: [UInt8] { get throws { try Files.shared.bytes(of: self) } }
    }

    final class Files: Sendable {
        static let shared = Files()
        static let sound = CodedAudio(seconds: 30)

        private let folder = Folder()
        /// Made without perceptual noise substitution (`-aac_pns`), which would give different noise in each
        /// decoding.
        private let made = Locked<[Making: [UInt8]]>([:])

        private init() { folder.write(Self.sound.wav, to: "sound.wav") }

        var wav: String { folder("sound.wav") }

        fileprivate func bytes(of making: Making) throws -> [UInt8] {
            try made.withLock { made in
                Result {
                    if let bytes = made[making] { return bytes }
                    let path = folder(making.name)
                    if making == .flacOfSox {
                        try Self.run("sox", [wav, path])
                    } else {
                        try Self.run("ffmpeg", ["-v", "error", "-y", "-i", wav] + making.options + [path])
                    }
                    let bytes = Folder.bytes(of: path)
                    made[making] = bytes
                    return bytes
                }
            }.get()
        }

        static func run(_ program: String, _ arguments: [String]) throws {
            let result = try Program.run(program, arguments, for: .seconds(120))
            guard result.end == .code(0) else { throw Failed(text: "\(program): \(result.errors)") }
        }

        /// Decodes a file by ffmpeg to interleaved floats.
        static func decoded(_ path: String, rate: Int, channelCount: Int) throws -> [Float] {
            let folder = Folder()
            try run(
                "ffmpeg",
                [
                    "-v", "error", "-y", "-i", path, "-f", "f32le", "-ar", "\(rate)", "-ac", "\(channelCount)",
                    folder("out"),
                ])
            let bytes = Folder.bytes(of: folder("out"))
            return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
        }

        struct Failed: Error { var text: String }
    }

    extension Making {
        var path: String {
            get throws {
                _ = try bytes
                return Files.shared.path(of: self)
            }
        }
    }

    extension Files {
        fileprivate func path(of making: Making) -> String { folder(making.name) }
    }
#endif
