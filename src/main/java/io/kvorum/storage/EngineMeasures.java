package io.kvorum.storage;

import java.util.List;
import java.util.function.DoubleSupplier;

/** What a storage engine measures of itself. */
public interface EngineMeasures {

	List<Measure> measures();

	/**
	 * One figure.
	 *
	 * @param name dotted, as meters are named
	 * @param unit the base unit, or the empty string for a plain number
	 * @param cumulative whether it only grows
	 * @param reader reads it; NaN while the store is not open
	 */
	record Measure(String name, String description, String unit, boolean cumulative, DoubleSupplier reader) {
	}

}
