package io.kvorum.test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What all nodes of a cluster run.
 *
 * @param java an executable
 * @param jar executable, too
 * @param jvmOptions after those that are usual, so that these win
 * @param properties of all nodes
 */
record NodeProgram(Path java, Path jar, List<String> jvmOptions, Map<String, String> properties) {

	/**
	 * A node that lives for seconds starts in half the time without the last compiler.
	 * Two event loops are enough for tests: each takes streams and buffers for each peer.
	 */
	private static final List<String> USUAL_JVM = List.of("-Xmx192m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
			"--enable-native-access=ALL-UNNAMED", "-Dreactor.netty.ioWorkerCount=2");

	/** What {@code src/main/scripts/aot-cache} leaves beside the jar that it extracts. */
	private static final String CACHE = "kvorum.aot";

	NodeProgram {
		jvmOptions = List.copyOf(jvmOptions);
	}

	/**
	 * Returns the command line of a node.
	 * @param temporary for the files that the JVM of the node leaves behind when it is
	 * killed: native libraries, some ten megabytes for each start
	 * @param own properties of this node; those of all nodes win
	 */
	List<String> command(Path temporary, Map<String, String> own) {
		List<String> command = new ArrayList<>();
		command.add(this.java.toString());
		command.add("-Djava.io.tmpdir=" + temporary);
		command.addAll(USUAL_JVM);
		Path cache = this.jar.resolveSibling(CACHE);
		if (Files.exists(cache)) {
			command.add("-XX:AOTCache=" + cache);
		}
		command.addAll(this.jvmOptions);
		command.add("-jar");
		command.add(this.jar.toString());
		Map<String, String> all = new LinkedHashMap<>(own);
		all.putAll(this.properties);
		all.forEach((name, value) -> command.add("--%s=%s".formatted(name, value)));
		return command;
	}

}
