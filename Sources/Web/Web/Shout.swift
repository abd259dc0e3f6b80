internal import CShout

/// libshout's functions.
///
/// `try!` cannot fail after `loadShout` has returned, and all code that uses libshout calls `loadShout` first.
let shout = try! opened.get()

/// libshout is not installed. The text is the whole message: the problem and its remedy.
public struct ShoutMissing: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}

/// Loads libshout on the first call, from any thread. Throws if it is not installed.
public func loadShout() throws(ShoutMissing) { _ = try opened.get() }

private let opened = Result { () throws(ShoutMissing) in try openShout("libshout.so.3") }

/// Loads `file`. The C functions are `dlopen` and `shout_init`.
func openShout(_ file: String) throws(ShoutMissing) -> tenfour_shout {
    var failure: UnsafePointer<CChar>?
    let shout = unsafe tenfour_shout_open(file, &failure)
    if let failure = unsafe failure {
        throw ShoutMissing(
            description:
                "feeding an Icecast server needs libshout, which cannot be loaded (\(unsafe String(cString: failure))): run `apt-get install libshout3`"
        )
    }
    shout.shout_init()
    return shout
}
