package io.kvorum.replication;

import java.io.IOException;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.kvorum.storage.StorageException;
import io.kvorum.testing.Now;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

class FailureLogTests {

	private final Logger logger = (Logger) LoggerFactory.getLogger(FailureLogTests.class);

	private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

	private final FailureLog failures = new FailureLog(this.logger, "It was given up: {}");

	@BeforeEach
	void listen() {
		this.logger.setAdditive(false);
		this.lines.start();
		this.logger.addAppender(this.lines);
	}

	@AfterEach
	void listenNoMore() {
		this.logger.detachAppender(this.lines);
		this.logger.setAdditive(true);
	}

	private void fail(Throwable error) {
		assertThat(Now.of(this.failures.tell(Mono.error(error)))).as("it completes").isNull();
	}

	private List<String> told() {
		return this.lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	@Test
	void eachReasonIsToldOnceUntilItSucceedsOrFailsForAnotherOne() {
		StorageException full = new StorageException.Unavailable("it is full");
		StorageException other = new StorageException.Unavailable("it is closed");

		fail(full);
		fail(full);
		fail(other);
		fail(full);
		Now.of(this.failures.tell(Mono.empty()));
		fail(full);

		assertThat(told()).containsExactly("It was given up: it is full", "It was given up: it is closed",
				"It was given up: it is full", "It was given up: it is full");
		assertThat(this.lines.list).allMatch(line -> line.getLevel() == Level.WARN && line.getThrowableProxy() == null);
	}

	@Test
	void aMistakeInTheCodeIsAnErrorWithItsStack() {
		assertThat(this.failures.failed(new NullPointerException())).isEqualTo("java.lang.NullPointerException");
		assertThat(this.failures.failed(new IOException("no such file")))
			.isEqualTo("java.io.IOException: no such file");

		assertThat(this.lines.list).hasSize(2)
			.allMatch(line -> line.getLevel() == Level.ERROR && line.getThrowableProxy() != null);
	}

}
