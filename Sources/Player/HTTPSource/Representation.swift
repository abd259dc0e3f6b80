/// The length, the tag and the time that an HTTP response gives for its resource.
///
/// When a download goes on after a break, the first response's values are compared with those of the next: where they differ, the
/// server has another resource at that address now, and its bytes do not follow on the ones that we have.
package struct Representation: Equatable {
    package var byteCount: Int?
    var entityTag: String?
    var lastModified: String?
    /// Whether the server sends a part of the resource to those who ask for one.
    var isSeekable: Bool
    /// Whether it is a radio station, which sends after a break whatever is on the air at that moment.
    var isStation: Bool

    /// Reads a response's head. `isPart` says whether the body is a part of the resource (status 206) or all of it.
    package init(_ head: ResponseHead, isPart: Bool) {
        // Between the metadata of a station there is no such thing as an offset, whatever it says of a length.
        let isStation = head.metadataInterval != nil
        byteCount = isStation ? nil : isPart ? head.contentRange?.total : head.bodyByteCount
        entityTag = head.entityTag
        lastModified = head.lastModified
        // Some answer with the whole where all of it is asked for as a part.
        isSeekable = byteCount != nil && (isPart || head.acceptsRanges == true)
        self.isStation = isStation || (head.isStation && byteCount == nil)
    }

    /// Whether a second request may bring other bytes: a station, or a resource without length, tag and time.
    var isLive: Bool { isStation || (byteCount == nil && entityTag == nil && lastModified == nil) }

    /// Whether both are the same resource, so that an offset means the same byte in both. Several servers behind one name may give
    /// one file different tags, but not different lengths or times.
    func isSame(as other: Self) -> Bool {
        if let byteCount, let theirs = other.byteCount, byteCount != theirs { return false }
        if let lastModified, let theirs = other.lastModified { return lastModified == theirs }
        if let entityTag, let theirs = other.entityTag { return entityTag == theirs }
        return true
    }

    /// For `If-Range`: a weak tag may not stand there (RFC 9110, section 13.1.5).
    var validator: String? {
        if let entityTag, !entityTag.hasPrefix("W/") { return entityTag }
        return lastModified
    }
}

/// What to do with the response to a request for the bytes from an offset on.
package enum ResponseVerdict: Equatable {
    /// The body is it, but for its first bytes.
    case take(skipping: Int)
    /// There is nothing at that offset or behind it.
    case ended
    /// Should be asked for without a range.
    case askForWhole
    /// Another resource lies at the address now.
    case changed
    /// The resource lies at another address.
    case moved(to: String)
    /// The body is packed, so its bytes are not those that were asked for.
    case packed(String)
    /// The request failed. `isLasting`: it would fail later, too.
    case refused(isLasting: Bool)

    /// - `known`: what earlier responses told; nil for the first.
    package static func on(status: Int, _ head: ResponseHead, from offset: Int, hasRange: Bool, known: Representation?)
        -> ResponseVerdict
    {
        if let packing = head.packing, 200..<300 ~= status { return .packed(packing) }
        switch status {
        case 301, 302, 303, 307, 308: return head.location.map { .moved(to: $0) } ?? .refused(isLasting: true)
        case 200, 203:
            if let known, known.isLive { return .take(skipping: 0) }
            guard known.map({ $0.isSame(as: Representation(head, isPart: false)) }) ?? true else { return .changed }
            return .take(skipping: offset)
        case 206:
            // Some leave out where a part begins that is the whole.
            guard let first = head.contentRange?.first ?? (offset == 0 ? 0 : nil), first <= offset, hasRange else {
                return .refused(isLasting: true)
            }
            guard known.map({ $0.isSame(as: Representation(head, isPart: true)) }) ?? true else { return .changed }
            return .take(skipping: offset - first)
        case 416:
            if offset == 0 { return hasRange ? .askForWhole : .refused(isLasting: true) }
            // Where the length is the one that was told before, or ends here, it is merely shorter than was told.
            guard let total = head.contentRange?.total, total != offset, total != known?.byteCount else {
                return .ended
            }
            return .changed
        case 408, 425, 429, 500...: return .refused(isLasting: false)
        default:
            // A station is away for a while when whoever speaks there is.
            return .refused(isLasting: known?.isLive != true)
        }
    }
}
