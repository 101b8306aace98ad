package io.kvorum.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * Silences simulated nodes, which warn of whatever goes wrong, where that is all the
 * time. Other tests run beside them, and nodes of those may warn.
 */
public final class WarningsFilter extends TurboFilter {

	private static final ThreadLocal<Boolean> SIMULATES = ThreadLocal.withInitial(() -> false);

	/** Runs nodes on this thread, of which only errors are logged. */
	static void silence(Runnable simulation) {
		SIMULATES.set(true);
		try {
			simulation.run();
		}
		finally {
			SIMULATES.remove();
		}
	}

	@Override
	public FilterReply decide(@Nullable Marker marker, Logger logger, Level level, @Nullable String format,
			Object @Nullable [] params, @Nullable Throwable thrown) {
		return (SIMULATES.get() && !level.isGreaterOrEqual(Level.ERROR)) ? FilterReply.DENY : FilterReply.NEUTRAL;
	}

}
