package io.kvorum.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(name = "schema", sortOptions = false,
		description = "Prints the statements that create Kvorum's keyspace in Apache Cassandra, for cqlsh.",
		footerHeading = "%nExamples:%n",
		footer = {
				"  kvorum schema --replication \"{'class': 'NetworkTopologyStrategy', 'dc1': 3}\" | cqlsh cassandra-0",
				"  kvorum schema --keyspace shop --replication \"{'class': 'NetworkTopologyStrategy', 'dc1': 3}\"" })
final class SchemaCommand implements Callable<Integer> {

	private static final String SCHEMA = "/schema.cql";

	/** A name that CQL takes without quotes. */
	private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,47}");

	/** A map of CQL: nothing in it ends the statement. */
	private static final Pattern MAP = Pattern.compile("\\{[^;{}]+}");

	@Spec
	private CommandSpec spec = CommandSpec.create();

	@Option(names = "--keyspace", paramLabel = "<name>", defaultValue = "kvorum",
			description = "as in spring.cassandra.keyspace-name; default: ${DEFAULT-VALUE}")
	private String keyspace = "";

	@Option(names = "--replication", paramLabel = "<map>", required = true,
			description = "class and factors of the keyspace, a map in CQL")
	private String replication = "";

	@Override
	public Integer call() throws IOException {
		require(NAME, this.keyspace, "--keyspace is a lower-case letter and up to 47 letters, digits or underscores");
		require(MAP, this.replication,
				"--replication is a map, such as {'class': 'NetworkTopologyStrategy', 'dc1': 3}");
		try (InputStream schema = SchemaCommand.class.getResourceAsStream(SCHEMA)) {
			if (schema == null) {
				throw new FileNotFoundException(SCHEMA);
			}
			PrintWriter out = this.spec.commandLine().getOut();
			out.print(new String(schema.readAllBytes(), StandardCharsets.UTF_8).replace("${keyspace}", this.keyspace)
				.replace("${replication}", this.replication));
			RemoteCommand.requireTaken(out, ExitCode.NOT_DONE);
		}
		return ExitCode.DONE.code();
	}

	private static void require(Pattern form, String value, String sentence) {
		if (!form.matcher(value).matches()) {
			throw new IllegalArgumentException(sentence + ", not " + value);
		}
	}

}
