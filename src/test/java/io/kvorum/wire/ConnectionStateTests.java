package io.kvorum.wire;

import io.kvorum.wire.ConnectionState.Phase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Each transition, by the events that lead to it. */
class ConnectionStateTests {

	private final ConnectionState state = new ConnectionState();

	/** The body of {@code get} has ended, that of {@code put} has not. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			''                                     | NEW       | false | false | false
			headBegins                             | HEAD      | false | false | false
			headBegins headEnds                    | BODY      | true  | true  | false
			headBegins headEnds bodyEnds           | SERVING   | true  | false | false
			get answerBegins                       | SERVING   | true  | false | false
			get answerBegins answerEnds            | SERVING   | true  | false | true
			get answerEnds                         | SERVING   | true  | false | false
			get whole answered                     | SENDING   | true  | false | true
			get whole answered finished            | IDLE      | false | false | false
			get whole answered finished get answered | SERVING | true  | false | true
			put whole answered                     | BODY      | true  | true  | true
			get answerBegins answerEnds finished   | IDLE      | false | false | false
			get answered finished headBegins       | HEAD      | false | false | false
			get answered finished put              | BODY      | true  | true  | false
			put answerBegins answerEnds            | BODY      | true  | true  | true
			put answered bodyEnds                  | SERVING   | true  | false | true
			put answered bodyEnds finished         | IDLE      | false | false | false
			put answered finished                  | BODY      | false | true  | false
			put answered finished bodyEnds         | IDLE      | false | false | false
			answerBegins answerEnds                | NEW       | false | false | false
			put discardRest                        | BODY      | true  | true  | false
			put discardRest answered               | BODY      | true  | true  | true
			leave                                  | NEW       | false | false | false
			leave get                              | SERVING   | true  | false | false
			get lastAnswerBegins                   | SERVING   | true  | false | false
			end                                    | LINGERING | false | true  | false
			headBegins end                         | LINGERING | false | true  | false
			get answered finished headBegins end   | LINGERING | false | true  | false
			put answered close                     | LINGERING | true  | true  | true
			get close                              | SERVING   | true  | false | false""")
	void afterTheseEvents(String events, Phase phase, boolean busy, boolean bodyOutstanding, boolean answered) {
		happen(events);

		assertThat(this.state.phase()).isEqualTo(phase);
		assertThat(this.state.isBusy()).as("busy").isEqualTo(busy);
		assertThat(this.state.isBodyOutstanding()).as("body outstanding").isEqualTo(bodyOutstanding);
		assertThat(this.state.isAnswered()).as("answered").isEqualTo(answered);
		assertThat(this.state.isHeadBegun()).as("head begun").isEqualTo(phase == Phase.HEAD);
		assertThat(this.state.isEnded()).as("ended").isEqualTo(phase == Phase.LINGERING);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			''                          | leave      | false | true
			''                          | leave      | true  | false
			headBegins                  | leave      | false | false
			get                         | leave      | false | false
			put                         | leave      | false | false
			get answered                | leave      | false | false
			get answered finished       | leave      | false | true
			get answered finished       | leave      | true  | false
			put answered finished       | leave      | false | true
			get answerBegins            | answerEnds | false | false
			get lastAnswerBegins        | answerEnds | false | true
			get lastAnswerBegins        | answerEnds | true  | true
			get lastAnswerBegins leave  | answerEnds | true  | true
			leave get lastAnswerBegins  | answerEnds | true  | true
			leave get answerBegins      | answerEnds | false | true
			leave get answerBegins      | answerEnds | true  | false
			leave get                   | answerEnds | false | false
			get answered                | finished   | false | false
			get answered leave          | finished   | false | true
			get answered leave          | finished   | true  | false
			put answered leave          | finished   | false | true""")
	void theConnectionIsClosedByThisEvent(String before, String event, boolean bytesHeld, boolean isClosed) {
		happen(before);

		assertThat(happens(event, bytesHeld)).isEqualTo(isClosed);
	}

	/** A socket that is closed with unread bytes takes the answer from its client. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			''                              | false | false
			''                              | true  | false
			headBegins                      | true  | false
			get                             | true  | false
			put                             | false | false
			put answerBegins                | false | false
			get answered                    | false | false
			get answered                    | true  | true
			put answered                    | false | true
			put discardRest answered        | false | true
			get answered finished           | false | false
			get answered finished           | true  | true
			put answered finished           | false | true
			get answered finished get       | true  | false
			end                             | false | true""")
	void aCloseLingersWhereTheClientIsAnsweredAndStillSends(String before, boolean bytesHeld, boolean lingers) {
		happen(before);

		assertThat(this.state.close(bytesHeld)).isEqualTo(lingers);
		assertThat(this.state.isEnded()).isEqualTo(lingers);
	}

	@Test
	void anEndIsFinal() {
		happen("get end lastAnswerBegins answerEnds finished leave");

		assertThat(this.state.phase()).isEqualTo(Phase.LINGERING);
		assertThat(this.state.isDiscarding()).isTrue();
	}

	@Test
	void whatArrivesIsThrownAwayAfterABodyHasFailedOnly() {
		happen("put");
		assertThat(this.state.isDiscarding()).isFalse();
		happen("discardRest");
		assertThat(this.state.isDiscarding()).isTrue();
	}

	@Test
	void requestsAndTheBytesOfTheirBodiesAreCounted() {
		happen("put");
		this.state.bodyArrives(3);
		happen("bodyEnds answered finished put");
		this.state.bodyArrives(4);

		assertThat(this.state.requests()).isEqualTo(2);
		assertThat(this.state.bodyBytes()).isEqualTo(7);
	}

	private void happen(String events) {
		for (String event : events.split(" ", -1)) {
			happens(event, false);
		}
	}

	private boolean happens(String event, boolean bytesHeld) {
		return switch (event) {
			case "answerEnds" -> this.state.answerEnds(bytesHeld);
			case "finished" -> this.state.finished(bytesHeld);
			case "leave" -> this.state.leave(bytesHeld);
			case "close" -> this.state.close(bytesHeld);
			default -> {
				told(event);
				yield false;
			}
		};
	}

	private void told(String event) {
		switch (event) {
			case "" -> {
			}
			case "headBegins" -> this.state.headBegins();
			case "headEnds" -> this.state.headEnds();
			case "bodyEnds" -> this.state.bodyEnds();
			case "discardRest" -> this.state.discardRest();
			case "whole" -> this.state.answerIsWhole();
			case "answerBegins" -> this.state.answerBegins(false);
			case "lastAnswerBegins" -> this.state.answerBegins(true);
			case "end" -> this.state.end();
			case "put" -> happen("headBegins headEnds");
			case "get" -> happen("put bodyEnds");
			case "answered" -> happen("answerBegins answerEnds");
			default -> throw new IllegalArgumentException("no such event: " + event);
		}
	}

}
