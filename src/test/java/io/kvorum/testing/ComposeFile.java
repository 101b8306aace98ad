package io.kvorum.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.kvorum.testing.monitoring.Monitoring;
import org.yaml.snakeyaml.Yaml;

/**
 * The services of a compose file, as processes of this machine, with the environment that
 * the file gives them. Where that names another service, they get an address of this
 * machine.
 */
public final class ComposeFile {

	private static final Pattern WITH_DEFAULT = Pattern.compile("\\$\\{\\w+:-([^}]*)}");

	private static final Pattern SERVICE = Pattern.compile("http://([\\w-]+):9090");

	private ComposeFile() {
	}

	/** How the node of each service is started, by its name. */
	public static Map<String, NodeSpec> nodes(Path file, Path directory) {
		Map<?, ?> services = Monitoring.map(new Yaml().<Map<?, ?>>load(TestCa.text(file)), "services");
		Map<String, Integer> ports = new LinkedHashMap<>();
		services.keySet().forEach(name -> ports.put(name.toString(), Ports.free()));
		Map<String, NodeSpec> nodes = new LinkedHashMap<>();
		services.forEach((name, service) -> {
			List<String> command = new ArrayList<>(List.of("env"));
			Monitoring.map((Map<?, ?>) service, "environment")
				.forEach((variable, value) -> command.add(variable + "=" + ofThisMachine(value.toString(), ports)));
			nodes.put(name.toString(),
					NodeSpec.on(directory.resolve(name.toString())).under(command.toArray(String[]::new)));
		});
		return nodes;
	}

	private static String ofThisMachine(String value, Map<String, Integer> ports) {
		String inContainer = WITH_DEFAULT.matcher(value).replaceAll("$1");
		return SERVICE.matcher(inContainer)
			.replaceAll(service -> Matcher.quoteReplacement("http://127.0.0.1:" + ports.get(service.group(1))));
	}

}
