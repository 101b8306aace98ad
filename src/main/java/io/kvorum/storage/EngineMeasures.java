package io.kvorum.storage;

import java.util.List;
import java.util.function.DoubleSupplier;

/** The measurements of a storage engine. */
public interface EngineMeasures {

	List<Measure> measures();

	/**
	 * One measurement.
	 *
	 * @param name dotted, like the name of a meter
	 * @param unit the base unit, or the empty string for a plain number
	 * @param cumulative whether it only grows
	 * @param reader reads it; NaN while the store is not open
	 */
	record Measure(String name, String description, String unit, boolean cumulative, DoubleSupplier reader) {
	}

}
