package io.kvorum.backup;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.kvorum.backup.BackupException.Kind;
import io.kvorum.clock.TimeSource;
import io.kvorum.storage.Checkpoints;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Serves an operator's requests to the backups of a node, on threads of its own. Only one
 * backup, check or removal runs at a time; a second one is refused. Cancellation of a
 * request does not stop its work. Errors are {@link BackupException}s.
 */
public final class BackupService {

	/** Limit of the tasks that wait for each thread. */
	public static final int QUEUE_LENGTH = 16;

	private final @Nullable Backups backups;

	private final Scheduler scheduler;

	private final Scheduler lists;

	private final AtomicBoolean isWorking = new AtomicBoolean();

	/**
	 * Creates the service of a node.
	 * @param settings null if no directory is set: then every request is refused
	 * @param scheduler runs backups, checks and removals; disposed of by its owner
	 * @param lists runs lists, which do not wait for the other work; disposed of too
	 */
	public BackupService(@Nullable BackupSettings settings, Checkpoints checkpoints, BackedUpNode node, TimeSource time,
			BackupEvents events, Scheduler scheduler, Scheduler lists) {
		this.backups = (settings != null) ? new Backups(settings, checkpoints, node, time, events) : null;
		this.scheduler = scheduler;
		this.lists = lists;
	}

	/**
	 * A backup.
	 *
	 * @param manifest null if it cannot be read
	 * @param problem why it cannot be used, as far as was checked; null if it can
	 */
	public record Described(BackupName name, @Nullable BackupManifest manifest, @Nullable String problem) {

		private static Described of(Backups.Listed listed) {
			return new Described(listed.name(), listed.manifest(), listed.problem());
		}

	}

	/** Whether backups have a directory. */
	public boolean isConfigured() {
		return this.backups != null;
	}

	/** Makes a backup, named after the time if the name is null. */
	public Mono<BackupManifest> create(@Nullable BackupName name) {
		return alone(() -> backups().create(name));
	}

	/** All backups, the newest first; reads their manifests only. */
	public Mono<List<Described>> list() {
		return work(this.lists, () -> backups().list().stream().map(Described::of).toList(), () -> {
		});
	}

	/** Reads every file of a backup again and compares it with the manifest. */
	public Mono<Described> verify(BackupName name) {
		return alone(() -> Described.of(backups().verify(name)));
	}

	public Mono<BackupName> remove(BackupName name) {
		return alone(() -> {
			backups().remove(name);
			return name;
		});
	}

	/**
	 * Removes what a crash has left and reports the newest backup, at the start of the
	 * node.
	 */
	public Mono<Boolean> tidy() {
		Backups configured = this.backups;
		return (configured == null) ? Mono.empty() : alone(() -> {
			configured.tidy();
			return true;
		});
	}

	private Backups backups() {
		if (this.backups == null) {
			throw new BackupException(Kind.NOT_CONFIGURED,
					"Backups have no directory: set kvorum.backup.directory and restart the node.");
		}
		return this.backups;
	}

	private <T> Mono<T> alone(Supplier<T> work) {
		return Mono.defer(() -> {
			if (!this.isWorking.compareAndSet(false, true)) {
				return Mono.error(new BackupException(Kind.BUSY,
						"Another backup, check or removal is under way: only one runs at a time. Try again when it is over."));
			}
			return work(this.scheduler, () -> {
				try {
					return work.get();
				}
				finally {
					this.isWorking.set(false);
				}
			}, () -> this.isWorking.set(false));
		});
	}

	/**
	 * Runs work as a future, which cancellation does not reach.
	 * @param whenRejected runs if the scheduler does not accept the work
	 */
	private static <T> Mono<T> work(Scheduler scheduler, Supplier<T> work, Runnable whenRejected) {
		return Mono.defer(() -> {
			try {
				return Mono.fromFuture(CompletableFuture.supplyAsync(work, scheduler::schedule), true);
			}
			catch (RejectedExecutionException ex) {
				whenRejected.run();
				return Mono.error(new BackupException(Kind.BUSY,
						"Too much is asked of the backups of this node at the same time. Try again later.", ex));
			}
		});
	}

}
