package io.kvorum.storage;

import java.util.List;
import java.util.function.DoubleSupplier;

/** The measures of a storage engine. */
public interface EngineMeasures {

	List<Measure> measures();

	/**
	 * One measure.
	 *
	 * @param name dotted, as names of meters
	 * @param unit the base unit, or the empty string for a plain number
	 * @param cumulative whether its value only grows
	 * @param reader reads the value; NaN while the store is not open
	 */
	record Measure(String name, String description, String unit, boolean cumulative, DoubleSupplier reader) {
	}

}
