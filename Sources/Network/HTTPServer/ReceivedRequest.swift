internal import CMicroHTTPD
internal import TenfourSession

/// A request as libmicrohttpd has read it. It is valid during libmicrohttpd's callback only.
@safe struct ReceivedRequest {
    let handle: OpaquePointer
    let method: UnsafePointer<CChar>
    let version: UnsafePointer<CChar>

    /// Checks the request. libmicrohttpd has checked that HTTP/1.1 has a Host.
    func checked(
        _ target: ReceivedTarget, from remote: Endpoint, _ limits: HTTPLimits
    ) throws(HTTPRefusal) -> HTTPRequest {
        let method = try checkedMethod()
        guard target.bytes.count <= limits.targetByteCount else { throw .targetTooLong }
        // The version follows the target in libmicrohttpd's buffer. If it does not follow at once, then the target holds
        // a NUL, at which libmicrohttpd has cut it.
        guard unsafe UInt(bitPattern: version) == target.address + UInt(target.bytes.count) + 1 else {
            throw .malformedTarget
        }
        let parsed = try HTTPTarget(parsing: target.bytes.span)
        let request = HTTPRequest(
            method: method, path: parsed.path, query: parsed.query, fields: fields(), remote: remote)
        guard request.field("Transfer-Encoding") == nil, request.field("Content-Length") ?? "0" == "0" else {
            throw .bodyNotAccepted
        }
        let hosts = request.fields.filter { $0.name.lowercased() == "host" }
        guard hosts.count <= 1, hosts.allSatisfy({ isHost($0.value) }) else { throw .malformedHost }
        return request
    }

    private func checkedMethod() throws(HTTPRefusal) -> HTTPRequest.Method {
        switch unsafe String(cString: method) {
        case "GET": .get
        case "HEAD": .head
        default: throw .methodNotAllowed
        }
    }

    /// Returns the header's fields. The C function is `MHD_get_connection_values`.
    private func fields() -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        unsafe withUnsafeMutablePointer(to: &fields) { fields in
            _ = unsafe microHTTPD.MHD_get_connection_values(handle, .HEADER_KIND, appendField, fields)
        }
        return fields
    }
}

/// The target of a request before it is decoded, and the address at which libmicrohttpd has it.
struct ReceivedTarget {
    var bytes: [UInt8] = []
    var address: UInt = 0
}

extension ReceivedTarget {
    init(_ target: UnsafePointer<CChar>) {
        address = UInt(bitPattern: target)
        var end = unsafe target
        while unsafe end.pointee != 0 {
            bytes.append(UInt8(bitPattern: unsafe end.pointee))
            unsafe end += 1
        }
    }
}

@c private func appendField(
    _ owner: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let owner = unsafe owner, let name = unsafe name else { return MHD_Result.NO }
    let fields = unsafe owner.assumingMemoryBound(to: [(name: String, value: String)].self)
    let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
    unsafe fields.pointee.append((unsafe String(cString: name), text))
    return MHD_Result.YES
}
