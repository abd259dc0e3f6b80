internal import Glibc
import TenfourChannelKeys
public import TenfourChannelMember
public import TenfourManagedChannel
internal import TenfourSystem

/// The files of one user's membership in one managed channel, each of mode 0600: `.secret` with the group secret and
/// prekeys, `.roster` with the list of members, `.verified` with the keys that the user has compared, `.heard` with the time
/// at which each member was heard last, and `.deposited` with the version of the list that the owner's station has deposited.
/// `.lock` is locked while a station is in the channel.
///
/// Any thread. Writing is done on a thread of its own, because a slow disk must not stop the network thread.
public final class MembershipFiles: Sendable {
    private let stem: String
    private let folder: String
    private let channelID: UInt128
    private let state = Locked(State())

    private struct State: Sendable {
        var lock: Int32 = -1
        var jobs: [@Sendable () -> Void] = []
        var isWorking = false
        var outcome: Bool?
        var rosterMark: FileMark?
    }

    private struct FileMark: Equatable {
        var inode: UInt64
        var seconds, nanoseconds: Int
    }

    private static let maximumVerifiedByteCount = 1 << 20

    /// The files are in `folder`, and their names begin with the channel's id. Touches no file.
    public init(in folder: String, channelID: UInt128) {
        self.folder = folder
        self.channelID = channelID
        let digits = String(channelID, radix: 16)
        stem = folder + "/" + String(repeating: "0", count: 32 - digits.count) + digits
    }

    deinit {
        state.withLock { state in
            if state.lock >= 0 { close(state.lock) }
        }
    }

    // MARK: - The lock

    /// Locks the files for this process. Returns false if another process has locked them. The C function is `flock`.
    public func lock() -> Bool {
        makeFolder()
        return state.withLock { state in
            if state.lock >= 0 { return true }
            let file = unsafe open(stem + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { return true }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                close(file)
                return false
            }
            state.lock = file
            return true
        }
    }

    /// Creates the folder and its parents, for this user only. A later write reports what is wrong.
    private func makeFolder() {
        var made = ""
        for part in folder.split(separator: "/") {
            made += "/" + part
            _ = unsafe mkdir(made, 0o700)
        }
    }

    // MARK: - Reading

    /// Reads what the run before has kept. A file that is missing counts as none. Throws if a file is readable for others.
    public func load() throws(RadioError) -> ManagedState {
        ManagedState(file: try secretFile(), roster: try roster(), verifiedKeys: try verifiedKeys())
    }

    private func secretFile() throws(RadioError) -> LockedBytes? {
        var count = 0
        do throws(PrivateFileError) {
            let bytes = try LockedBytes(count: 4_096) { buffer throws(PrivateFileError) in
                count = try PrivateFile.read(stem + ".secret", into: &buffer)
            }
            return bytes.withBytes { LockedBytes(copying: $0.extracting(..<count)) }
        } catch {
            if error == .unreadable(ENOENT) { return nil }
            throw RadioError(.unavailable, error.sentence(stem + ".secret", holding: "the secret of a channel"))
        }
    }

    /// The newest roster; nil if there is none, or the file is damaged: it is then fetched from the relay.
    public func roster() throws(RadioError) -> SignedRoster? {
        guard let bytes = try read(".roster", limit: SignedRoster.maximumFileByteCount + 1) else { return nil }
        return try? SignedRoster(parsingFile: bytes.span, channelID: channelID)
    }

