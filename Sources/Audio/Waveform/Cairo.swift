internal import CCairo

/// cairo's functions. An access traps before `loadCairo` has returned.
let cairo = try! opened.get()

/// Loads cairo on the first call. Throws if it is not installed.
func loadCairo() throws(PictureError) { _ = try opened.get() }

private let opened = Result { () throws(PictureError) in try openCairo("libcairo.so.2") }

/// Loads cairo from `file`. The C function is `dlopen`.
func openCairo(_ file: String) throws(PictureError) -> tenfour_cairo {
    var failure: UnsafePointer<CChar>?
    let cairo = unsafe tenfour_cairo_open(file, &failure)
    if let failure = unsafe failure { throw .noCairo(unsafe String(cString: failure)) }
    return cairo
}
