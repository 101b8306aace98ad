package io.kvorum.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * How to start a node.
 *
 * @param data its directory
 * @param properties {@code kvorum.storage.path}, which is that, and others, each
 * {@code name=value}; one given again wins
 * @param jvm options of its JVM
 * @param program what the JVM runs, {@code -jar …}
 * @param launcher what runs the JVM, {@code strace …} for example; usually empty
 */
public record NodeSpec(Path data, List<String> properties, List<String> jvm, List<String> program,
		List<String> launcher) {

	static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

	/**
	 * A node that lives for seconds starts in half the time without the last compiler,
	 * and in a tenth less with the collector that the JVM chooses on one core.
	 */
	static final List<String> JVM = List.of("-Xmx192m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

	/**
	 * Of a node that waits for its disk, which has taken a second beside other tests. No
	 * read or write times out, however slow the machine is.
	 */
	static final String[] PATIENT = { "kvorum.replication.read-timeout=20s", "kvorum.replication.write-timeout=20s",
			"kvorum.storage.write-queue-time=15s" };

	/** A node on any free port with the memory of a small container. */
	public static NodeSpec on(Path data) {
		return running(PreparedJar.options(), data);
	}

	/** The same, of the jar as it was built: what users run. */
	public static NodeSpec ofTheJarOn(Path data) {
		return running(PreparedJar.optionsOfTheJar(), data);
	}

	private static NodeSpec running(List<String> program, Path data) {
		return new NodeSpec(data, List.of("server.port=0", "kvorum.storage.path=" + data), JVM, program, List.of());
	}

	public NodeSpec with(String... more) {
		NodeSpec others = this;
		for (String property : more) {
			others = others.without(nameOf(property));
		}
		return new NodeSpec(this.data, join(others.properties, more), this.jvm, this.program, this.launcher);
	}

	public NodeSpec without(String name) {
		List<String> others = this.properties.stream().filter(property -> !nameOf(property).equals(name)).toList();
		return new NodeSpec(this.data, others, this.jvm, this.program, this.launcher);
	}

	public NodeSpec withJvm(String... more) {
		return new NodeSpec(this.data, this.properties, join(this.jvm, more), this.program, this.launcher);
	}

	public NodeSpec under(String... command) {
		return new NodeSpec(this.data, this.properties, this.jvm, this.program, List.of(command));
	}

	List<String> command() {
		List<String> command = new ArrayList<>(this.launcher);
		command.add(JAVA);
		command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
		command.addAll(this.jvm);
		command.addAll(this.program);
		this.properties.forEach((property) -> command.add("--" + property));
		return command;
	}

	private static String nameOf(String property) {
		return property.substring(0, property.indexOf('='));
	}

	private static List<String> join(List<String> some, String... more) {
		return Stream.concat(some.stream(), Stream.of(more)).toList();
	}

}
