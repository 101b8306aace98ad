package io.kvorum.process;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.kvorum.testing.Clients;
import io.kvorum.testing.Ledger;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.Nodes;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Needs strace and the right to trace one's own processes; says so where it cannot run.
 */
@DisplayName("A disk that fails fdatasync")
class FailingDiskIT {

	private static final int EX_IOERR = 74;

	@RegisterExtension
	final Nodes nodes = new Nodes();

	@ParameterizedTest(name = "fdatasync {0}")
	@ValueSource(strings = { "20", "200+" })
	@DisplayName("an EIO under load: the write in question is of unknown outcome, the node ends by itself, nothing acknowledged is lost")
	void eioUnderLoad(String when) throws InterruptedException {
		assumeTracingWorks();
		Ledger ledger = new Ledger();
		Clients clients = new Clients(ledger);
		List<String> keys = IntStream.range(0, 20_000).mapToObj((i) -> "key " + i).toList();
		NodeProcess node = this.nodes.start(this.nodes.spec()
			.under("strace", "-f", "--seccomp-bpf", "-qqq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
					"inject=fdatasync:error=EIO:when=" + when));

		int acknowledged = clients.write(node.client(), keys, 1, (count) -> {
		});

		assertThat(node.awaitExit()).isEqualTo(EX_IOERR);
		assertThat(acknowledged).isBetween(1, keys.size() - 1);
		assertThat(ledger.unknown()).isPositive();
		clients.check(this.nodes.start().client(), List.copyOf(ledger.keys()));
	}

	private static void assumeTracingWorks() throws InterruptedException {
		String reason;
		try {
			Process trial = new ProcessBuilder("strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "true").start();
			boolean ended = trial.waitFor(30, TimeUnit.SECONDS);
			reason = (ended && trial.exitValue() == 0) ? "" : "strace may not trace here";
		}
		catch (IOException ex) {
			reason = "strace is not installed";
		}
		if (!reason.isEmpty()) {
			System.out.println("Not tested: a disk that fails fdatasync, since " + reason);
		}
		Assumptions.assumeTrue(reason.isEmpty(), reason);
	}

}
