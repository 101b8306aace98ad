package io.kvorum.clock;

/** The source of time of a node: the machine's clocks, or those of a test. */
public interface TimeSource {

	/** The clocks of this machine. */
	TimeSource SYSTEM = new SystemTimeSource();

	/** Milliseconds since 1970; may jump either way. */
	long millis();

	/** Nanoseconds from an arbitrary origin; never goes back. */
	long nanos();

}
