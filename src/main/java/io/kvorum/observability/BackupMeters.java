package io.kvorum.observability;

import java.util.concurrent.TimeUnit;

import io.kvorum.backup.BackupEvents;
import io.kvorum.clock.TimeSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;

/** Meters of the backups of a node. */
final class BackupMeters implements BackupEvents {

	private final TimeSource time;

	private final Timer duration;

	private final Counter failures;

	private volatile Newest newest = Newest.NONE;

	BackupMeters(MeterRegistry registry, TimeSource time) {
		this.time = time;
		TimeGauge.builder("kvorum.backup.last.success", this, TimeUnit.MILLISECONDS, BackupMeters::ageMillis)
			.description("Age of the newest backup; NaN if there is none")
			.register(registry);
		Gauge.builder("kvorum.backup.size", this, it -> it.newest.bytes())
			.description("Size of the files of the newest backup; NaN if there is none")
			.baseUnit("bytes")
			.register(registry);
		this.duration = Timer.builder("kvorum.backup.duration")
			.description("Backups that were made, with the time that each took")
			.register(registry);
		this.failures = Counter.builder("kvorum.backup.failures")
			.description("Backups that were requested and failed")
			.register(registry);
	}

	/**
	 * Gauge that tells whether backups are configured. If they are not, no backup can be
	 * missing.
	 */
	static MeterBinder configured(boolean isConfigured) {
		return registry -> Gauge.builder("kvorum.backup.configured", () -> isConfigured ? 1 : 0)
			.description("1 if backups have a directory, 0 if they have none")
			.register(registry);
	}

	private double ageMillis() {
		return Math.max(0, this.time.millis() - this.newest.madeMillis());
	}

	@Override
	public void found(long madeMillis, long bytes) {
		this.newest = new Newest(madeMillis, bytes);
	}

	@Override
	public void foundNone() {
		this.newest = Newest.NONE;
	}

	@Override
	public void made(long madeMillis, long bytes, long nanos) {
		found(madeMillis, bytes);
		this.duration.record(nanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void failed() {
		this.failures.increment();
	}

	/** Figures of the newest backup; NaN if there is none. */
	private record Newest(double madeMillis, double bytes) {

		static final Newest NONE = new Newest(Double.NaN, Double.NaN);

	}

}
