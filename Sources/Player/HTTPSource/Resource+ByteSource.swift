package import TenfourMediaSource

extension Resource {
    /// Starts fetching the bytes, from the network, a file or standard input. `options` and `loop` are used for HTTP
    /// addresses only. If `range` is given, only these bytes of an HTTP address are fetched; they keep their offsets.
    package func open(
        options: HTTPOptions = HTTPOptions(), limits: BufferLimits = BufferLimits(), range: Range<Int>? = nil,
        on loop: HTTPLoop? = nil
    ) throws(ByteSourceError) -> any ByteSource {
        switch self {
        case .http(let address): try HTTPByteSource(address, options: options, limits: limits, range: range, on: loop)
        case .file(let path): try FileByteSource.open(path == "-" ? "./-" : path, limits: limits)
        case .standardInput: try FileByteSource.open("-", limits: limits)
        }
    }
}
