package io.kvorum.test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

class KvorumExtensionIT {

	private static final Map<String, Path> DIRECTORIES = new ConcurrentHashMap<>();

	@Test
	void aFailureIsPrintedWithTheLogAndKeepsTheDataAndASuccessLeavesNothing() {
		PrintStream before = System.err;
		ByteArrayOutputStream printed = new ByteArrayOutputStream();
		SummaryGeneratingListener summary = new SummaryGeneratingListener();
		LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
			.selectors(selectClass(Cases.class))
			.build();
		System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
		try {
			LauncherFactory.create().execute(request, summary);
		}
		finally {
			System.setErr(before);
		}
		assertThat(summary.getSummary().getTestsSucceededCount()).isEqualTo(1);
		assertThat(summary.getSummary().getTestsFailedCount()).isEqualTo(1);
		assertThat(DIRECTORIES).containsOnlyKeys("good", "bad");
		Path kept = DIRECTORIES.getOrDefault("bad", Path.of(""));
		assertThat(DIRECTORIES.get("good")).doesNotExist();
		assertThat(kept.resolve("node-1/data")).isDirectory();
		assertThat(kept.resolve("node-1.log")).isNotEmptyFile();
		assertThat(printed.toString(StandardCharsets.UTF_8)).contains("bad(KvorumCluster) has failed")
			.contains(kept.toString())
			.contains("its last lines")
			.doesNotContain("good(");
		Directories.delete(kept);
	}

	/** Run by the launcher only; each test has a node of its own. */
	static class Cases {

		@RegisterExtension
		final KvorumExtension kvorum = KvorumExtension.nodes(1);

		@Test
		void good(KvorumCluster cluster) {
			DIRECTORIES.put("good", cluster.directory());
			assertThat(this.kvorum.urls()).isEqualTo(List.of(cluster.node(1).url()));
		}

		@Test
		void bad(KvorumCluster cluster) {
			DIRECTORIES.put("bad", cluster.directory());
			throw new AssertionError("expected by KvorumExtensionIT");
		}

	}

}
