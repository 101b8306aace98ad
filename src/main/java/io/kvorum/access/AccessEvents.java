package io.kvorum.access;

/** Receives denials and changes of the keys, for meters. Called by any thread. */
public interface AccessEvents {

	/** Ignores all events. */
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

	/**
	 * The keys file has changed.
	 * @param usable whether its keys are in use now; otherwise the previous ones stay in
	 * use
	 */
	void reloaded(boolean usable);

}
