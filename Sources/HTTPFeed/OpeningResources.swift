public import Feed

extension Resource {
    /// Begins to bring its bytes, from the network or this machine. `options` and `loop` are for addresses.
    public func open(
        options: HTTPOptions = HTTPOptions(), limits: BufferLimits = BufferLimits(), on loop: HTTPLoop? = nil
    ) throws(DownloadError) -> any Downloading {
        switch self {
        case .http(let address): try HTTPDownload(address, options: options, limits: limits, on: loop)
        case .file(let path): try FileDownload.open(path == "-" ? "./-" : path, limits: limits)
        case .standardInput: try FileDownload.open("-", limits: limits)
        }
    }
}
