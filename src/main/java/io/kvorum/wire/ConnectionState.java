package io.kvorum.wire;

/**
 * The state of one connection, in three parts. The answer may be written before the body
 * has arrived, so {@code incoming} and {@code answer} are apart. Pure: the handlers of
 * the connection tell it what happens, and whether bytes of a next request are held.
 *
 * <pre>
 *  incoming  NOTHING → headBegins → HEAD → headEnds → BODY → bodyEnds → NOTHING
 *            any → discardRest, end, close (if it lingers) → DISCARDED
 *
 *  answer    NONE → headEnds → AWAITED → answerBegins → BEGUN → answerEnds → WRITTEN → finished → NONE
 *
 *  end       OPEN → leave → LEAVING
 *            OPEN, LEAVING → answerBegins (if it is the last) → LAST_ANSWER
 *            any → end, close (if it lingers) → ENDED
 * </pre>
 */
final class ConnectionState {

	/** The work of a connection, as its time limits see it. */
	enum Phase {

		/** Accepted, not a byte yet. */
		NEW,
		/** Between two requests. */
		IDLE,
		/** Part of a head has arrived. */
		HEAD,
		/** A body is outstanding. */
		BODY,
		/** The server's turn: the application has its own deadlines. */
		SERVING,
		/** Answered with all that is to be sent, and the client takes it. */
		SENDING,
		/** Answered for the last time; the client is given time to read that. */
		LINGERING

	}

	/** BODY: outstanding, or broken. DISCARDED: whatever arrives is thrown away. */
	private enum Incoming {

		NOTHING, HEAD, BODY, DISCARDED

	}

	/** NONE: no request is under way. WRITTEN: the answerer is not through yet. */
	private enum Answer {

		NONE, AWAITED, BEGUN, WRITTEN

	}

	/** LEAVING: kept for what is under way, and no longer. */
	private enum End {

		OPEN, LEAVING, LAST_ANSWER, ENDED

	}

	private Incoming incoming = Incoming.NOTHING;

	private Answer answer = Answer.NONE;

	private End end = End.OPEN;

	/** Whether the answer was written at once, and has a bound. */
	private boolean isWhole;

	private int requests;

	private long bodyBytes;

	/** The first byte of a head has arrived. */
	void headBegins() {
		this.incoming = Incoming.HEAD;
	}

	/** A request is handed out, a broken one too. */
	void headEnds() {
		this.requests++;
		this.incoming = Incoming.BODY;
		this.answer = Answer.AWAITED;
		this.isWhole = false;
	}

	/** A part of a body has arrived. */
	void bodyArrives(int bytes) {
		this.bodyBytes += bytes;
	}

	/** The body has arrived whole. */
	void bodyEnds() {
		this.incoming = Incoming.NOTHING;
	}

	/** The body has failed: its rest is not wanted. */
	void discardRest() {
		this.incoming = Incoming.DISCARDED;
	}

	/**
	 * The head of the answer is written.
	 * @param last whether the connection is to be closed behind the answer
	 */
	void answerBegins(boolean last) {
		if (this.answer == Answer.AWAITED) {
			this.answer = Answer.BEGUN;
			if (last && !isEnded()) {
				this.end = End.LAST_ANSWER;
			}
		}
	}

	/** The answer that begins is written at once, all of it. */
	void answerIsWhole() {
		this.isWhole = true;
	}

	/**
	 * The end of an answer is written. An interim response (100) ends too, and changes
	 * nothing.
	 * @return whether the connection is to be closed behind it
	 */
	boolean answerEnds(boolean bytesHeld) {
		if (this.answer != Answer.BEGUN) {
			return false;
		}
		this.answer = Answer.WRITTEN;
		return this.end == End.LAST_ANSWER || (this.end == End.LEAVING && !bytesHeld);
	}

	/**
	 * The answer is away, and the answerer has nothing more to do with the request.
	 * @return whether the connection is to be closed
	 */
	boolean finished(boolean bytesHeld) {
		this.answer = Answer.NONE;
		return this.end == End.LEAVING && isQuiet(bytesHeld);
	}

	/**
	 * A drain gives up the connection: its time without a request is over.
	 * @return whether the connection is to be closed at once
	 */
	boolean leave(boolean bytesHeld) {
		if (this.end == End.OPEN) {
			this.end = End.LEAVING;
		}
		return isQuiet(bytesHeld);
	}

	private boolean isQuiet(boolean bytesHeld) {
		return this.answer == Answer.NONE && this.incoming != Incoming.HEAD && !bytesHeld;
	}

	/**
	 * The connection is being closed by the server.
	 * @return whether it must linger: its client has been answered and still sends
	 */
	boolean close(boolean bytesHeld) {
		boolean answered = this.answer == Answer.WRITTEN || (this.answer == Answer.NONE && this.requests > 0);
		if (answered && (isBodyOutstanding() || bytesHeld)) {
			end();
		}
		return isEnded();
	}

	/** The connection gets its last answer, and no request is answered any more. */
	void end() {
		this.end = End.ENDED;
		this.incoming = Incoming.DISCARDED;
	}

	Phase phase() {
		if (isEnded()) {
			return Phase.LINGERING;
		}
		if (isBodyOutstanding()) {
			return Phase.BODY;
		}
		if (isBusy()) {
			return (isAnswered() && this.isWhole) ? Phase.SENDING : Phase.SERVING;
		}
		if (isHeadBegun()) {
			return Phase.HEAD;
		}
		return (this.requests == 0) ? Phase.NEW : Phase.IDLE;
	}

	/** Whether a part of the next request's head has arrived. */
	boolean isHeadBegun() {
		return this.incoming == Incoming.HEAD;
	}

	/** Whether the body of the last request is still to come, or broken. */
	boolean isBodyOutstanding() {
		return this.incoming == Incoming.BODY || this.incoming == Incoming.DISCARDED;
	}

	/** Whether whatever arrives is thrown away. */
	boolean isDiscarding() {
		return this.incoming == Incoming.DISCARDED;
	}

	/** Whether a request is handed out and not finished. */
	boolean isBusy() {
		return this.answer != Answer.NONE;
	}

	/** Whether a request is answered and not finished. */
	boolean isAnswered() {
		return this.answer == Answer.WRITTEN;
	}

	/** Whether the connection has been answered for the last time. */
	boolean isEnded() {
		return this.end == End.ENDED;
	}

	/** Requests handed out so far, broken ones included. */
	int requests() {
		return this.requests;
	}

	/** Bytes of all bodies so far: grows while a body arrives. */
	long bodyBytes() {
		return this.bodyBytes;
	}

}
