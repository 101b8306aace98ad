package io.kvorum.storage.rocksdb;

import java.util.concurrent.Executor;

import io.kvorum.kv.Key;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import reactor.core.publisher.MonoSink;

/** The writes of the committer for hints. */
final class HintWrites {

	private HintWrites() {
	}

	/** Keeps a hint, unless a newer one waits. */
	static final class Add extends Write<Boolean> {

		private final long target;

		private final Key key;

		private final Version version;

		private final byte[] entry;

		private boolean added;

		Add(long target, Key key, Version version, byte[] entry, MonoSink<Boolean> sink, Executor caller,
				long queuedNanos) {
			super(sink, caller, queuedNanos);
			this.target = target;
			this.key = key;
			this.version = version;
			this.entry = entry;
		}

		@Override
		int weight() {
			return OVERHEAD_BYTES + this.key.bytes().length + this.entry.length;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			this.added = batch.hints().add(this.target, this.key, this.version, this.entry);
		}

		@Override
		Boolean result() {
			return this.added;
		}

	}

	/** Removes a hint, unless a newer one waits. */
	static final class Remove extends Write<Void> {

		private final long target;

		private final Key key;

		private final Version version;

		Remove(long target, Key key, Version version, MonoSink<Void> sink, Executor caller, long queuedNanos) {
			super(sink, caller, queuedNanos);
			this.target = target;
			this.key = key;
			this.version = version;
		}

		@Override
		boolean needsSpace() {
			return false;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			batch.hints().remove(this.target, this.key, this.version);
		}

		@Override
		@Nullable Void result() {
			return null;
		}

	}

	/** Removes all hints for a node. */
	static final class RemoveAll extends Write<Void> {

		private final long target;

		RemoveAll(long target, MonoSink<Void> sink, Executor caller, long queuedNanos) {
			super(sink, caller, queuedNanos);
			this.target = target;
		}

		@Override
		boolean needsSpace() {
			return false;
		}

		@Override
		void addTo(Batch batch) throws RocksDBException {
			batch.hints().removeAll(this.target);
		}

		@Override
		@Nullable Void result() {
			return null;
		}

	}

}
