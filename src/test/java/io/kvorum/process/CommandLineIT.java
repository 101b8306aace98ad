package io.kvorum.process;

import java.util.Arrays;
import java.util.Random;

import io.kvorum.testing.CommandLine;
import io.kvorum.testing.NodeProcess;
import io.kvorum.testing.SharedNode;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(SharedNode.class)
@DisplayName("The command kvorum, with the jar that was built")
class CommandLineIT {

	@Test
	@DisplayName("any bytes go in and out through pipes, and are listed")
	void bytes(NodeProcess node) throws InterruptedException {
		byte[] value = new byte[300_000];
		new Random(1).nextBytes(value);

		CommandLine put = run(node, value, "put", "pipes/a b", "--content-type", "application/x-random");
		assertThat(put.exitCode()).as(put.errors()).isZero();
		assertThat(put.printed()).matches("[0-9a-f]{32}\\R");

		CommandLine get = run(node, new byte[0], "get", "pipes/a b");
		assertThat(get.exitCode()).as(get.errors()).isZero();
		assertThat(get.output().bytes()).isEqualTo(value);

		CommandLine list = run(node, new byte[0], "ls", "pipes/", "-l");
		assertThat(list.printed()).contains(put.printed().strip(), "293.0 KB", "pipes/a b", "application/x-random");
	}

	@Test
	@DisplayName("the schema for Cassandra goes through a pipe")
	void schema() throws InterruptedException {
		CommandLine schema = CommandLine.run(new byte[0], "schema", "--replication", "{'class': 'X', 'dc1': 3}");

		assertThat(schema.exitCode()).as(schema.errors()).isZero();
		assertThat(schema.printed()).contains("kvorum.entities").endsWith("IF NOT EXISTS;\n");
	}

	@Test
	@DisplayName("no such key: exit code 1, nothing on the standard output, and a sentence on the standard error")
	void nothing(NodeProcess node) throws InterruptedException {
		CommandLine get = run(node, new byte[0], "get", "pipes/nothing");

		assertThat(get.exitCode()).isEqualTo(1);
		assertThat(get.output().bytes()).isEmpty();
		assertThat(get.errors()).contains("No value is stored under this id");
	}

	private static CommandLine run(NodeProcess node, byte[] input, String... arguments) throws InterruptedException {
		String[] all = Arrays.copyOf(arguments, arguments.length + 2);
		all[arguments.length] = "--url";
		all[arguments.length + 1] = "http://127.0.0.1:" + node.port();
		return CommandLine.run(input, all);
	}

}
