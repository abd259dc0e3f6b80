private import CCairo

/// A drawing, with coordinates in pixels from the upper left corner, saved as PNG or SVG 1.1. The C functions are
/// cairo's.
///
/// Text is set in DejaVu Sans, a font that is installed with cairo's package; in an SVG file text is stored as
/// outlines, so that it looks the same on every machine.
@safe
struct Canvas: ~Copyable {
    private let surface: OpaquePointer
    private let context: OpaquePointer
    private let file: PictureFile
    private let format: PictureFormat

    enum Anchor { case start, middle, end }

    init(width: Int, height: Int, format: PictureFormat) throws(PictureError) {
        try loadCairo()
        let file = PictureFile()
        let surface: OpaquePointer?
        switch format {
        case .png: unsafe surface = cairo.cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
        case .svg:
            unsafe surface = cairo.cairo_svg_surface_create_for_stream(
                receivePictureBytes, Unmanaged.passUnretained(file).toOpaque(), Double(width), Double(height))
        }
        guard let surface = unsafe surface else { throw PictureError(CAIRO_STATUS_NO_MEMORY) }
        let status = unsafe cairo.cairo_surface_status(surface)
        guard status == CAIRO_STATUS_SUCCESS, let context = unsafe cairo.cairo_create(surface) else {
            unsafe cairo.cairo_surface_destroy(surface)
            throw PictureError(status)
        }
        if format == .svg { unsafe cairo.cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX) }
        unsafe self.surface = surface
        unsafe self.context = context
        self.file = file
        self.format = format
    }

    deinit {
        unsafe cairo.cairo_destroy(context)
        unsafe cairo.cairo_surface_destroy(surface)
    }

    /// Ends the drawing and returns the bytes of its file.
    consuming func finished() throws(PictureError) -> [UInt8] {
        if format == .png {
            _ = unsafe cairo.cairo_surface_write_to_png_stream(
                surface, receivePictureBytes, Unmanaged.passUnretained(file).toOpaque())
        }
        unsafe cairo.cairo_surface_finish(surface)
        for status in [unsafe cairo.cairo_status(context), unsafe cairo.cairo_surface_status(surface)]
        where status != CAIRO_STATUS_SUCCESS && status != CAIRO_STATUS_SURFACE_FINISHED {
            throw PictureError(status)
        }
        return file.bytes
    }

    func fill(_ rectangles: [Rectangle], _ colour: Colour) {
        guard !rectangles.isEmpty else { return }
        for one in rectangles { unsafe cairo.cairo_rectangle(context, one.x, one.y, one.width, one.height) }
        set(colour)
        unsafe cairo.cairo_fill(context)
    }

    func fill(_ rectangle: Rectangle, _ colour: Colour) { fill([rectangle], colour) }

    /// Draws vertical lines with round ends.
    func strokeUpright(_ lines: [(x: Double, top: Double, bottom: Double)], width: Double, _ colour: Colour) {
        guard !lines.isEmpty else { return }
        for line in lines {
            unsafe cairo.cairo_move_to(context, line.x, line.top)
            unsafe cairo.cairo_line_to(context, line.x, line.bottom)
        }
        set(colour)
        unsafe cairo.cairo_set_line_width(context, width)
        unsafe cairo.cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        unsafe cairo.cairo_stroke(context)
        unsafe cairo.cairo_set_line_cap(context, CAIRO_LINE_CAP_BUTT)
    }

    func stroke(_ points: [(x: Double, y: Double)], width: Double = 1, _ colour: Colour) {
        guard points.count > 1 else { return }
        trace(points)
        set(colour)
        unsafe cairo.cairo_set_line_width(context, width)
        unsafe cairo.cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        unsafe cairo.cairo_stroke(context)
    }

    func fill(area points: [(x: Double, y: Double)], _ colour: Colour) {
        guard points.count > 2 else { return }
        trace(points)
        unsafe cairo.cairo_close_path(context)
        set(colour)
        unsafe cairo.cairo_fill(context)
    }

    /// Writes text; `y` is the baseline.
    func write(
        _ text: String, _ x: Double, _ y: Double, size: Double = 12, _ colour: Colour, anchor: Anchor = .start,
        isBold: Bool = false
    ) {
        select(size: size, isBold: isBold)
        let width = anchor == .start ? 0 : advance(of: text)
        unsafe cairo.cairo_move_to(context, x - (anchor == .middle ? width / 2 : width), y)
        set(colour)
        unsafe cairo.cairo_show_text(context, text)
    }

    func width(of text: String, size: Double = 12, isBold: Bool = false) -> Double {
        select(size: size, isBold: isBold)
        return advance(of: text)
    }

    private func select(size: Double, isBold: Bool) {
        unsafe cairo.cairo_select_font_face(
            context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL)
        unsafe cairo.cairo_set_font_size(context, size)
    }

    private func advance(of text: String) -> Double {
        var extents = cairo_text_extents_t()
        unsafe cairo.cairo_text_extents(context, text, &extents)
        return extents.x_advance
    }

    private func trace(_ points: [(x: Double, y: Double)]) {
        for (index, point) in points.enumerated() {
            if index == 0 {
                unsafe cairo.cairo_move_to(context, point.x, point.y)
            } else {
                unsafe cairo.cairo_line_to(context, point.x, point.y)
            }
        }
    }

    private func set(_ colour: Colour) {
        unsafe cairo.cairo_set_source_rgba(context, colour.red, colour.green, colour.blue, colour.alpha)
    }
}

struct Rectangle {
    var x, y, width, height: Double

    init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}

/// The file format of a picture.
public enum PictureFormat: String, Sendable { case png, svg }

/// The reason why a picture could not be drawn.
public enum PictureError: Error, Equatable, CustomStringConvertible {
    /// cairo is not installed, or incomplete. The value is the system's message.
    case noCairo(String)
    /// A `cairo_status_t` and cairo's text for it.
    case undrawable(code: UInt32, String)

    public var description: String {
        switch self {
        case .noCairo(let reason):
            "pictures need cairo, which cannot be loaded (\(reason)): run `apt-get install libcairo2`"
        case .undrawable(_, let reason): "the picture cannot be drawn: \(reason)"
        }
    }

    fileprivate init(_ status: cairo_status_t) {
        self = .undrawable(
            code: status.rawValue, unsafe cairo.cairo_status_to_string(status).map { unsafe String(cString: $0) } ?? "")
    }
}

/// Receives the bytes that cairo writes.
private final class PictureFile {
    var bytes: [UInt8] = []
}

@c private func receivePictureBytes(
    _ file: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: UInt32
) -> cairo_status_t {
    guard let file = unsafe file, let bytes = unsafe bytes else { return CAIRO_STATUS_WRITE_ERROR }
    let start = unsafe UnsafeBufferPointer(start: bytes, count: Int(count))
    unsafe Unmanaged<PictureFile>.fromOpaque(file).takeUnretainedValue().bytes.append(contentsOf: start)
    return CAIRO_STATUS_SUCCESS
}
