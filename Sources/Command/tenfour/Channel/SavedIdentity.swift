import Glibc
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRadio
import TenfourSystem

/// This user's identity, in the file `$XDG_CONFIG_HOME/tenfour/identity`, by default in `~/.config`.
struct SavedIdentity {
    let identity: MemberIdentity
    let path: String
    /// Whether the file was made by this call.
    let isNew: Bool

    /// Reads the identity, and makes it at first use. An existing file is never overwritten, even if it does not hold an
    /// identity. Throws `.unavailable` with the remedy.
    static func loaded() throws(RadioError) -> SavedIdentity {
        guard let folder = SavedLink.folder else {
            throw RadioError(
                .unavailable,
                "there is no folder for your identity: set HOME, or set XDG_CONFIG_HOME to an absolute path")
        }
        let path = path(in: folder)
        if let identity = try read(path) { return SavedIdentity(identity: identity, path: path, isNew: false) }
        SavedLink.makeFolder(folder)
        var randomness = CSPRNG()
        let identity = MemberIdentity(using: &randomness)
        do throws(PrivateFileError) {
            try identity.fileContent.withBytes { bytes throws(PrivateFileError) in
                try PrivateFile.create(path, bytes)
            }
        } catch {
            // Another process has made the file since.
            if error == .exists, let other = try read(path) {
                return SavedIdentity(identity: other, path: path, isNew: false)
            }
            throw RadioError(.unavailable, error.sentence(path, holding: "an identity"))
        }
        return SavedIdentity(identity: identity, path: path, isNew: true)
    }

    /// The identity if there is one; nil if none was made yet.
    static func existing() throws(RadioError) -> MemberIdentity? {
        guard let folder = SavedLink.folder else { return nil }
        return try read(path(in: folder))
    }

    private static func path(in folder: String) -> String { "\(folder)/identity" }

    /// Returns nil if there is no file.
    private static func read(_ path: String) throws(RadioError) -> MemberIdentity? {
        var byteCount = 0
        let content: LockedBytes
        do throws(PrivateFileError) {
            content = try LockedBytes(count: MemberIdentity.maximumFileByteCount + 1) {
                buffer throws(PrivateFileError) in
                byteCount = try PrivateFile.read(path, into: &buffer)
            }
        } catch {
            if error == .unreadable(ENOENT) { return nil }
            throw RadioError(.unavailable, error.sentence(path, holding: "an identity"))
        }
        do throws(IdentityFileError) {
            return try content.withBytes { bytes throws(IdentityFileError) in
                try MemberIdentity(parsingFile: bytes.extracting(0..<byteCount))
            }
        } catch {
            throw RadioError(
                .unavailable,
                "\(path) \(error.reason), so it holds no identity: restore it from a copy, or move it away for a new identity"
            )
        }
    }
}
