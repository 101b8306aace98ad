package io.kvorum.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The pods of the StatefulSet below {@code k8s/}, as processes of this machine: each has
 * the files of its volumes, below a directory of its own, and the environment of its
 * container. Where these name a port, a path that something is mounted at, or a pod, they
 * get a port, a path and an address of this machine; all else is as the manifests say.
 */
public final class Pods {

	private static final Path MANIFESTS = Path.of("k8s");

	private static final Pattern WORKING_DIRECTORY = Pattern.compile("(?m)^WORKDIR (/kvorum)$");

	private static final Pattern VARIABLE = Pattern.compile("\\$\\((\\w+)\\)");

	/** What there is of the StatefulSet, the patches behind what they patch. */
	private final List<JsonNode> sets = new ArrayList<>();

	/** Files of ConfigMaps, by their names. */
	private final Map<String, List<Path>> configMaps = new HashMap<>();

	/** Values of Secrets, by their names and keys. */
	private final Map<String, Map<String, String>> secrets;

	/** One more than there are replicas. */
	private final List<Pod> pods;

	private int replicas = 1;

	/**
	 * Pods that do not run yet.
	 * @param directory where each gets a directory
	 * @param kustomizations directories below {@code k8s/}: an overlay, and components
	 * @param secrets values by the names and keys of Secrets
	 */
	public Pods(Path directory, List<String> kustomizations, Map<String, Map<String, String>> secrets) {
		this.secrets = secrets;
		kustomizations.forEach(kustomization -> read(MANIFESTS.resolve(kustomization)));
		this.pods = IntStream.rangeClosed(0, this.replicas).mapToObj(i -> new Pod(i, directory)).toList();
	}

	private void read(Path kustomization) {
		JsonNode tree = documents(kustomization.resolve("kustomization.yaml")).getFirst();
		for (JsonNode resource : tree.path("resources")) {
			Path path = kustomization.resolve(resource.asString());
			if (Files.isDirectory(path)) {
				read(path);
			}
			else {
				addSets(path);
			}
		}
		for (JsonNode generator : tree.path("configMapGenerator")) {
			List<Path> files = this.configMaps.computeIfAbsent(text(generator, "/name"), _ -> new ArrayList<>());
			generator.path("files").forEach(file -> files.add(kustomization.resolve(file.asString())));
		}
		for (JsonNode count : tree.path("replicas")) {
			this.replicas = count.path("count").asInt();
		}
		for (JsonNode patch : tree.path("patches")) {
			if (!patch.has("target")) {
				addSets(kustomization.resolve(text(patch, "/path")));
			}
		}
	}

	private void addSets(Path file) {
		documents(file).stream().filter(tree -> text(tree, "/kind").equals("StatefulSet")).forEach(this.sets::add);
	}

	private static List<JsonNode> documents(Path file) {
		List<JsonNode> trees = new ArrayList<>();
		new Yaml().loadAll(TestCa.text(file)).forEach(tree -> trees.add(JsonMapper.shared().valueToTree(tree)));
		return trees;
	}

	private static String text(JsonNode tree, String pointer) {
		String text = tree.at(pointer).asString("");
		if (text.isEmpty()) {
			throw new AssertionError("There is no %s in %s".formatted(pointer, tree));
		}
		return text;
	}

	/** The elements of a list, of all parts of the StatefulSet. */
	private List<JsonNode> all(String pointer) {
		return this.sets.stream().flatMap(set -> set.at(pointer).valueStream()).toList();
	}

	private List<JsonNode> ofContainer(String list) {
		return all("/spec/template/spec/containers/0/" + list);
	}

	/** What the manifests say, in the last part of the StatefulSet that says it. */
	public JsonNode setting(String pointer) {
		return this.sets.reversed()
			.stream()
			.map(set -> set.at(pointer))
			.filter(node -> !node.isMissingNode())
			.findFirst()
			.orElseThrow(() -> new AssertionError("The StatefulSet has no " + pointer));
	}

	public List<Pod> pods() {
		return this.pods.subList(0, this.replicas);
	}

	/** The pod that comes when the StatefulSet is scaled up by one. */
	public Pod oneMore() {
		return this.pods.getLast();
	}

	/** A pod: what a node of it sees of the machine. */
	public final class Pod {

		private final String name;

		/** Instead of the root of its file system. */
		private final Path root;

		private final Map<String, Integer> ports = new LinkedHashMap<>();

		private final Map<String, MountedFiles> mounted = new HashMap<>();

		private Pod(int ordinal, Path directory) {
			this.name = text(Pods.this.sets.getFirst(), "/metadata/name") + "-" + ordinal;
			this.root = directory.resolve(this.name);
			ofContainer("ports").forEach(port -> this.ports.put(text(port, "/name"), Ports.free()));
		}