    /// The keys that the user has compared, by name.
    public func verifiedKeys() throws(RadioError) -> [MemberName: IdentityKey] {
        guard let bytes = try read(".verified", limit: Self.maximumVerifiedByteCount) else { return [:] }
        var keys: [MemberName: IdentityKey] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let text = String(validating: line, as: UTF8.self), let known = try? IdentityLine(text),
                let name = known.memberName
            else { continue }
            keys[name] = known.key
        }
        return keys
    }

    private func read(_ suffix: String, limit: Int) throws(RadioError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit)
        do throws(PrivateFileError) {
            var span = bytes.mutableSpan
            let count = try PrivateFile.read(stem + suffix, into: &span)
            bytes.removeLast(bytes.count - count)
            return bytes
        } catch {
            if error == .unreadable(ENOENT) { return nil }
            throw RadioError(.unavailable, error.sentence(stem + suffix, holding: "the members of a channel"))
        }
    }

    // MARK: - Writing

    /// Keeps the key that the user has compared with the member of this name.
    public func setVerified(_ key: IdentityKey, _ name: MemberName) throws(RadioError) {
        var keys = try verifiedKeys()
        keys[name] = key
        let lines = keys.map { IdentityLine($0.value, name: $0.key).letters + "\n" }.sorted()
        try write(".verified", Array(lines.joined().utf8))
    }

    /// Writes the roster that the owner has signed.
    public func write(_ roster: SignedRoster) throws(RadioError) { try write(".roster", roster.fileContent) }

    private func write(_ suffix: String, _ bytes: [UInt8]) throws(RadioError) {
        makeFolder()
        do throws(PrivateFileError) { try PrivateFile.replace(stem + suffix, bytes.span) } catch {
            throw RadioError(.unavailable, error.sentence(stem + suffix, holding: "the members of a channel"))
        }
    }

    /// Begins to write a change of the file with the secret.
    package func begin(_ change: ManagedFileChange) {
        let path = stem + ".secret"
        enqueue { [weak self] in
            var isDone = true
            do throws(PrivateFileError) {
                switch change {
                case .write(let content):
                    try content.withBytes { bytes throws(PrivateFileError) in
                        try PrivateFile.replace(path, bytes, erasesOld: true)
                    }
                case .erase: try PrivateFile.erase(path)
                }
            } catch { isDone = false }
            self?.state.withLock { $0.outcome = isDone }
        }
    }

    /// Returns whether the change is on disk; nil while it is written. Call it until it returns a value.
    package func takeOutcome() -> Bool? {
        state.withLock { state in
            defer { state.outcome = nil }
            return state.outcome
        }
    }

    /// Keeps a roster that has come from the relay. Errors are ignored: it is then fetched again.
    package func keep(_ roster: SignedRoster) {
        enqueue { [weak self] in
            guard let self else { return }
            // The owner may have signed a newer one since.
            if let held = try? self.roster(), held.version >= roster.version { return }
            try? write(roster)
        }
    }

    /// Keeps when members were heard last, by index, in seconds since 1970. Errors are ignored.
    package func keep(heard: [UInt16: UInt64]) {
        enqueue { [weak self] in
            guard let self else { return }
            let all = self.heard.merging(heard) { max($0, $1) }
            try? write(".heard", Array(all.map { "\($0.key) \($0.value)\n" }.sorted().joined().utf8))
        }
    }

    /// When members were heard last, by index, in seconds since 1970.
    public var heard: [UInt16: UInt64] {
        guard let bytes = try? read(".heard", limit: Self.maximumVerifiedByteCount) else { return [:] }
        var heard: [UInt16: UInt64] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let index = UInt16(parts[0]), let time = UInt64(parts[1]) else { continue }
            heard[index] = time
        }
        return heard
    }

    /// Waits until everything is on disk, at most two seconds.
    package func finish() {
        for _ in 0..<400 where !state.withLock({ !$0.isWorking }) { usleep(5_000) }
    }

    private func enqueue(_ job: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            state.jobs.append(job)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard begins else { return }
        do throws(ThreadError) {
            try WorkerThread.detached { [weak self] in while let job = self?.nextJob() { job() } }
        } catch {
            while let job = nextJob() { job() }
        }
    }

    private func nextJob() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.jobs.isEmpty else {
                state.isWorking = false
                return nil
            }
            return state.jobs.removeFirst()
        }
    }

    /// Whether everything is on disk.
    var isIdle: Bool { state.withLock { !$0.isWorking && $0.outcome == nil } }

    // MARK: - Between a command of the owner and its station

    /// The roster in the file, if the file has changed since the last call.
    package func changedRoster() -> SignedRoster? {
        var status = stat()
        guard unsafe stat(stem + ".roster", &status) == 0 else { return nil }
        let mark = FileMark(
            inode: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        let isNew = state.withLock { state in
            defer { state.rosterMark = mark }
            return state.rosterMark != mark
        }
        return isNew ? (try? roster()) ?? nil : nil
    }

    /// Tells commands that the roster of this version is in force.
    package func reportDeposited(_ version: UInt32) {
        enqueue { [weak self] in try? self?.write(".deposited", Array("\(version)\n".utf8)) }
    }

    /// The version of the roster that a station has deposited; 0 if none has.
    public var depositedVersion: UInt32 {
        guard let bytes = try? read(".deposited", limit: 16) else { return 0 }
        return UInt32(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) ?? 0
    }
}
