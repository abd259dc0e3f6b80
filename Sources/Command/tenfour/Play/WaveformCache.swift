import Glibc
import TenfourPlayer
import TenfourUV

/// Keeps the waveforms of files that were played: `tenfour/waveforms` in `$XDG_CACHE_HOME` or in `~/.cache`, one file for
/// each, which only its owner can read. The least recently used ones are removed. Errors are ignored: a waveform that is
/// missing or damaged is made again.
struct WaveformCache: WaveformStore {
    private let folder: String
    private let maximumCount: Int
    private let maximumByteCount: Int

    /// Creates a cache in `folder`, which need not exist, of at most `maximumCount` files and `maximumByteCount`
    /// bytes.
    init(folder: String, maximumCount: Int = 500, maximumByteCount: Int = 16 << 20) {
        self.folder = folder
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    /// The user's folder; nil without HOME.
    static var usualFolder: String? {
        UserFile.folder("XDG_CACHE_HOME", otherwise: ".cache").map { $0 + "/tenfour/waveforms" }
    }

    func waveform(of identity: MediaIdentity, barCount: Int) -> WaveformProgress? {
        let path = path(of: identity, barCount)
        guard let bytes = UserFile.bytes(of: path, limit: CachedWaveform.maximumByteCount + 1),
            let waveform = CachedWaveform.waveform(of: bytes, barCount: barCount)
        else { return nil }
        // The time of a file is that of its last use. The C function is `utimensat`.
        _ = unsafe utimensat(AT_FDCWD, path, nil, 0)
        return waveform
    }

    func keep(_ waveform: WaveformProgress, of identity: MediaIdentity, barCount: Int) {
        let bytes = CachedWaveform.bytes(of: waveform)
        let path = path(of: identity, barCount)
        guard bytes.count <= maximumByteCount, UserFile.replace(path, by: bytes) else { return }
        removeOldest(but: path)
    }

    private func path(of identity: MediaIdentity, _ barCount: Int) -> String {
        "\(folder)/\(CachedWaveform.name(of: identity, barCount: barCount))"
    }

    private struct Entry {
        var path: String
        var byteCount: Int
        var used: Int64
    }

    /// Removes the least recently used files until the rest is within the limits. The C functions are `lstat` and
    /// `unlink`.
    private func removeOldest(but kept: String) {
        var entries = entries.sorted { $0.used > $1.used }
        var byteCount = entries.reduce(0) { $0 + $1.byteCount }
        while entries.count > maximumCount || byteCount > maximumByteCount, let last = entries.popLast() {
            guard last.path != kept else { continue }
            _ = unsafe unlink(last.path)
            byteCount -= last.byteCount
        }
    }

    private var entries: [Entry] {
        Directory.names(in: folder).compactMap { name in
            var status = stat()
            let path = "\(folder)/\(name)"
            guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            let used = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
            return Entry(path: path, byteCount: Int(status.st_size), used: used)
        }
    }
}
