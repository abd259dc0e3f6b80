// Rate and pitch, apart from each other, by SoundTouch.
