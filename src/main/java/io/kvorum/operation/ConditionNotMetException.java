package io.kvorum.operation;

import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * Reports that the condition of a write did not hold: the write did not happen. It has no
 * stack trace, since a busy lock throws thousands.
 */
public final class ConditionNotMetException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient @Nullable Version current;

	/**
	 * Creates the report.
	 * @param current the identity of the value at that time; null if the key had none
	 */
	public ConditionNotMetException(@Nullable Version current) {
		super("the condition of the write does not hold", null, false, false);
		this.current = current;
	}

	public @Nullable Version current() {
		return this.current;
	}

}
