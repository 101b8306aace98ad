package io.kvorum.cli;

import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "layout", description = "Shows which nodes the cluster has, and changes them.",
		footerHeading = "%nExamples:%n",
		footer = { "  kvorum layout",
				"  kvorum layout --add http://10.0.0.4:9090     # stages it: look at what would move",
				"  kvorum layout --apply 7                      # the version that staging has printed",
				"  kvorum layout --remove http://10.0.0.3:9090 --add http://10.0.0.4:9090",
				"  kvorum layout --factor 5", "  kvorum layout --abort" })
final class LayoutCommand extends EndpointCommand {

	@Option(names = "--add", paramLabel = "<address>", split = ",",
			description = "stage: replica addresses of new nodes, or of members that get another zone or weight")
	private List<String> add = List.of();

	@Option(names = "--remove", paramLabel = "<address>", split = ",", description = "stage: nodes that are to leave")
	private List<String> remove = List.of();

	@Option(names = "--zone", paramLabel = "<zone>", description = "stage: the zone of the nodes that are added")
	private @Nullable String zone;

	@Option(names = "--weight", paramLabel = "<n>", description = "stage: their weight")
	private @Nullable Integer weight;

	@Option(names = "--factor", paramLabel = "<n>", description = "stage: the default number of copies")
	private @Nullable Integer factor;

	@ArgGroup
	private @Nullable Step step;

	/** One step of a change. */
	private static final class Step {

		/** For an abort of whatever was decided last. */
		private static final String LAST = "true";

		@Option(names = "--apply", paramLabel = "<version>", description = "begin the change that was staged")
		private @Nullable Long apply;

		@Option(names = "--pause", description = "copy nothing for now")
		private boolean pause;

		@Option(names = "--resume", description = "go on copying")
		private boolean resume;

		@Option(names = "--abort", arity = "0..1", fallbackValue = LAST, paramLabel = "<version>",
				description = "abort the change or the staged layout; with <version> only if that is still its version")
		private @Nullable String abort;

		private String toJson() {
			if (this.apply != null) {
				return "{\"apply\":%d}".formatted(this.apply);
			}
			if (this.abort != null) {
				return "{\"abort\":%s}".formatted(checked(this.abort));
			}
			return "{\"pause\":%b,\"resume\":%b}".formatted(this.pause, this.resume);
		}

		private static String checked(String version) {
			if (!version.equals(LAST) && !version.matches("[0-9]{1,18}")) {
				throw new CommandFailedException(ExitCode.WRONG, "--abort takes a version, a number: " + version);
			}
			return version;
		}

	}

	LayoutCommand() {
		super("layout");
	}

	@Override
	boolean mayHaveWritten() {
		return isStaging() || this.step != null;
	}

	private boolean isStaging() {
		return !this.add.isEmpty() || !this.remove.isEmpty() || this.factor != null;
	}

	@Override
	ExitCode run() {
		boolean isStaging = isStaging();
		if (isStaging && this.step != null) {
			throw new CommandFailedException(ExitCode.WRONG, "stage first, then --apply the version that this prints");
		}
		if ((this.zone != null || this.weight != null) && this.add.isEmpty()) {
			throw new CommandFailedException(ExitCode.WRONG,
					"--zone and --weight need --add: new nodes, or members whose zone or weight is to change");
		}
		JsonNode layout = isStaging ? send("", stage()) : (this.step != null) ? send("", this.step.toJson()) : read("");
		Table table = new Table("NODE", "ZONE", "WEIGHT", "PARTITIONS", "GETS");
		add("", layout.path("members"), layout, table);
		for (JsonNode member : next(layout).path("members")) {
			if (!has(layout.path("members"), member.path("address").asString())) {
				add(" (new)", new JsonMapper().createArrayNode().add(member), layout, table);
			}
		}
		show(layout, table);
		if (!isJson()) {
			explain(layout);
		}
		return ExitCode.DONE;
	}

	private String stage() {
		ObjectNode stage = new JsonMapper().createObjectNode();
		ArrayNode added = stage.putArray("add");
		for (String address : this.add) {
			ObjectNode node = added.addObject().put("address", address);
			if (this.zone != null) {
				node.put("zone", this.zone);
			}
			if (this.weight != null) {
				node.put("weight", this.weight);
			}
		}
		ArrayNode removed = stage.putArray("remove");
		this.remove.forEach(removed::add);
		if (this.factor != null) {
			stage.put("factor", this.factor);
		}
		return new JsonMapper().createObjectNode().set("stage", stage).toString();
	}

	/** The nodes that are staged, or else those of the change under way. */
	private static JsonNode next(JsonNode layout) {
		return layout.path(layout.has("staged") ? "staged" : "next");
	}

	private static boolean has(JsonNode members, String address) {
		return members.valueStream().anyMatch(member -> member.path("address").asString().equals(address));
	}

	private static void add(String suffix, JsonNode members, JsonNode layout, Table table) {
		JsonNode next = next(layout);
		for (JsonNode member : members) {
			String address = member.path("address").asString();
			boolean leaves = next.isObject() && !has(next.path("members"), address);
			JsonNode move = next.path("moves").path(address);
			long partitions = move.path("gainsPartitions").asLong(0) - move.path("givesUpPartitions").asLong(0);
			table.add(address + (leaves ? " (leaves)" : suffix), member.path("zone").asString(""),
					member.path("weight").asString(""), move.isObject() ? "%+d".formatted(partitions) : "",
					move.has("bytes") ? Units.size(move.path("bytes").asLong()) : "");
		}
	}

	private void explain(JsonNode layout) {
		out().printf("%nLayout %s is %s, version %s; keys have %s.%n", layout.path("layout").asString(),
				layout.path("state").asString(), layout.path("version").asString(), copies(layout));
		JsonNode staged = layout.path("staged");
		if (staged.isObject()) {
			out().printf("Staged: %d nodes, %s, %s to move. Begin it by: kvorum layout --apply %s%n",
					staged.path("members").size(), copies(staged), Units.size(staged.path("bytes").asLong(0)),
					layout.path("version").asString());
		}
		explainMoving(layout.path("moving"));
	}

	/** The copies of each key in a layout, as a text. */
	static String copies(JsonNode layout) {
		int factor = layout.path("factor").asInt(0);
		return factor + ((factor == 1) ? " copy" : " copies");
	}

	/** How far the change is, and what it waits for. */
	private void explainMoving(JsonNode moving) {
		if (moving.has("bytes")) {
			JsonNode remaining = moving.path("remainingSeconds");
			out().printf("Moving, step %s: %s of %s copied, %s/s%s.%n", moving.path("step").asString(""),
					Units.size(moving.path("movedBytes").asLong(0)), Units.size(moving.path("bytes").asLong()),
					Units.size(moving.path("bytesPerSecond").asLong(0)),
					remaining.isNumber() ? ", about %s left".formatted(Units.age(remaining.asLong())) : "");
		}
		List<String> reasons = moving.path("waitsFor")
			.valueStream()
			.map(JsonNode::asString)
			.collect(Collectors.toList());
		if (moving.path("paused").asBoolean(false)) {
			reasons.add("it is paused");
		}
		if (moving.has("why")) {
			reasons.add(moving.path("why").asString());
		}
		if (!reasons.isEmpty()) {
			out().println("It waits: " + Table.printable(String.join(", ", reasons)));
		}
	}

}
