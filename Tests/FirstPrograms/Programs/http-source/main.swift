import TenfourHTTPSource
import TenfourMediaSource

// http-source https://example.org/song.mp3
do throws(ByteSourceError) {
    let source = try HTTPByteSource(CommandLine.arguments[1])
    var window = ByteWindow(of: source)
    try window.load(at: 0, count: 4)  // waits for the answer
    let state = source.state
    print("\(state.byteCount ?? 0) bytes, begins with \(window.copiedBytes)")
    for header in state.headers { print("\(header.name): \(header.value)") }
    source.stop()
} catch {
    switch error.kind {
    case .notFound: print("nothing is there")
    case .refused(let status): print("the server answers with status \(status)")
    case .nameUnknown, .connectionFailed, .timedOut: print("no server answers")
    default: print(error)
    }
}
