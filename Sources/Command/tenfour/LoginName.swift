import Glibc
import TenfourChannelKeys

/// The default name that other talkers and members see: the user's login name, never the machine's name.
enum LoginName {
    /// The login name; nil if this user has none.
    static var current: String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 4_096)
        let name: String? = unsafe room.withUnsafeMutableBufferPointer { room in
            guard unsafe getpwuid_r(getuid(), &entry, room.baseAddress!, room.count, &found) == 0,
                unsafe found != nil, let name = unsafe entry.pw_name
            else { return nil }
            return unsafe String(cString: name)
        }
        let shown = name.map { MemberInfo.shown($0) }
        return shown?.isEmpty ?? true ? nil : shown
    }
}
