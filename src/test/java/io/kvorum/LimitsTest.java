package io.kvorum;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** That the table of limits names what is in the code. */
class LimitsTest {

	private static final Path SOURCES = Path.of("src", "main", "java");

	private static final Path GUIDE = Path.of("src", "docs", "operations.md");

	/** A class and a name in it, or a name in the class of the one before. */
	private static final Pattern NAMED = Pattern.compile("`((?:[A-Z]\\w*[a-z]\\w*\\.)*)(\\.?)(\\w+)`");

	@Test
	void eachIsDeclaredInTheClassThatItIsSaidToBeIn() throws IOException {
		Map<String, String> classes = classes();
		List<String> wrong = new ArrayList<>();
		int names = 0;
		for (String row : rows()) {
			Matcher named = NAMED.matcher(row.substring(0, row.indexOf(" | ", 1)));
			String owner = "";
			while (named.find()) {
				owner = named.group(2).isEmpty() ? named.group(1) + "." : owner;
				String source = classes.getOrDefault(owner.substring(0, owner.indexOf('.')), "");
				boolean isThere = Pattern.compile("\\b" + named.group(3) + "\\b").matcher(source).find();
				if (!owner.equals(".") && !isThere) {
					wrong.add(named.group());
				}
				names++;
			}
		}
		assertThat(wrong).isEmpty();
		assertThat(names).isGreaterThan(100);
	}

	private static List<String> rows() throws IOException {
		String text = Files.readString(GUIDE);
		int from = text.indexOf("are named here as they are in the code");
		assertThat(from).isPositive();
		return text.substring(from).lines().filter(line -> line.startsWith("| `")).toList();
	}

	/** The source of each class, by its name. */
	private static Map<String, String> classes() throws IOException {
		try (Stream<Path> files = Files.walk(SOURCES)) {
			return files.filter(file -> file.toString().endsWith(".java"))
				.filter(file -> !file.endsWith("package-info.java"))
				.collect(Collectors.toMap(file -> file.getFileName().toString().replace(".java", ""), LimitsTest::text,
						String::concat));
		}
	}

	private static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
