internal import Glibc
internal import TenfourAudioCore

/// Tells audio files by their names, and by their first bytes if the name has no ending.
enum AudioFileKind {
    /// Returns whether the regular file at `path` is audio: by the ending of its name, if it has one, or else by its
    /// first bytes. Some of the endings are those of video, too, whose sound is played.
    static func isAudio(_ path: String) -> Bool {
        let name = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
        if let dot = name.lastIndex(of: "."), dot > name.startIndex {
            return ContainerFormat(named: String(name[name.index(after: dot)...])) != nil
        }
        return hasAudio(path)
    }

    private static func hasAudio(_ path: String) -> Bool {
        guard let byteSource = try? FileByteSource.open(path) else { return false }
        defer { byteSource.stop() }
        var window = ByteWindow(of: byteSource, capacity: 4_096)
        guard (try? window.load(at: 0, count: ContainerFormat.sniffedByteCount)) != nil else { return false }
        return isAudio(window.bytes)
    }

    /// Returns whether a file that begins with `bytes` is audio. Text is not, although a frame of MPEG audio may begin
    /// anywhere in it.
    static func isAudio(_ bytes: Span<UInt8>) -> Bool {
        switch ContainerFormat(sniffing: bytes) {
        case .oggOpus, .ogg, .wav, .wave64, .aiff, .caf, .flac, .mp4, .matroska, .mpegTS, .wavPack, .musepack7,
            .musepack8,
            .au, .other:
            true
        case .html, .gzip, .playlist, .empty, .unknown: false
        // An ID3 tag, or the header of a frame: of MPEG audio (ISO 11172-3 section 2.4.2.3) or AC-3 (A/52 section
        // 5.3.1). FF FE begins a text in UTF-16.
        case .elementary:
            bytes.holds("ID3", at: 0) || bytes.count > 2 && bytes[0] == 0xFF && bytes[1] >= 0xE0 && bytes[1] < 0xFE
                || bytes.count > 2 && bytes[0] == 0x0B && bytes[1] == 0x77
        }
    }
}
