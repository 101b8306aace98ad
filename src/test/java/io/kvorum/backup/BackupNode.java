package io.kvorum.backup;

import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** A node of three, as a test says. */
final class BackupNode implements BackedUpNode {

	static final Origin A = new Origin("http://a:1", List.of("http://a:1", "http://b:1", "http://c:1"), 3, 0, "1.0");

	Supplier<Origin> origin = () -> A;

	@Nullable String doubt;

	boolean converged = true;

	@Override
	public Origin origin() {
		return this.origin.get();
	}

	@Override
	public long identity() {
		return 0xabc;
	}

	@Override
	public @Nullable String doubt() {
		return this.doubt;
	}

	@Override
	public boolean isConverged() {
		return this.converged;
	}

}