		/** The port that is meant by a name in the manifests. */
		public int port(String of) {
			return Objects.requireNonNull(this.ports.get(of), of);
		}

		/** Where the replica port is. */
		public String address() {
			return "127.0.0.1:" + port("replica");
		}

		/** Where a path of the container is. */
		public Path path(String inContainer) {
			return this.root.resolve(inContainer.substring(1));
		}

		/** The files of a volume; the volume is one of files. */
		public MountedFiles mounted(String volume) {
			return Objects.requireNonNull(this.mounted.get(volume), volume);
		}

		/** Mounts its volumes; returns how its node is started. */
		public NodeSpec prepare() {
			for (JsonNode mount : ofContainer("volumeMounts")) {
				mount(text(mount, "/name"), path(text(mount, "/mountPath")));
			}
			List<String> command = new ArrayList<>(List.of("env", "--chdir=" + workingDirectory()));
			Map<String, String> environment = environment();
			// The heap of a test's node is on its command line, and smaller than one of
			// production begins with.
			environment.remove("JDK_JAVA_OPTIONS");
			environment.forEach((variable, value) -> command.add(variable + "=" + value));
			return NodeSpec.on(this.root)
				.without("server.port")
				.without("kvorum.storage.path")
				.under(command.toArray(String[]::new));
		}

		private Path workingDirectory() {
			Matcher line = WORKING_DIRECTORY.matcher(TestCa.text(Path.of("config/image/Dockerfile")));
			if (!line.find()) {
				throw new AssertionError("The image has no working directory");
			}
			return path(line.group(1));
		}

		private void mount(String volume, Path at) {
			JsonNode source = all("/spec/template/spec/volumes").stream()
				.filter(one -> text(one, "/name").equals(volume))
				.findFirst()
				.orElse(JsonNodeFactory.instance.objectNode());
			if (source.has("configMap")) {
				this.mounted.put(volume, MountedFiles.at(at, configuration(source.path("configMap"))));
			}
			else if (source.has("secret")) {
				this.mounted.put(volume, MountedFiles.at(at, secret(source.path("secret"))));
			}
			else {
				at.toFile().mkdirs();
			}
		}

		private Map<String, String> configuration(JsonNode source) {
			List<Path> files = Pods.this.configMaps.get(text(source, "/name"));
			if (files == null && source.path("optional").asBoolean(false)) {
				return Map.of();
			}
			return Objects.requireNonNull(files, () -> "There is no ConfigMap for " + source)
				.stream()
				.collect(Collectors.toMap(file -> file.getFileName().toString(),
						file -> ofThisMachine(TestCa.text(file))));
		}

		private Map<String, String> secret(JsonNode source) {
			Map<String, String> values = Pods.this.secrets.getOrDefault(text(source, "/secretName"), Map.of());
			Map<String, String> files = new HashMap<>();
			for (JsonNode item : source.path("items")) {
				files.put(text(item, "/path"),
						Objects.requireNonNull(values.get(text(item, "/key")), () -> "The Secret has no " + item));
			}
			return files;
		}

		private Map<String, String> environment() {
			Map<String, String> environment = new LinkedHashMap<>();
			for (JsonNode variable : ofContainer("env")) {
				String value = variable.at("/valueFrom/fieldRef/fieldPath").asString("").equals("metadata.name")
						? this.name : text(variable, "/value");
				environment.put(text(variable, "/name"), VARIABLE.matcher(value)
					.replaceAll(
							used -> Matcher.quoteReplacement(environment.getOrDefault(used.group(1), used.group()))));
			}
			environment.replaceAll((_, value) -> ofThisMachine(value));
			return environment;
		}

		private String ofThisMachine(String text) {
			Map<String, String> here = new LinkedHashMap<>();
			JsonNode set = Pods.this.sets.getFirst();
			for (JsonNode port : ofContainer("ports")) {
				int number = port.path("containerPort").asInt();
				Pods.this.pods
					.forEach(pod -> here.put("%s.%s:%d".formatted(pod.name, text(set, "/spec/serviceName"), number),
							"127.0.0.1:" + pod.port(text(port, "/name"))));
				here.put(Integer.toString(number), Integer.toString(port(text(port, "/name"))));
			}
			for (JsonNode mount : ofContainer("volumeMounts")) {
				here.put(text(mount, "/mountPath"), path(text(mount, "/mountPath")).toString());
			}
			String any = here.keySet().stream().map(Pattern::quote).collect(Collectors.joining("|"));
			return Pattern.compile("(?<!\\w)(" + any + ")(?!\\w)")
				.matcher(text)
				.replaceAll(found -> Matcher.quoteReplacement(here.getOrDefault(found.group(), "")));
		}

	}

}
