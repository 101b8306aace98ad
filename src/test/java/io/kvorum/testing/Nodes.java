package io.kvorum.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.util.FileSystemUtils;

/**
 * The nodes of one test, in {@code target/it/<class>/<test>}: none outlives it, a failure
 * prints what they said, and only a failure leaves their data behind.
 */
public final class Nodes implements BeforeEachCallback, AfterEachCallback {

	private final List<NodeProcess> nodes = new ArrayList<>();

	private final String[] properties;

	private Path directory = Path.of("target", "it");

	/** No nodes yet; the usual one is patient. */
	public Nodes() {
		this(NodeSpec.PATIENT);
	}

	/**
	 * No nodes yet.
	 * @param properties of the usual node, each {@code name=value}
	 */
	public Nodes(String... properties) {
		this.properties = properties.clone();
	}

	@Override
	public void beforeEach(ExtensionContext context) throws IOException {
		String test = context.getRequiredTestMethod().getName() + Integer.toHexString(context.getUniqueId().hashCode());
		this.directory = directoryOf(context).resolve(test);
		FileSystemUtils.deleteRecursively(this.directory);
	}

	static Path directoryOf(ExtensionContext context) {
		return Path.of("target", "it", context.getRequiredTestClass().getSimpleName()).toAbsolutePath();
	}

	/** A node on this test's directory; returns when it is ready. */
	public NodeProcess start() throws InterruptedException {
		return start(spec());
	}

	public NodeProcess start(NodeSpec spec) throws InterruptedException {
		return launch(spec).awaitReady();
	}

	/** A node that is expected to refuse: does not wait. */
	public NodeProcess launch(NodeSpec spec) {
		String name = "node-" + (this.nodes.size() + 1) + ".log";
		NodeProcess node = NodeProcess.launch(spec, NodeLog.createFile(this.directory, name));
		this.nodes.add(node);
		return node;
	}

	/** The usual node of this test. */
	public NodeSpec spec() {
		return NodeSpec.on(this.directory.resolve("data")).with(this.properties);
	}

	/** Files of the store by suffix, largest first; anywhere below the data directory. */
	public List<Path> files(String suffix) throws IOException {
		try (Stream<Path> files = Files.walk(spec().data())) {
			return files.filter((file) -> file.getFileName().toString().matches("\\d+\\." + suffix))
				.sorted((a, b) -> Long.compare(b.toFile().length(), a.toFile().length()))
				.toList();
		}
	}

	@Override
	public void afterEach(ExtensionContext context) throws IOException {
		this.nodes.forEach(NodeProcess::close);
		if (context.getExecutionException().isPresent()) {
			this.nodes.forEach((node) -> System.out.println(node.logTail()));
		}
		else {
			FileSystemUtils.deleteRecursively(spec().data());
		}
		this.nodes.clear();
	}

}
