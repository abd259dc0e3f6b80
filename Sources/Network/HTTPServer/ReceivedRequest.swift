internal import CMicroHTTPD
internal import Glibc
internal import TenfourSession

/// A request as libmicrohttpd has read it. It is valid during libmicrohttpd's callback only.
@safe struct ReceivedRequest {
    let handle: OpaquePointer
    let method: UnsafePointer<CChar>
    let version: UnsafePointer<CChar>

    /// Checks the request.
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
        let fields = self.fields
        guard fields.allSatisfy({ isToken($0.name) }), !hidesText(between: fields) else { throw .malformedField }
        let request = HTTPRequest(
            method: method, path: parsed.path, query: parsed.query, fields: fields.map { ($0.name, $0.value) },
            remote: remote)
        let lengths = request.values(of: "Content-Length")
        guard request.field("Transfer-Encoding") == nil, lengths.isEmpty || lengths == ["0"] else {
            throw .bodyNotAccepted
        }
        let hasHost = unsafe request.host != nil || String(cString: version) == "HTTP/1.0"
        guard hasHost else { throw .malformedHost }
        try request.check(limits.hosts)
        return request
    }

    /// The first Host field.
    var host: String? { fields.first { $0.name.lowercased() == "host" }?.value }

    private func checkedMethod() throws(HTTPRefusal) -> HTTPRequest.Method {
        switch unsafe String(cString: method) {
        case "GET": .get
        case "HEAD": .head
        default: throw .methodNotAllowed
        }
    }

    /// The header's fields. The C function is `MHD_get_connection_values`.
    private var fields: [ReceivedField] {
        var fields: [ReceivedField] = []
        unsafe withUnsafeMutablePointer(to: &fields) { fields in
            _ = unsafe microHTTPD.MHD_get_connection_values(handle, .HEADER_KIND, appendField, fields)
        }
        return fields
    }

    /// Returns whether the header has bytes that are in no field. Before version 1.0, libmicrohttpd ends a field at a NUL,
    /// leaves out the rest of the line, and takes a line that begins with a NUL for the end of the header.
    ///
    /// libmicrohttpd overwrites the end of each line with two NULs, so each field begins two bytes after the last one.
    private func hidesText(between fields: [ReceivedField]) -> Bool {
        guard microHTTPDAcceptsNUL else { return false }
        var end = unsafe version + strlen(version)
        for field in fields {
            guard unsafe field.start == end + 2 else { return true }
            unsafe end = field.end
        }
        // The end of the last line and the empty line are four bytes.
        return unsafe end + 4 != method + tenfour_microhttpd_header_size(microHTTPD, handle)
    }
}

/// A field of the header, and where libmicrohttpd has it.
@safe private struct ReceivedField {
    var name: String
    var value: String
    var start: UnsafePointer<CChar>
    /// The address after the value.
    var end: UnsafePointer<CChar>
}

/// Whether a name of a field has only the characters of one (RFC 9110 section 5.6.2): no space before the colon.
private func isToken(_ name: String) -> Bool {
    !name.isEmpty
        && name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
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
    guard let owner = unsafe owner, let name = unsafe name, let value = unsafe value else { return MHD_Result.NO }
    let fields = unsafe owner.assumingMemoryBound(to: [ReceivedField].self)
    unsafe fields.pointee.append(
        ReceivedField(
            name: String(cString: name), value: String(cString: value), start: name, end: value + strlen(value)))
    return MHD_Result.YES
}
