public import Testing

/// Expects that `open`, which opens a library on demand, refuses a file that does not exist and a library without the
/// functions, each with a sentence that names the file and the package that brings the library.
public func expectMissingLibrary(
    _ name: String, package: String, sourceLocation: SourceLocation = #_sourceLocation,
    open: (_ file: String) throws -> Void
) {
    for file in ["\(name).so.0", "libc.so.6"] {
        do {
            try open(file)
            Issue.record("\(file) was taken for \(name)", sourceLocation: sourceLocation)
        } catch {
            let sentence = "\(error)"
            #expect(
                sentence.contains("apt-get install \(package)") && sentence.contains(file),
                sourceLocation: sourceLocation)
        }
    }
}
