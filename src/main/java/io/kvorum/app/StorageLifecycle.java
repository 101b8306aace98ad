package io.kvorum.app;

import java.time.Duration;

import io.kvorum.backup.Restore;
import io.kvorum.clock.HybridLogicalClock;
import io.kvorum.clock.TimeSource;
import io.kvorum.cluster.Layout;
import io.kvorum.cluster.Topology;
import io.kvorum.convergence.antientropy.RepairLog;
import io.kvorum.convergence.change.ChangeState;
import io.kvorum.convergence.quarantine.NodeState;
import io.kvorum.storage.StoreOpenException;
import io.kvorum.storage.rocksdb.RocksStorage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import reactor.core.publisher.Mono;

/**
 * Opens the store before the HTTP port, and closes it after the last response and after
 * that port.
 */
final class StorageLifecycle implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(StorageLifecycle.class);

	/**
	 * Time limit for closing the store. With the time for requests, a stop takes less
	 * than 10 s.
	 */
	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

	private final RocksStorage storage;

	private final HybridLogicalClock clock;

	private final TimeSource time;

	private final Restore restore;

	private volatile boolean running;

	private final RepairLog repairs;

	/** The node's state in its cluster; null for a node without peers. */
	private final @Nullable NodeState state;

	/** The node's layouts; null for a node without peers. */
	private final @Nullable LiveLayout live;

	/** The nodes to begin with; null if this node waits to be added. */
	private final @Nullable Topology begins;

	/** Whether the store may belong to another address. */
	private final boolean acceptsAddress;

	/** Whether this node is taken as it is, whatever others had. */
	private final boolean acceptsLoss;

	StorageLifecycle(RocksStorage storage, HybridLogicalClock clock, TimeSource time, Restore restore,
			RepairLog repairs, @Nullable NodeState state, @Nullable LiveLayout live, @Nullable Topology begins,
			boolean acceptsAddress, boolean acceptsLoss) {
		this.storage = storage;
		this.restore = restore;
		this.clock = clock;
		this.time = time;
		this.repairs = repairs;
		this.state = state;
		this.live = live;
		this.begins = begins;
		this.acceptsAddress = acceptsAddress;
		this.acceptsLoss = acceptsLoss;
	}

	@Override
	public void start() {
		this.restore.run();
		this.storage.open();
		claim();
		letTimePass();
		// A failure means a full disk: the node serves reads, and writes once there is
		// space.
		this.clock.start(this.storage.identity(), this.storage.clockBoundMillis(), this.storage::storeClockBound)
			.exceptionally(_ -> null)
			.toCompletableFuture()
			.join();
		if (this.live != null) {
			this.live.open();
		}
		else {
			this.repairs.load();
		}
		if (this.state != null) {
			warnOfClock();
			load(this.state);
		}
		this.running = true;
	}

	private void claim() {
		try {
			// A failure means a full disk: the next start records it.
			claimed().onErrorComplete().toFuture().join();
		}
		catch (StoreOpenException ex) {
			this.storage.close();
			throw ex;
		}
	}

	private Mono<Void> claimed() {
		Layout last = ChangeState.layoutIn(this.storage);
		Mono<Void> claimed = (this.state != null)
				? this.state.claim(this.acceptsAddress, (last != null) ? last.topology() : null) : Mono.empty();
		// A node with peers begins with the layout of its disk, if it has one.
		boolean isLayoutKept = this.state != null && last != null;
		return (isLayoutKept || this.begins == null) ? claimed : claimed
			.then(NodeState.claimWithoutOthers(this.storage, this.begins, this.acceptsAddress, this.acceptsLoss));
	}

	private void warnOfClock() {
		long aheadMillis = this.clock.driftMillis();
		if (aheadMillis > HybridLogicalClock.MAX_LEAD_MILLIS) {
			logger.warn(
					"Versions that this node has given are {} ms ahead of its clock, the limit is {} ms: it coordinates no writes until the clock has caught up. Its clock is behind now, or was ahead before: see KvorumClockBehind in operations.md",
					aheadMillis, HybridLogicalClock.MAX_LEAD_MILLIS);
		}
	}

	private static void load(NodeState state) {
		// A failure means a full disk: the state is recorded later.
		state.load().onErrorComplete().toFuture().join();
	}

	/**
	 * Waits until other nodes accept this node's versions. After a crash versions
	 * continue above the stored bound, which may be two seconds ahead of the clock. Other
	 * nodes refuse versions that are more than half a second ahead. That time has usually
	 * passed during the start. If the bound is further ahead, the machine's clock was set
	 * back, and no wait would help.
	 */
	private void letTimePass() {
		long firstMillis = this.storage.clockBoundMillis() + 1;
		long tooEarlyMillis = firstMillis - this.time.millis() - HybridLogicalClock.MAX_LEAD_MILLIS;
		if (tooEarlyMillis > 0 && tooEarlyMillis <= HybridLogicalClock.AHEAD_MILLIS) {
			try {
				// On the main thread, before any port is open.
				Thread.sleep(tooEarlyMillis);
			}
			catch (InterruptedException _) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Closes the store on a thread of its own. If the disk hangs, the process ends
	 * without closing, and no acknowledged write is lost.
	 */
	@Override
	public void stop() {
		this.running = false;
		Thread closer = Thread.ofPlatform().name("kvorum-close").daemon().start(this::close);
		try {
			if (!closer.join(CLOSE_TIMEOUT)) {
				logger.warn(
						"The store was not closed within {}: the process ends all the same, and the next start reads the log",
						CLOSE_TIMEOUT);
			}
		}
		catch (InterruptedException _) {
			Thread.currentThread().interrupt();
		}
	}

	private void close() {
		if (this.state != null) {
			// A failure means a full disk: the next start does not know of this stop.
			this.state.noteStop().onErrorComplete().toFuture().join();
		}
		this.storage.close();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/** Phase far below those of the web server and its graceful shutdown. */
	@Override
	public int getPhase() {
		return 0;
	}

}
