internal import CSDBus

/// libsystemd's functions for D-Bus; constant once libsystemd is loaded.
///
/// `try!` cannot fail, since `sdbus` is used only with a connection. `MessageBus.init`, which makes all connections,
/// first calls `needSDBus`, and throws if libsystemd cannot be loaded.
let sdbus = try! opened.get()

/// Loads libsystemd at the first call. Throws if it is not installed.
func needSDBus() throws(BusError) { _ = try opened.get() }

private let opened = Result { () throws(BusError) in try openSDBus("libsystemd.so.0") }

/// Loads libsystemd from the library `file`. The C function is `dlopen`.
func openSDBus(_ file: String) throws(BusError) -> tenfour_sdbus {
    var failure: UnsafePointer<CChar>?
    let sdbus = unsafe tenfour_sdbus_open(file, &failure)
    if let failure = unsafe failure { throw .noLibrary(unsafe String(cString: failure)) }
    return sdbus
}
