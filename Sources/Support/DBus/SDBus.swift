internal import CSDBus

/// libsystemd's functions for D-Bus. Nothing changes them.
///
/// `try!` cannot fail: every function here that reads them needs a connection, and `MessageBus.init`, which makes the
/// connections, calls `needSDBus` first and throws where that does.
nonisolated(unsafe) let sdbus = unsafe try! opened.get()

/// Opens libsystemd, the first time. Throws where it is not on this machine.
func needSDBus() throws(BusError) { _ = unsafe try opened.get() }

private nonisolated(unsafe) let opened = Result { () throws(BusError) in try openSDBus("libsystemd.so.0") }

/// The C function is `dlopen`.
func openSDBus(_ file: String) throws(BusError) -> tenfour_sdbus {
    var failure: UnsafePointer<CChar>?
    let sdbus = unsafe tenfour_sdbus_open(file, &failure)
    if let failure = unsafe failure { throw .noLibrary(unsafe String(cString: failure)) }
    return unsafe sdbus
}
