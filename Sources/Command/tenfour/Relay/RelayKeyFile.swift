import Glibc
import TenfourChannelKeys
import TenfourRadio
import TenfourRelayServer

/// The file with a relay's static key, which only the relay's user may read.
enum RelayKeyFile {
    /// Reads the key. Makes the file with a new key if it is missing and `makes` is true; returns nil if it is missing and
    /// `makes` is false. Throws with the remedy if other users can read the file, or if it holds no key.
    static func key(at path: String, makes: Bool) throws(RelayFileErrors) -> (key: RelayKey, isNew: Bool)? {
        if unsafe access(path, F_OK) != 0, errno == ENOENT {
            return makes ? (try make(at: path), true) : nil
        }
        let text = try RelayServerConfiguration.secret(in: path, "the relay's key")
        guard let key = RelayKey(fileText: text) else {
            throw RelayFileErrors(
                RelayFileError(
                    open: path,
                    "its first line is not a relay's key, 52 letters and digits; restore it from a copy, or remove the file, so that the relay makes a new key and needs new links"
                ))
        }
        return (key, false)
    }

    private static func make(at path: String) throws(RelayFileErrors) -> RelayKey {
        var randomness = CSPRNG()
        let key = RelayKey(using: &randomness)
        do throws(RadioError) { try SecretFile.write(key.fileText + "\n", to: path) } catch {
            throw RelayFileErrors(RelayFileError(open: path, "the relay's key cannot be made: \(error)"))
        }
        return key
    }
}
