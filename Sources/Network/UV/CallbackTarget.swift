/// A weak reference to the object that callbacks call, for callbacks that are created before the object. The callbacks
/// capture this reference, and `target` is set later.
public final class CallbackTarget<Target: AnyObject> {
    public weak var target: Target?

    public init() {}
}
