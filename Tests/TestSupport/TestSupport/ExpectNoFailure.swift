public import Testing

/// Records the failure that `body` returns as a text; nil means that it succeeded. For tests in real time, whose trait
/// (`InRealTime`) repeats them and prints the text.
public func expectNoFailure(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> String?
) rethrows {
    if let failure = try body() { Issue.record("\(failure)", sourceLocation: sourceLocation) }
}
