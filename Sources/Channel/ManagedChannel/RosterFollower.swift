internal import TenfourAudioCore
internal import TenfourChannelKeys

/// Keeps the newest roster that the owner has signed: it applies changes, and fetches pages where a change does not
/// follow from the roster that is held (Protocol/13-members.md).
///
/// It holds at most one roster, and the pages of one.
struct RosterFollower: Sendable {
    /// The outcome of news or of a page.
    enum Outcome: Hashable {
        /// The roster that is held is the newest one, or its pages are being fetched.
        case unchanged
        case replaced
        /// The owner has signed two lists of one version.
        case twoLists
    }

    let channelID: UInt128
    private let ownerHash: Bytes32
    private let root: MediaRoot
    /// The newest roster; nil before the first one came.
    private(set) var held: SignedRoster?
    private(set) var mark: RosterMark
    /// The number of rosters that were refused, by reason.
    private(set) var refusals: [RosterError: UInt64] = [:]
    /// The number of pages and changes that could not be decrypted.
    private(set) var unopenedCount: UInt64 = 0
    private var pages = Pages()
    /// The moment at which pages are asked for next; nil if none are wanted.
    private(set) var due: Instant?
    private var lastRequest: Instant?
    private var attempts = 0

    /// The number of pages with which the relay answers a request.
    static let pagesPerRequest = 5
    private static let maximumPause: Duration = .seconds(60)
    /// Rosters that announcements name are fetched no more often.
    private static let minimumPause: Duration = .seconds(1)

    private struct Pages {
        var head: RosterHead?
        var count = 0
        var received: [UInt16: [UInt8]] = [:]

        var firstMissing: UInt16 { UInt16((0..<count).first { received[UInt16($0)] == nil } ?? 0) }
        var isComplete: Bool { count > 0 && received.count == count }
        var bytes: [UInt8] { (0..<count).flatMap { received[UInt16($0)] ?? [] } }
    }

    /// `mark` is what the run before has remembered.
    init(channelID: UInt128, ownerHash: Bytes32, mediaRoot: MediaRoot, mark: RosterMark = .none) {
        self.channelID = channelID
        self.ownerHash = ownerHash
        root = mediaRoot
        self.mark = mark
    }

    mutating func hold(_ roster: SignedRoster) {
        held = roster
        mark = RosterMark(version: roster.version, hash: roster.hash)
    }

    mutating func restore(_ roster: SignedRoster) -> Bool {
        guard held == nil, roster.channelID == channelID, roster.ownerKey.ownerHash == ownerHash,
            (try? mark.check(roster)) != nil
        else { return false }
        hold(roster)
        return true
    }

    /// Begins to fetch the roster if none is held.
    mutating func joined(at now: Instant) {
        attempts = 0
        if held == nil || due != nil { due = now }
    }

    /// An authentic announcement, or the relay, has named this version.
    mutating func versionHeard(_ version: UInt32, at now: Instant) {
        guard let held, version > held.version, due == nil else { return }
        due = max(now, lastRequest.map { $0 + Self.minimumPause } ?? now)
        attempts = 0
    }

    mutating func receive(_ news: RosterNews, at now: Instant) -> Outcome {
        guard let held else {
            due = due ?? now
            return .unchanged
        }
        guard news.head.version > held.version else {
            // The same version with another signature may be a second list: its pages tell.
            if news.head.version == held.version, news.head.signature != held.signature, due == nil,
                refusals[.twoListsOfOneVersion] == nil
            {
                due = now
            }
            return .unchanged
        }
        guard news.follows == held.version else {
            versionHeard(news.head.version, at: now)
            return .unchanged
        }
        guard let bytes = RosterCipher(root, news.head).openChange(news.sealedChange, follows: news.follows) else {
            unopenedCount += 1
            versionHeard(news.head.version, at: now)
            return .unchanged
        }
        do throws(RosterError) {
            let change = try RosterChange(parsing: bytes.span)
            return try replace(
                by: change.applied(to: held.contents, version: news.head.version, time: news.head.time), news.head)
        } catch {
            refusals[error, default: 0] += 1
            versionHeard(news.head.version, at: now)
            return .unchanged
        }
    }

    mutating func receive(_ page: RosterPage, at now: Instant) -> Outcome {
        guard due != nil, pages.received[page.page] == nil || pages.head != page.head else { return .unchanged }
        guard let bytes = RosterCipher(root, page.head).openPage(page.sealed, page.page) else {
            unopenedCount += 1
            return .unchanged
        }
        if pages.head != page.head || pages.count != Int(page.pageCount) {
            pages = Pages(head: page.head, count: Int(page.pageCount))
        }
        pages.received[page.page] = bytes
        guard pages.isComplete else {
            // Asks for the next pages when those of this request have come; the pause is for pages that are lost.
            if pages.received.count.isMultiple(of: Self.pagesPerRequest) { due = now }
            attempts = min(attempts, 1)
            return .unchanged
        }
        defer { pages = Pages() }
        do throws(RosterError) {
            return try replace(by: RosterContents(parsing: pages.bytes.span), page.head)
        } catch {
            refusals[error, default: 0] += 1
            // The roster that is held is the newest one, or the owner has signed two.
            if held != nil, error == .older || error == .twoListsOfOneVersion { due = nil }
            return error == .twoListsOfOneVersion ? .twoLists : .unchanged
        }
    }

    private mutating func replace(by contents: RosterContents, _ head: RosterHead) throws(RosterError) -> Outcome {
        guard contents.version == head.version, contents.time == head.time else { throw .value }
        let roster = try SignedRoster(
            verifying: contents, head.signature, ownerHash: ownerHash, channelID: channelID, known: held)
        if let held { try roster.checkSuccession(of: held) } else { try mark.check(roster) }
        hold(roster)
        refusals[.twoListsOfOneVersion] = nil
        (due, attempts, pages) = (nil, 0, Pages())
        return .replaced
    }

    /// Returns the first page to ask for, if it is time.
    mutating func poll(at now: Instant) -> UInt16? {
        guard let due, due <= now else { return nil }
        let pause = Duration.seconds(1 << min(attempts, 6))
        attempts += 1
        self.due = now + min(pause, Self.maximumPause)
        lastRequest = now
        return pages.firstMissing
    }
}
