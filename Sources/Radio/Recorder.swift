internal import Glibc
internal import Handoff
internal import Sound
internal import SoundFile

/// A piece of what was heard, on its way to a file.
struct RecordedSound: BitwiseCopyable, Sendable {
    var count = 0
    var samples = InlineArray<480, Float>(repeating: 0)
}

/// Writes what was heard, on a thread that may wait for a disk, a pipe or a closure.
struct Recorder: ~Copyable, Sendable {
    /// What lies between the playback thread and this one: two seconds and more.
    static let capacity = 512

    private var file: SoundFileWriter?
    private let closure: (@Sendable ([Float]) -> Void)?
    private let pieces: HandoffConsumer<RecordedSound>
    private var piece = RecordedSound()
    private let failed: @Sendable (RadioError) -> Void

    /// To a file, to a closure, or to both.
    init(
        file: consuming SoundFileWriter?, closure: (@Sendable ([Float]) -> Void)?,
        _ pieces: consuming HandoffConsumer<RecordedSound>, failed: @escaping @Sendable (RadioError) -> Void
    ) {
        self.file = file
        self.closure = closure
        self.pieces = pieces
        self.failed = failed
    }

    /// Runs until the playback thread has ended and all it left is written.
    consuming func run(until isOver: () -> Bool) {
        while true {
            let wasOver = isOver()
            var hasFailed = false
            while !hasFailed, pieces.pop(into: &piece) { hasFailed = !write() }
            if wasOver || hasFailed { break }
            usleep(20_000)
        }
        close()
    }

    private mutating func write() -> Bool {
        if let closure { closure((0..<piece.count).map { piece.samples[$0] }) }
        do throws(SoundFileError) {
            try file?.write(piece.samples.span.extracting(first: piece.count))
            return true
        } catch {
            failed(RadioError(.failure, error.description))
            return false
        }
    }

    private mutating func close() {
        do throws(SoundFileError) { try file?.close() } catch { failed(RadioError(.failure, error.description)) }
    }
}
