internal import Glibc

/// A thread that does one thing, and is gone.
enum ReadingThread {
    /// Where there is no thread to be had, it is done here.
    static func run(_ body: @escaping @Sendable () -> Void) {
        let errand = unsafe Unmanaged.passRetained(Errand(body))
        var thread = pthread_t()
        if unsafe pthread_create(&thread, nil, runErrand, errand.toOpaque()) == 0 {
            pthread_detach(thread)
        } else {
            unsafe errand.takeRetainedValue().body()
        }
    }
}

private final class Errand: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

@c private func runErrand(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument { unsafe Unmanaged<Errand>.fromOpaque(argument).takeRetainedValue().body() }
    return nil
}
