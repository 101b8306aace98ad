package io.kvorum.layout;

/** Reports that a change of the nodes was refused, and why. Nothing was changed. */
public final class LayoutRefusedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final boolean isConflict;

	private LayoutRefusedException(boolean isConflict, String why) {
		super(why);
		this.isConflict = isConflict;
	}

	/** Another change is under way, or has won. */
	static LayoutRefusedException conflict(String why) {
		return new LayoutRefusedException(true, why);
	}

	/** The change makes no sense, or cannot be made now. */
	static LayoutRefusedException impossible(String why) {
		return new LayoutRefusedException(false, why);
	}

	public boolean isConflict() {
		return this.isConflict;
	}

}
