package io.kvorum.access;

/** An observer of denials and of changes of the keys. Called by any thread. */
public interface AccessEvents {

	/** Counts nothing. */
	AccessEvents NONE = new AccessEvents() {

		@Override
		public void denied(Denial why) {
		}

		@Override
		public void reloaded(boolean usable) {
		}

	};

	/** A request was denied. */
	void denied(Denial why);

	/** The file of the keys has changed and is in use, or cannot be used. */
	void reloaded(boolean usable);

}
