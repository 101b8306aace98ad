package io.kvorum.quorum;

import io.kvorum.kv.Entry;
import io.kvorum.kv.Version;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a replica, or what is known of a silent one. A failure is a reply like
 * any other and no error signal: it counts in the decision.
 */
public sealed interface Reply {

	/** The outcome for meters and traces: {@code ok}, or the reason of a failure. */
	default String outcome() {
		return (this instanceof Failed failed) ? failed.reason().text() : "ok";
	}

	/** What stood in the way, if the replica has refused by a promise; else null. */
	default @Nullable Refusal refusal() {
		return null;
	}

	/**
	 * The answer to a read: what the replica holds.
	 *
	 * @param version {@link Version#ABSENT} if it holds nothing
	 * @param entry null if it holds nothing, or was asked for the version only
	 */
	record Held(Version version, @Nullable Entry entry) implements Reply {

		private static final Held NOTHING = new Held(Version.ABSENT, null);

		public static Held of(Entry entry) {
			return new Held(entry.version(), entry);
		}

		public static Held nothing() {
			return NOTHING;
		}

		/** Whether the replica holds an entry that this reply does not have. */
		public boolean lacksEntry() {
			return this.entry == null && !this.version.equals(Version.ABSENT);
		}

	}

	/** The answer to a store: the entry, or a newer one, is durable as promised. */
	enum Acknowledged implements Reply {

		INSTANCE

	}

	/** The answer to a scan or another query. Its form is known to the caller. */
	non-sealed interface Told extends Reply {

	}

	/**
	 * The replica did not do what it was asked to.
	 *
	 * @param detail what happened, for people; no keys, no values
	 * @param mayHaveHappened whether a store may have happened nonetheless, or may yet
	 * @param mayRetry whether the same may succeed when tried again
	 * @param refusal what stood in the way, if the reason is {@link Reason#PROMISED};
	 * else null
	 */
	record Failed(Reason reason, String detail, boolean mayHaveHappened, boolean mayRetry,
			@Nullable Refusal refusal) implements Reply {

		public Failed(Reason reason, String detail, boolean mayHaveHappened, boolean mayRetry) {
			this(reason, detail, mayHaveHappened, mayRetry, null);
		}

		/** Nothing was done, and it may succeed when tried again. */
		public static Failed notDone(Reason reason, String detail) {
			return new Failed(reason, detail, false, true);
		}

		/** It is unknown whether it was done. */
		public static Failed unknown(Reason reason, String detail) {
			return new Failed(reason, detail, true, true);
		}

	}

	/**
	 * The state of a key at a replica that refused a write or a ballot of it.
	 *
	 * @param promise the ballot below which the replica stores nothing;
	 * {@link Version#ABSENT} if there is none
	 * @param held the version that it holds; {@link Version#ABSENT} if it holds nothing
	 */
	record Refusal(Version promise, Version held) {

		/** The version above which a ballot succeeds. */
		public Version highest() {
			return this.promise.isNewerThan(this.held) ? this.promise : this.held;
		}

		/** The failure of the call that was refused. Nothing was stored. */
		public Failed toFailed() {
			return new Failed(Reason.PROMISED, "a conditional write of the key is under way, or came in between", false,
					true, this);
		}

	}

	/** Why a replica failed. */
	enum Reason {

		/** A limit of the replica is reached. */
		OVERLOADED(1, "overloaded"),

		/** Its store is not open, or has failed. */
		UNAVAILABLE(2, "unavailable"),

		/** Its disk is full. */
		NO_SPACE(3, "no-space"),

		/** The entry of the replica cannot be read. */
		UNREADABLE(4, "unreadable"),

		/** Its disk did not take the write. */
		WRITE_FAILED(5, "write-failed"),

		/** It has not answered in time. */
		TIMEOUT(6, "timeout"),

		/** The version is too far ahead of its clock. */
		CLOCK(7, "clock"),

		/** It is known to be away and was not asked. */
		AWAY(8, "away"),

		/** It refuses this node: another topology, secret or protocol, or by TLS. */
		REFUSED(9, "refused"),

		/** The connection broke, or went silent, before the answer. */
		DISCONNECTED(10, "disconnected"),

		/** It met an error it did not expect. */
		INTERNAL(11, "internal-error"),

		/** It does not have all that it once acknowledged, and is being rebuilt. */
		REBUILDING(12, "rebuilding"),

		/** This node refuses it: TLS has not proven that it is the dialled replica. */
		UNTRUSTED(13, "untrusted"),

		/** It has promised a higher ballot, or holds what the proposer has not seen. */
		PROMISED(14, "promised"),

		/** Its release knows no conditional writes. */
		OUTDATED(15, "outdated");

		private static final Reason[] BY_CODE = new Reason[values().length + 1];

		static {
			for (Reason reason : values()) {
				BY_CODE[reason.code] = reason;
			}
		}

		private final int code;

		private final String text;

		Reason(int code, String text) {
			this.code = code;
			this.text = text;
		}

		/** The code in the replica protocol. */
		public int code() {
			return this.code;
		}

		/** The reason with this code; an internal error if there is none. */
		public static Reason ofCode(long code) {
			return (code > 0 && code < BY_CODE.length) ? BY_CODE[(int) code] : INTERNAL;
		}

		/** The name in problem details and meters. */
		public String text() {
			return this.text;
		}

	}

}
