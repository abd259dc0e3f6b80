/// The length, entity tag and modification time that an HTTP response states for its resource.
///
/// When a download is resumed, the values of the first response are compared with the values of the new response. If
/// they differ, the address now has another resource, whose bytes do not continue the download.
package struct Representation: Equatable {
    package var byteCount: Int?
    var entityTag: String?
    var lastModified: String?
    /// Whether the server supports range requests.
    var isSeekable: Bool
    /// Whether the resource is a radio station. A station resumes a broken download with the audio that it broadcasts
    /// then.
    var isStation: Bool

    /// Reads a response's head. `isPart` is true if the body is a part of the resource (status 206) and false if it is
    /// all of it.
    package init(_ head: ResponseHead, isPart: Bool) {
        // Ignores the length that a station states, since its stream has no offsets.
        let isStation = head.metadataInterval != nil
        // A compressed body states its own length and offsets, which are not those of the bytes in it.
        byteCount = isStation || head.packing != nil ? nil : isPart ? head.contentRange?.total : head.bodyByteCount
        entityTag = head.entityTag
        lastModified = head.lastModified
        // Status 200 with `Accept-Ranges` is sufficient, since some servers answer 200 to a range that covers the whole
        // resource.
        isSeekable = byteCount != nil && (isPart || head.acceptsRanges == true)
        self.isStation = isStation || (head.isStation && byteCount == nil && head.packing == nil)
        isPacked = head.packing != nil
    }

    /// Whether the body is compressed, and so can be read in order only.
    var isPacked: Bool

    /// Whether a second request may return other bytes: true for a radio station, and for a resource without length,
    /// entity tag and modification time.
    var isLive: Bool { isStation || (!isPacked && byteCount == nil && entityTag == nil && lastModified == nil) }

    /// Returns whether this and `other` describe the same resource, so that an offset means the same byte in both
    /// responses. Several servers behind one name may send different tags for one file, but not different lengths or
    /// times.
    func isSame(as other: Self) -> Bool {
        if let byteCount, let theirs = other.byteCount, byteCount != theirs { return false }
        if let lastModified, let theirs = other.lastModified { return lastModified == theirs }
        if let entityTag, let theirs = other.entityTag { return entityTag == theirs }
        return true
    }

    /// The validator for `If-Range`, which must not be a weak entity tag (RFC 9110, section 13.1.5).
    var validator: String? {
        if let entityTag, !entityTag.hasPrefix("W/") { return entityTag }
        return lastModified
    }
}

/// The action that is required by the response to a request for the bytes from an offset on.
package enum ResponseAction: Equatable {
    /// Use the body after skipping its first bytes.
    case useBody(skipping: Int)
    /// No bytes exist at or after the requested offset.
    case ended
    /// Repeat the request without a range.
    case retryWithoutRange
    /// The address now has another resource than before.
    case changed
    /// The resource lies at another address.
    case moved(to: String)
    /// The request failed. `isLasting` is true if a later request would fail too.
    case refused(isLasting: Bool)

    /// Chooses the action by a response's status and head. `known` is the representation stated by earlier responses;
    /// nil for the first response.
    package static func on(status: Int, _ head: ResponseHead, from offset: Int, hasRange: Bool, known: Representation?)
        -> ResponseAction
    {
        // The bytes of a compressed body from elsewhere than the start cannot be decompressed.
        if head.packing != nil, status == 206, offset > 0 {
            return hasRange ? .retryWithoutRange : .refused(isLasting: true)
        }
        switch status {
        case 301, 302, 303, 307, 308: return head.location.map { .moved(to: $0) } ?? .refused(isLasting: true)
        case 200, 203:
            if let known, known.isLive { return .useBody(skipping: 0) }
            guard known.map({ $0.isSame(as: Representation(head, isPart: false)) }) ?? true else { return .changed }
            return .useBody(skipping: offset)
        case 206:
            // Assumes that the body begins at offset 0 if Content-Range is missing: some servers omit it if the range
            // is the whole resource.
            guard let first = head.contentRange?.first ?? (offset == 0 ? 0 : nil), first <= offset, hasRange else {
                return .refused(isLasting: true)
            }
            guard known.map({ $0.isSame(as: Representation(head, isPart: true)) }) ?? true else { return .changed }
            return .useBody(skipping: offset - first)
        case 416:
            if offset == 0 { return hasRange ? .retryWithoutRange : .refused(isLasting: true) }
            // The first request was for a range behind the end.
            if known == nil { return .ended }
            // Ends the download if the stated length is missing, or equals the length known before or the offset: then
            // the resource is the same, and has no more bytes. Another length belongs to another resource.
            guard let total = head.contentRange?.total, total != offset, total != known?.byteCount else {
                return .ended
            }
            return .changed
        // Some servers refuse range requests instead of ignoring them.
        case 400, 403, 405, 406, 412, 417, 501:
            let mayBeRange = offset == 0 && hasRange && known == nil
            return mayBeRange
                ? .retryWithoutRange : .refused(isLasting: status != 501 && known?.isLive != true)
        case 408, 425, 429, 500...: return .refused(isLasting: false)
        default:
            // Takes the refusal of a radio station as temporary, since the station may be off the air for a while.
            return .refused(isLasting: known?.isLive != true)
        }
    }
}
