internal import Synchronization
internal import TenfourMediaSource

/// A folder in the place of a byte source: it has no bytes, and `ResourceOpener` lists it when it opens it.
final class FolderByteSource: ByteSource {
    let path: String
    private let isInterrupted = Atomic(false)
    private let isStopped = Atomic(false)

    init(_ path: String) { self.path = path }

    var state: ByteSourceState {
        ByteSourceState(phase: .ended, byteCount: 0, isSeekable: true, resource: .file(path: path))
    }

    /// No limits, since nothing is buffered. Setting limits has no effect.
    var limits: BufferLimits {
        get { .all }
        set {}
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int { 0 }
    func interrupt() { isInterrupted.store(true, ordering: .releasing) }
    func resume() { isInterrupted.store(false, ordering: .releasing) }
    func pause(_ isPaused: Bool) {}
    func stop() { isStopped.store(true, ordering: .releasing) }

    /// Whether the listing must end.
    var isCancelled: Bool { isInterrupted.load(ordering: .acquiring) || isStopped.load(ordering: .acquiring) }
}
